// The tokens of one text that a model attends to, with their keys and values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"

namespace gpt2 {

// How many tokens leave a full window of `capacity`, the first of them, to make room for more.
std::size_t DroppedWhenFull(std::size_t capacity);

// A window of at most n_positions tokens: token i sits at position i. The KV cache holds the first
// cached() of them; the others are pending. Not thread-safe.
class Sequence {
 public:
  static Result<Sequence> Create(const Config& config, KvFormat kv_format);

  std::span<const std::int32_t> window() const { return window_; }
  std::size_t cached() const { return cached_; }
  std::size_t pending() const { return window_.size() - cached_; }
  bool is_current() const { return pending() == 0; }
  std::size_t bytes() const { return cache_.bytes(); }

  // Makes `window` (at most n_positions tokens) the context. What the cache holds of a common
  // beginning stays, but at least the last token is run again, as its logits are wanted.
  void SetWindow(std::span<const std::int32_t> window);

  // Makes every token but the first `kept` pending: the next SetWindow finds no other in the cache.
  void ClearCache(std::size_t kept = 0) { cached_ = std::min(cached_, kept); }

  // Appends a pending token. When the window is full it first keeps its last three quarters:
  // positions are absolute, so those must be run again. Returns the tokens dropped.
  std::size_t Push(std::int32_t id);

  // The next pending token, for a forward pass that is about to run it: it counts as cached.
  BatchToken Advance();

  // Token `position` of the window, for a forward pass that runs it in parts.
  BatchToken At(std::size_t position) { return {window_[position], position, &cache_}; }

  // A token that is no part of the window, to be run behind it. Where it is full, its last token is
  // pending then: the place was taken.
  BatchToken Behind();

  // Token `index` of a draft that follows the window, which must be current: to be run, but no part
  // of the window until Accept.
  BatchToken Drafted(std::size_t index, std::int32_t id);

  // Appends the tokens at the beginning of a draft that has been run: their keys and values are in
  // the cache. They must fit the window.
  void Accept(std::span<const std::int32_t> ids);

  // Becomes what `other`, of the same model and format, is.
  void CopyFrom(const Sequence& other);

 private:
  KvCache cache_;
  std::size_t capacity_ = 0;  // n_positions
  std::vector<std::int32_t> window_;
  std::size_t cached_ = 0;
};

}  // namespace gpt2
