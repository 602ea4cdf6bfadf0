// How likely a model finds a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/context.h"

namespace gpt2 {

// Computes the log-probability of each token but the first. A text longer than the context is
// scored in windows of n_positions tokens that advance by `stride`: each token has at least
// n_positions - stride tokens before it, as far as the text has them.
class Scorer {
 public:
  // Takes over `context` until it is done. Fails on ids outside the vocabulary and on a stride
  // outside [1, n_positions - 1]; a model of one position can score nothing.
  static Result<Scorer> Begin(Context& context, std::span<const std::int32_t> ids,
                              std::size_t stride);

  // Scores some more tokens. Only while !is_done().
  void Step();

  bool is_done() const { return logprobs_.size() + 1 >= ids_.size(); }

  // Natural logarithms, of ids[1], ids[2], ... as far as they are known.
  const std::vector<float>& logprobs() const { return logprobs_; }

 private:
  Scorer(Context& context, std::span<const std::int32_t> ids, std::size_t stride)
      : context_(&context), ids_(ids.begin(), ids.end()), stride_(stride) {}
  void OpenWindow(std::size_t start);

  Context* context_;
  std::vector<std::int32_t> ids_;
  std::size_t stride_;
  std::size_t start_ = 0;  // index in ids_ of the window's first token
  std::vector<float> logprobs_;
};

}  // namespace gpt2
