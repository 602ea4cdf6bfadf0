// The tokens that a model is looking at, and everything it remembers about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/forward.h"

namespace gpt2 {

// A window of at most n_positions tokens with its KV cache and scratch. Not thread-safe. Borrows
// the weights and what computes.
class Context {
 public:
  // Rows of logits that Logits computes at once: each takes 4 * vocab_size bytes.
  static constexpr std::size_t kLogitRows = 16;

  static Result<Context> Create(const Weights& weights, const Compute& compute, KvFormat kv_format);

  const Config& config() const { return weights_->config; }
  const Compute& compute() const { return compute_; }
  std::span<const std::int32_t> window() const { return window_; }
  std::size_t cached() const { return cached_; }  // tokens of the window that have been run
  bool is_current() const { return cached_ == window_.size(); }
  std::size_t bytes() const { return cache_.bytes() + scratch_.bytes() + logits_.bytes(); }

  // Fails, naming the first, if an id is outside the vocabulary.
  Status CheckIds(std::span<const std::int32_t> ids) const;

  // Makes `window` (at most n_positions tokens) the context. What the cache holds of a common
  // beginning stays, but at least the last token is run again, as its logits are wanted.
  void SetWindow(std::span<const std::int32_t> window);

  // Lets the next SetWindow begin anew, whatever it has in common with this window.
  void Forget() { cached_ = 0; }

  // Appends a token. When the window is full it first keeps its last three quarters: positions are
  // absolute, so those must be run again. Returns the tokens dropped.
  std::size_t Push(std::int32_t id);

  // Runs the next tokens, at most `most` and at most kMaxRows, and returns how many.
  std::size_t RunNext(std::size_t most, const Trace* trace = nullptr);

  // Logits [count, vocab_size] after rows [first, first + count) of the last RunNext; count is at
  // most kLogitRows. Valid until the next call.
  MatView<const float> Logits(std::size_t first, std::size_t count);

 private:
  Context(const Weights& weights, const Compute& compute) : weights_(&weights), compute_(compute) {}

  const Weights* weights_;
  Compute compute_;
  KvCache cache_;
  Scratch scratch_;
  AlignedBuffer<float> logits_;       // [kLogitRows, vocab_size in whole tiles]
  std::vector<std::int32_t> window_;  // token i sits at position i
  std::size_t cached_ = 0;
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
