// Builds a model's weights from the bytes of its model.safetensors, as they stream in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/model/weights.h"

namespace gpt2 {

// What __metadata__ says of a file whose matrices are rows of outputs, [out, in], as `gpt2-weights
// convert` writes them; a hub file stores Conv1D weights as [in, out]. See weights_tools/FORMAT.md.
inline constexpr const char* kFormatKey = "format";
inline constexpr const char* kFormatName = "gpt2-wasm";
inline constexpr const char* kVersionKey = "version";
inline constexpr const char* kFormatVersion = "1";
inline constexpr const char* kQ4FormatVersion = "2";  // of files with 4-bit matrices
inline constexpr const char* kScaleSuffix = "_scale";

// The name of a tensor's slot (TensorSlot::name): a checkpoint may put "transformer." before it.
std::string SlotName(const std::string& tensor_name);

// Feed it the whole file in order, in pieces of any size; each value goes straight to its place in
// the kernels' layout, so that nothing but a band of 32 rows is ever held twice. Not thread-safe.
class WeightReader {
 public:
  // `float_format` is what floating-point matrices become in memory. Fails if the config is
  // impossible.
  WeightReader(ModelConfig config, WeightFormat float_format);
  ~WeightReader();
  WeightReader(WeightReader&&) noexcept;
  WeightReader& operator=(WeightReader&&) noexcept;

  // Takes the next bytes. After an error the reader is of no further use.
  Status Feed(std::span<const std::byte> bytes);

  // The weights, once every byte that the header promises has come.
  Result<std::unique_ptr<Weights>> Finish();

  // Known once the header was read; empty before.
  const SafetensorsHeader& header() const { return header_; }

 private:
  struct Stream;  // how one tensor's bytes are cut and where they go

  Status ReadHeader(std::string_view json);
  Status PlanTensors();
  Status PlanTensor(const TensorInfo& tensor, TensorSlot& slot);
  Status PlanScales(const TensorInfo& tensor, const TensorSlot& slot);
  Status FeedTensor(std::span<const std::byte>& bytes);
  void SkipDoneStreams();

  ModelConfig config_;
  WeightFormat float_format_;
  bool is_converted_ = false;  // written by `gpt2-weights convert`: [out, in]
  std::unique_ptr<Weights> weights_;
  std::vector<TensorSlot> slots_;
  SafetensorsHeader header_;
  std::vector<Stream> streams_;  // one per tensor, in file order
  std::size_t current_ = 0;      // index into streams_
  std::size_t header_length_ = 0;
  std::string pending_;  // prefix and header until they are whole; then the cut-off part of a unit
};

}  // namespace gpt2
