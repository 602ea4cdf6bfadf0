// The tokens of one text that a model is looking at, with their keys and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/kv_cache.h"

namespace gpt2 {

// A window of at most n_positions tokens: token i sits at position i. The first cached() of them
// have been run. Not thread-safe.
class Sequence {
 public:
  static Result<Sequence> Create(const Config& config, KvFormat kv_format);

  std::span<const std::int32_t> window() const { return window_; }
  std::size_t cached() const { return cached_; }
  std::size_t pending() const { return window_.size() - cached_; }
  bool is_current() const { return pending() == 0; }
  std::size_t bytes() const { return cache_.bytes(); }
  KvCache& cache() { return cache_; }

  // Makes `window` (at most n_positions tokens) the context. What the cache holds of a common
  // beginning stays, but at least the last token is run again, as its logits are wanted.
  void SetWindow(std::span<const std::int32_t> window);

  // Lets the next SetWindow begin anew, whatever it has in common with this window.
  void Forget() { cached_ = 0; }

  // Appends a token. When the window is full it first keeps its last three quarters: positions are
  // absolute, so those must be run again. Returns the tokens dropped.
  std::size_t Push(std::int32_t id);

  // Keeps the first `size` tokens.
  void Truncate(std::size_t size);

  // Becomes what `other`, of the same model and format, is.
  void CopyFrom(const Sequence& other);

  // Says that `count` pending tokens have been run.
  void Advance(std::size_t count) { cached_ += count; }

 private:
  KvCache cache_;
  std::size_t capacity_ = 0;  // n_positions
  std::vector<std::int32_t> window_;
  std::size_t cached_ = 0;
};

}  // namespace gpt2
