// Builds a model's weights from the bytes of its model.safetensors, as they stream in.
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
// allocated when its first byte arrives, and touched as the rest arrives: a false header costs no
// memory. Not thread-safe.
class WeightReader {
 public:
  // `float_format` is what floating-point matrices become in memory.
  WeightReader(ModelConfig config, WeightFormat float_format);

  // Takes the next bytes. An error ends it: all memory is given back, and the same error answers
  // from then on.
  Status Feed(std::span<const std::byte> bytes);

  const Config& config() const { return config_.config; }

  // How many layers, from the first on, can run by now: every byte of theirs, and of the
  // embeddings, has come. What the checkpoint lacks of them is zero from now on. Fails without
  // memory for that, as Feed does.
  Result<std::size_t> CompleteLayers();

  // What has come so far; null after an error, and once they have been taken.
  const Weights* weights() const { return weights_.get(); }

  // The weights, once every byte that the header promises has come. Afterwards the reader is used
  // up.
  Result<std::unique_ptr<Weights>> Finish();

  // Known once the header was read; empty before.
  const SafetensorsHeader& header() const { return header_; }

  // The heads, beside the language model's, that the file or its original has: see OtherHeads.
  const std::vector<std::string>& other_heads() const { return config_.other_heads; }

  // What of config.json and of the tensors is ignored, or not as config.json says, a sentence each.
  // Whole after Finish.
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
  bool may_be_tied_ = false;           // config.json says so, and the file has a head of its own
  std::vector<TensorStream> streams_;  // one per tensor, in file order
  std::size_t current_ = 0;            // index into streams_
  std::size_t header_length_ = 0;
  std::string pending_;  // prefix and header until they are whole; then the cut-off part of a band
  std::optional<Error> failure_;
};

}  // namespace gpt2
