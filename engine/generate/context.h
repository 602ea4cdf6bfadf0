// What runs a model: sequences of tokens, scratch buffers and logits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/sequence.h"
#include "engine/model/forward.h"

namespace gpt2 {

// One sequence, or some that are run together: a pass over the weights costs little more for a few
// tokens than for one. Not thread-safe. Borrows the weights and what computes.
class Context {
 public:
  // Rows of logits that Logits computes at once: each takes 4 * vocab_size bytes.
  static constexpr std::size_t kLogitRows = 16;

  static Result<Context> Create(const Weights& weights, const Compute& compute, KvFormat kv_format);

  const Config& config() const { return weights_->config; }
  const Compute& compute() const { return compute_; }
  std::size_t bytes() const;

  // Fails, naming the first, if an id is outside the vocabulary.
  Status CheckIds(std::span<const std::int32_t> ids) const;

  // The first sequence, which is always there, and others up to what SetSequences made.
  Sequence& sequence(std::size_t index = 0) { return sequences_[index]; }

  // Makes room for `count` sequences, at least 1, and gives back that of others.
  Status SetSequences(std::size_t count);

  // Runs the next pending tokens of one sequence, at most `most` and at most kMaxBatch, and returns
  // how many.
  std::size_t RunNext(Sequence& sequence, std::size_t most, const Trace* trace = nullptr);

  // Runs the next pending token of each of `sequences`, at most kMaxBatch, in one pass.
  void RunOneEach(std::span<Sequence* const> sequences);

  // Logits [count, vocab_size] after rows [first, first + count) of the last run; count is at most
  // kLogitRows. Valid until the next call. Fails where they are not all finite, naming the position
  // in the context and the tensor that the first such number came from.
  Result<MatView<const float>> Logits(std::size_t first, std::size_t count);

 private:
  Context(const Weights& weights, const Compute& compute, KvFormat kv_format)
      : weights_(&weights), compute_(compute), kv_format_(kv_format) {}

  Error NotFinite(std::size_t row);

  const Weights* weights_;
  Compute compute_;
  KvFormat kv_format_;
  std::vector<Sequence> sequences_;
  std::array<BatchToken, kMaxBatch> rows_{};  // of the last run
  Scratch scratch_;
  AlignedBuffer<float> logits_;  // [kLogitRows, vocab_size in whole tiles]
};

// The log-probability (natural logarithm) that a row of logits gives to a token.
class LogSoftmax {
 public:
  LogSoftmax(const Compute& compute, std::span<const float> logits);
  float operator()(float logit) const {
    return static_cast<float>(static_cast<double>(logit) - log_sum_);
  }

 private:
  double log_sum_;
};

}  // namespace gpt2
