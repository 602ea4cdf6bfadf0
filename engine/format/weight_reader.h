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
#include "engine/format/weight_plan.h"
#include "engine/model/weights.h"

namespace gpt2 {

// Feed it the whole file in order, in pieces of any size. Each value goes straight to its place in
// the kernels' layout, so that only one row is ever held twice. A tensor's memory is
// allocated when its first byte arrives, and touched as the rest arrives, so a false header costs
// no memory. Not thread-safe.
class WeightReader {
 public:
  // For a converted model: without `config.weights`, every call returns an error.
  explicit WeightReader(ModelConfig config);

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

  // One sentence for each part of the model that the engine ignores or that contradicts another.
  // Complete after Finish.
  const std::vector<std::string>& warnings() const { return config_.warnings; }

 private:
  Status Take(std::span<const std::byte> bytes);
  Status TakeHeader(std::span<const std::byte>& bytes);
  Status TakeTensor(std::span<const std::byte>& bytes);
  Status CheckWhole();
  Status CompleteVectors(std::size_t layers);
  void TieEqualHead();
  void CountWeights();
  Error Fail(const Error& error);

  ModelConfig config_;
  std::unique_ptr<Weights> weights_;
  std::vector<TensorSpec> specs_;
  SafetensorsHeader header_;
  bool has_header_ = false;
  bool may_be_tied_ = false;       // config.json says so, but the file has a separate head
  std::vector<TensorPlan> plans_;  // one per tensor, in file order
  std::size_t current_ = 0;        // index into plans_
  std::size_t next_row_ = 0;       // of the current tensor
  std::size_t header_length_ = 0;
  std::string pending_;  // the incomplete prefix and header; then the first part of a split row
  std::optional<Error> failure_;
};

}  // namespace gpt2
