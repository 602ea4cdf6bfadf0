// Builds a model's weights from the bytes of its model.safetensors as they stream.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/tensor_stream.h"
#include "engine/model/weights.h"

namespace gpt2 {

// Feed it the whole file in order, in pieces of any size. Each value goes straight to its place in
// the kernels' layout, so that only a band of 32 rows is ever held twice. A tensor's memory is
// allocated when its first byte arrives, and touched as the rest arrives, so a false header costs
// no memory. Not thread-safe.
class WeightReader {
 public:
  // `float_format` is the format of floating-point matrices in memory.
  WeightReader(ModelConfig config, WeightFormat float_format);

  // Takes the next bytes. An error frees all memory, and every later call returns it again.
  Status Feed(std::span<const std::byte> bytes);

  const Config& config() const { return config_.config; }

  // The number of layers, from the first on, that can run because all of their bytes, and those of
  // the embeddings, have arrived. Sets parameters that the checkpoint lacks to zero. Fails like
  // Feed if there is no memory for them.
  Result<std::size_t> CompleteLayers();

  // The weights so far; null after an error, and after Finish.
  const Weights* weights() const { return weights_.get(); }

  // Returns the weights once all bytes that the header states have arrived. Do not use the reader
  // afterwards.
  Result<std::unique_ptr<Weights>> Finish();

  // Empty until the header has been read.
  const SafetensorsHeader& header() const { return header_; }

  // The heads of the file or of its original, other than the language model's: see OtherHeads.
  const std::vector<std::string>& other_heads() const { return config_.other_heads; }

  // One sentence for each part of config.json, and each tensor, that the engine ignores or that
  // contradicts another. Complete after Finish.
  const std::vector<std::string>& warnings() const { return config_.warnings; }

 private:
  Status Take(std::span<const std::byte> bytes);
  Status TakeHeader(std::span<const std::byte>& bytes);
  Status TakeTensor(std::span<const std::byte>& bytes);
  Status CheckWhole();
  Status CompleteVectors(std::size_t layers);
  void WarnOfOtherHeads();
  void TieEqualHead();
  void CountWeights();
  void SkipDoneStreams();
  Error Fail(const Error& error);

  ModelConfig config_;
  WeightFormat float_format_;
  std::unique_ptr<Weights> weights_;
  std::vector<TensorSpec> specs_;
  SafetensorsHeader header_;
  bool has_header_ = false;
  bool may_be_tied_ = false;           // config.json says so, but the file has a separate head
  std::vector<TensorStream> streams_;  // one per tensor, in file order
  std::size_t current_ = 0;            // index into streams_
  std::size_t header_length_ = 0;
  std::string pending_;  // the incomplete prefix and header; then the first part of a split band
  std::optional<Error> failure_;
};

}  // namespace gpt2
