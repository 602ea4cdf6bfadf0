// Reduces a prompt of any length to the tokens that a generation uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/config.h"

namespace gpt2 {

// Fails if an id is outside the vocabulary. The error names the first such id; ids[0] counts as
// token `first_index`.
Status CheckTokenIds(const Config& config, std::span<const std::int32_t> ids,
                     std::size_t first_index = 0);

// The tokens of a prompt. The memory depends on the model, not on the prompt. Not thread-safe.
class PromptTokens {
 public:
  explicit PromptTokens(const Config& config) : config_(&config), first_(config.vocab_size) {}

  // Appends some tokens; fails as CheckTokenIds does.
  Status Add(std::span<const std::int32_t> ids);

  // The number of tokens that were added.
  std::size_t size() const { return size_; }

  // All tokens if they fit the context. Otherwise the last ones: as many quarters of a context are
  // dropped from the beginning as necessary. A growing text drops its tokens in the same steps, so
  // the cache of a long text stays valid while the text grows.
  std::span<const std::int32_t> window() const;

  // Whether `id`, which is in the vocabulary, is among the first `count` tokens.
  bool IsAmong(std::size_t count, std::size_t id) const { return first_[id] - 1u < count; }

 private:
  const Config* config_;
  std::size_t size_ = 0;
  std::vector<std::int32_t> recent_;  // at most 2 * n_positions, so that tokens are rarely moved
  std::vector<std::uint32_t>
      first_;  // [vocab_size] 1 + index of a token's first occurrence; 0: none
};

}  // namespace gpt2
