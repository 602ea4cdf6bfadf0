// Converts a published model to the form that `gpt2-weights convert` writes, while its bytes stream
// through. The input is the Hub's model.safetensors or pytorch_model.bin, in one file or several,
// or a GGUF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/gguf_model.h"
#include "engine/convert/gguf_reader.h"
#include "engine/convert/merge_plan.h"
#include "engine/convert/source_tensor.h"
#include "engine/convert/stored_tensor.h"
#include "engine/convert/torch_file.h"
#include "engine/convert/torch_stream.h"
#include "engine/format/config_json.h"
#include "engine/kernels/layout.h"
#include "engine/model/weights.h"

namespace gpt2 {

// The files beside the converted weights.
struct ConvertedFolder {
  std::string config;              // config.json, with quantization_config
  GgufVocabulary vocabulary;       // the tokenizer of a GGUF file
  std::uint64_t weight_bytes = 0;  // of model.safetensors
};

// The output is a model.safetensors of FORMAT.md, with its tensors in the order of the input. So
// memory holds only a band of the current tensor and its scales. For a matrix that the Hub stores
// transposed, memory holds all of its output. Each tensor has the bytes that `gpt2-weights convert`
// writes, for q4 with `--calibration-tokens 0`. Adapters are merged into the floats before they are
// quantized: see MergePlan. Not thread-safe.
class Converter {
 public:
  // For the safetensors files of the model of `config_json`, to be converted to `weights`. `heads`
  // is empty for one file. For several files it holds the header of each, its bytes before the
  // tensors, in the order of feeding.
  static Result<std::unique_ptr<Converter>> OfSafetensors(std::string_view config_json,
                                                          std::string_view heads,
                                                          StoredWeights weights,
                                                          std::vector<Adapter> adapters = {});
  // For torch.save files whose headers have been read, in the order of feeding: each from its first
  // byte to its last.
  static Result<std::unique_ptr<Converter>> OfTorch(std::string_view config_json,
                                                    std::vector<TorchFile> files,
                                                    StoredWeights weights,
                                                    std::vector<Adapter> adapters = {});
  // For a GGUF file.
  static std::unique_ptr<Converter> OfGguf(StoredWeights weights,
                                           std::vector<Adapter> adapters = {});
  // It has references into itself.
  Converter(Converter&&) = delete;

  // Consumes bytes from the front of `bytes` and returns the output, valid until the next call.
  // Call it until the output is empty: then all of `bytes` are consumed. Several files follow each
  // other without anything in between. After an error, every call returns it.
  Result<std::span<const std::byte>> Take(std::span<const std::byte>& bytes);

  // Fails if bytes are missing.
  Status Finish();

  // Null until a header has been read.
  const ConvertedFolder* folder() const { return folder_ ? &*folder_ : nullptr; }

 private:
  // The state of the current tensor.
  enum class Stage {
    kBands,   // it is arriving
    kCodes,   // it has arrived: held output is returned
    kScales,  // then its scales
    kNext,
  };

  Converter(StoredWeights weights, std::vector<Adapter> adapters)
      : weights_(weights), adapters_(std::move(adapters)) {}

  Status SetConfig(std::string_view config_json);
  Status SetHeads(std::string_view heads);
  Status PlanSafetensors();
  Status PlanGguf();
  Status PlanMerge();
  Status PlanOutput();
  Result<std::span<const std::byte>> NextOfTorch(std::span<const std::byte>& bytes);
  Status AddMergedTensors();
  Result<std::span<const std::byte>> Next(std::span<const std::byte>& bytes);
  Error Named(const Error& error) const;
  Status TakeSome(std::span<const std::byte>& bytes);
  Status GatherHead(std::span<const std::byte>& bytes);
  Status GatherGguf(std::span<const std::byte>& bytes);
  Status CompareHead(std::span<const std::byte>& bytes);
  Status TakeBand(std::span<const std::byte>& bytes);
  Status BeginTensor();
  Status StoreBand(const std::byte* bytes);
  Status StoreRow(std::size_t row, std::size_t first_input, std::span<const float> values,
                  std::byte* bytes);
  Status CheckWhole() const;
  std::string_view FileName() const;
  std::string TensorName() const;
  std::size_t file_count() const { return head_ends_.size(); }
  const SourceTensor& tensor() const { return tensors_[current_]; }
  bool is_whole() const { return current_ < tensors_.size() && next_row_ == tensor().rows; }
  bool needs_no_bytes() const;
  StoredWeights weights_;
  std::vector<Adapter> adapters_;  // until the merge plan exists
  MergePlan merge_;
  std::optional<GgufReader> gguf_;  // until all bytes before the tensors have arrived
  bool is_gguf_ = false;
  std::optional<TorchStream> torch_;
  std::span<const std::byte> of_torch_;  // output of torch_ that is not consumed yet
  std::uint64_t spare_ = 0;              // bytes that may follow the last tensor
  ModelConfig config_;
  std::string config_json_;
  std::vector<TensorSpec> specs_;
  std::optional<TensorSpec> own_head_;  // from an adapter, for a model with a tied head
  std::string heads_;  // the heads of all files; for a single file, the bytes that have arrived
  std::vector<std::size_t> head_ends_;  // ends of the heads in heads_; empty until all are complete
  std::size_t file_ = 0;                // index into head_ends_
  std::size_t heads_taken_ = 0;         // bytes of heads_ that have arrived
  std::vector<SourceTensor> tensors_;
  std::size_t current_ = 0;  // index into tensors_
  std::optional<ConvertedFolder> folder_;

  Stage stage_ = Stage::kBands;
  std::size_t next_row_ = 0;          // the next row of the current tensor, as stored
  std::string pending_;               // the first part of a split band
  std::vector<float> floats_;         // a band, widened
  StoredTensor stored_;               // the converted form of the tensor
  StoredTensor stored_scales_;        // if it has codes
  bool has_begun_ = false;            // whether its memory is allocated
  AlignedBuffer<std::uint8_t> held_;  // of a transposed matrix: the output, [rows, RowBytes]
  AlignedBuffer<BFloat16> scales_;    // [rows, groups]
  std::string start_;                 // the header, until it is returned
  std::string out_;                   // output of the current call
  std::optional<Error> failure_;
};

}  // namespace gpt2
