// The tokens of one text in a model's context, with their keys and values.
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

// The number of tokens that a full window of `capacity` drops from its start to make room.
std::size_t DroppedWhenFull(std::size_t capacity);

// A window of at most n_positions tokens: token i is at position i. The KV cache holds the first
// cached() of them; the others are pending. Not thread-safe.
class Sequence {
 public:
  static Result<Sequence> Create(const Config& config, KvFormat kv_format);

  std::span<const std::int32_t> window() const { return window_; }
  std::size_t cached() const { return cached_; }
  std::size_t pending() const { return window_.size() - cached_; }
  bool is_current() const { return pending() == 0; }
  std::size_t bytes() const { return cache_.bytes(); }

  // Makes `window` (at most n_positions tokens) the context. Cached tokens of the common beginning
  // stay cached, except the last token of `window`: it runs again, because its logits are needed.
  void SetWindow(std::span<const std::int32_t> window);

  // Removes all tokens except the first `kept` from the cache: they become pending.
  void ClearCache(std::size_t kept = 0) { cached_ = std::min(cached_, kept); }

  // Appends a pending token. If the window is full, it first drops its first quarter, and the rest
  // becomes pending, because positions are absolute. Returns the number of dropped tokens.
  std::size_t Push(std::int32_t id);

  // Returns the next pending token for a forward pass that is about to run it, and counts it as
  // cached.
  BatchToken Advance();

  // Token `position` of the window, for a forward pass that runs in parts.
  BatchToken At(std::size_t position) { return {window_[position], position, &cache_}; }

  // A token to run after the window, without becoming part of it. If the window is full, the token
  // takes the place of the last one, which becomes pending.
  BatchToken Behind();

  // Token `index` of a draft after the window, which must have no pending tokens. It runs, but is
  // not a part of the window until Accept.
  BatchToken Drafted(std::size_t index, std::int32_t id);

  // Appends the first tokens of a draft that has run, whose keys and values are cached. They must
  // fit the window.
  void Accept(std::span<const std::int32_t> ids);

  // Copies `other`, which has the same model and format.
  void CopyFrom(const Sequence& other);

 private:
  KvCache cache_;
  std::size_t capacity_ = 0;  // n_positions
  std::vector<std::int32_t> window_;
  std::size_t cached_ = 0;
};

}  // namespace gpt2
