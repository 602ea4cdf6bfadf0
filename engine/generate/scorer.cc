#include "engine/generate/scorer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/generate/log_softmax.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/rank.h"

namespace gpt2 {

Result<Scorer> Scorer::Begin(Context& context, std::vector<std::int32_t> ids, std::size_t stride,
                             std::size_t start) {
  GPT2_TRY(CheckTokenIds(context.config(), ids));
  const std::size_t capacity = context.config().n_positions;
  if (stride == 0 || stride >= capacity) {
    return Error{
        ErrorCode::kInvalidArgument,
        Concat("stride is ", stride, ", expected a whole number from 1 to ", capacity - 1)};
  }
  if (start > ids.size()) {
    return Error{ErrorCode::kInvalidArgument,
                 Concat("start is ", start, ", expected a whole number from 0 to ", ids.size())};
  }
  Scorer scorer(context, std::move(ids), stride, start);
  // The first window that reaches the start: the token after its last one is scored in it, too.
  const std::size_t skipped = start <= capacity ? 0 : (start - capacity - 1) / stride + 1;
  if (!scorer.is_done()) scorer.OpenWindow(skipped * stride);
  return scorer;
}

void Scorer::OpenWindow(std::size_t first) {
  window_ = first;
  const std::size_t size = std::min(context_->config().n_positions, ids_.size() - first);
  // Logits are needed from token done_ - 1 on, and the cache holds none.
  context_->sequence().ClearCache(/*kept=*/done_ - 1 - first);
  context_->sequence().SetWindow(std::span(ids_).subspan(first, size));
}

Result<std::span<const TokenScore>> Scorer::Step() {
  Sequence& sequence = context_->sequence();
  if (sequence.is_current()) OpenWindow(window_ + stride_);
  const std::size_t first = window_ + sequence.cached();  // index in ids_ of the first token to run
  const Pass pass = context_->Prefill(sequence, Context::kLogitTokens);
  const std::size_t count = pass.tokens();
  // Logits i predict ids_[first + i + 1]. Tokens that an earlier window scored, or before the
  // start, need none.
  const std::size_t skip = std::min(done_ - 1 - first, count);
  const std::size_t wanted = std::min(count, ids_.size() - 1 - first);
  if (skip >= wanted) return std::span<const TokenScore>();
  GPT2_ASSIGN(const MatView<const float> logits, pass.Logits(skip, wanted - skip));
  for (std::size_t i = 0; i < logits.rows; ++i) {
    const LogSoftmax logprob(context_->compute(), logits.Row(i));
    const float logit = logits.Row(i)[static_cast<std::size_t>(ids_[done_++])];
    scores_[i] = {.logprob = logprob(logit), .rank = RankOf(logits.Row(i), logit)};
  }
  return std::span<const TokenScore>(scores_).first(logits.rows);
}

}  // namespace gpt2
