// Scores a text: how probable a model finds each token.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/context.h"

namespace gpt2 {

struct TokenScore {
  float logprob;       // natural logarithm
  std::uint32_t rank;  // 1: the most probable token
};

// Computes the log-probability and the rank of each token from index `start` on, except the first
// token of the text. A text longer than the context is scored in windows of n_positions tokens that
// advance by `stride`. So each token has at least n_positions - stride tokens before it, if the
// text has them. Tokens before `start` that the KV cache lacks run without logits. The windows do
// not depend on `start`, so the scores are bit-identical for every `start`. Not thread-safe, like
// Session.
class Scorer {
 public:
  // Uses `context` alone until it is done. Fails on ids outside the vocabulary, on a stride outside
  // [1, n_positions - 1] and on a start outside [0, ids.size()]. A model with one position can
  // score nothing.
  static Result<Scorer> Begin(Context& context, std::vector<std::int32_t> ids, std::size_t stride,
                              std::size_t start = 0);

  // Scores at most Context::kLogitTokens more tokens, and returns their scores. The first is that
  // of ids()[done()], with done() as it was before the call. Valid until the next call; may be
  // empty. Fails if logits are not finite, and is then done. Only while !is_done().
  Result<std::span<const TokenScore>> Step();

  bool is_done() const { return done_ == ids_.size(); }

  std::span<const std::int32_t> ids() const { return ids_; }

  // The number of tokens that need no more work. Tokens before the start count, and so does the
  // first one, which has no probability.
  std::size_t done() const { return done_; }

 private:
  Scorer(Context& context, std::vector<std::int32_t> ids, std::size_t stride, std::size_t start)
      : context_(&context),
        ids_(std::move(ids)),
        stride_(stride),
        done_(std::max(start, std::min<std::size_t>(1, ids_.size()))) {}
  void OpenWindow(std::size_t first);

  Context* context_;
  std::vector<std::int32_t> ids_;
  std::size_t stride_;
  std::size_t window_ = 0;  // index in ids_ of the window's first token
  std::size_t done_;
  std::array<TokenScore, Context::kLogitTokens> scores_{};
};

}  // namespace gpt2
