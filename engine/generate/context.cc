#include "engine/generate/context.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "engine/base/aligned_buffer.h"
#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/not_finite.h"
#include "engine/generate/sequence.h"
#include "engine/model/config.h"
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weights.h"

namespace gpt2 {

namespace {

// q k^T / sqrt(head_dim) of one head, for the tokens up to `token`, whose `qkv` [qkv_width] in
// `layer` is given.
void AttentionScores(const Config& config, const BatchToken& token, std::size_t layer,
                     std::size_t head, std::span<const float> qkv, std::span<float> scores) {
  const std::size_t dim = config.head_dim();
  const std::size_t query = config.ColumnsOf(head).query;
  for (std::size_t position = 0; position < scores.size(); ++position) {
    double sum = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      sum += static_cast<double>(qkv[query + d]) *
             static_cast<double>(token.cache->Key(layer, config.KvHead(head), position, d));
    }
    scores[position] = static_cast<float>(sum / std::sqrt(static_cast<double>(dim)));
  }
}

}  // namespace

Result<Context> Context::Create(const Weights& weights, const Compute& compute,
                                KvFormat kv_format) {
  Context context(weights, compute, kv_format);
  GPT2_TRY(context.SetSequences(1));
  GPT2_ASSIGN(context.scratch_, Scratch::Create(weights.config));
  GPT2_ASSIGN(context.logits_, AlignedBuffer<float>::CreateUnset(
                                   kLogitTokens * LogitsStride(weights.config), "logits"));
  return context;
}

std::size_t Context::bytes() const {
  std::size_t bytes = scratch_.bytes() + logits_.bytes();
  for (const Sequence& sequence : sequences_) bytes += sequence.bytes();
  return bytes;
}

Status Context::SetSequences(std::size_t count) {
  assert(count >= 1);
  const std::size_t before = std::min(sequences_.size(), count);
  const auto free_after = [this](std::size_t kept) {
    while (sequences_.size() > kept) sequences_.pop_back();
  };
  free_after(count);
  while (sequences_.size() < count) {
    auto sequence = Sequence::Create(config(), kv_format_);
    if (!sequence.ok()) {
      free_after(before);
      return sequence.error();
    }
    sequences_.push_back(std::move(sequence.value()));
  }
  return Done{};
}

Pass Context::Prefill(Sequence& sequence, std::size_t most, const Trace* trace) {
  const std::size_t count = std::min({most, kMaxBatch, sequence.pending()});
  for (std::size_t i = 0; i < count; ++i) batch_[i] = sequence.Advance();
  return Run(count, trace);
}

void Context::RunLayer(std::size_t layer, std::size_t first, MatView<float> x) {
  for (std::size_t i = 0; i < x.rows; ++i) batch_[i] = sequence().At(first + i);
  const std::span<const BatchToken> batch(batch_.data(), x.rows);
  if (layer == 0) Embed(*weights_, compute_, batch, x);
  RunBlock(*weights_, compute_, batch, layer, scratch_, x);
}

Pass Context::Decode(std::span<Sequence* const> sequences) {
  assert(sequences.size() <= kMaxBatch);
  for (std::size_t i = 0; i < sequences.size(); ++i) batch_[i] = sequences[i]->Advance();
  return Run(sequences.size());
}

Pass Context::Probe() {
  batch_[0] = sequence().Behind();
  return Run(1);
}

Pass Context::Verify(Sequence& sequence, std::span<const std::int32_t> draft) {
  assert(sequence.pending() == 1 && draft.size() < kMaxBatch);
  batch_[0] = sequence.Advance();
  for (std::size_t i = 0; i < draft.size(); ++i) batch_[1 + i] = sequence.Drafted(i, draft[i]);
  return Run(1 + draft.size());
}

void Context::Inspect(MatView<float> residuals, MatView<float> scores) {
  const BatchToken token = sequence().At(sequence().cached());
  batch_[0] = token;
  std::size_t row = 0;
  const auto watch = [&](const std::string& stage, MatView<const float> x) {
    if (stage.ends_with(".attn")) {  // qkv is still this layer's, and `row` - 1 its number
      for (std::size_t head = 0; head < config().n_head; ++head) {
        AttentionScores(config(), token, row - 1, head, scratch_.qkv.Row(0),
                        scores.Row((row - 1) * config().n_head + head));
      }
    }
    if (stage == "embed" || stage.ends_with(".mlp"))
      std::ranges::copy(x.Row(0), residuals.Row(row++).data());
  };
  const Trace trace = watch;
  Run(1, &trace);
  // Only after the pass: it allocates the names of the stages, and ends halfway if memory runs out.
  sequence().Advance();
  assert(row == residuals.rows);
}

Result<MatView<const float>> Context::Unembed(MatView<const float> x) {
  FinalLayerNorm(*weights_, compute_, x, scratch_.normed.Top(1));
  return Logits(/*first=*/0, /*count=*/1, /*checked=*/1);
}

// Runs the first `count` of batch_.
Pass Context::Run(std::size_t count, const Trace* trace) {
  Forward(*weights_, compute_, {batch_.data(), count}, scratch_, trace);
  return Pass(*this, count, ++passes_);
}

Result<MatView<const float>> Pass::Logits(std::size_t first, std::size_t count) const {
  assert(number_ == context_->passes_ && first + count <= tokens_);
  return context_->Logits(first, count, /*checked=*/count);
}

Result<MatView<const float>> Pass::DraftLogits() const {
  assert(number_ == context_->passes_);
  return context_->Logits(/*first=*/0, tokens_, /*checked=*/1);
}

Result<MatView<const float>> Context::Logits(std::size_t first, std::size_t count,
                                             std::size_t checked) {
  assert(count <= kLogitTokens);
  const MatView<float> logits{logits_.data(), count, config().vocab_size, LogitsStride(config())};
  const MatView<const float> normed{scratch_.normed.Row(first).data(), count, scratch_.normed.cols,
                                    scratch_.normed.stride};
  ComputeLogits(*weights_, compute_, normed, scratch_, logits);
  for (std::size_t i = 0; i < checked; ++i) {
    if (!AllFinite(logits.Row(i))) return NotFinite(batch_[first + i]);
  }
  return MatView<const float>(logits);
}

// Runs `bad` again, alone, to find the first stage that is not finite.
Error Context::NotFinite(const BatchToken& bad) {
  std::string tensor;
  const auto watch = [&tensor](const std::string& stage, MatView<const float> x) {
    if (tensor.empty() && !AllFinite(x.Row(0))) tensor = TensorBefore(stage);
  };
  const Trace trace = watch;
  Forward(*weights_, compute_, {&bad, 1}, scratch_, &trace);
  if (tensor.empty()) tensor = config().tie_word_embeddings ? "wte.weight" : "lm_head.weight";
  return Error{ErrorCode::kCorrupt,
               Concat("the logits after position ", bad.position, " (token id ", bad.id,
                      ") are not finite; the likely cause is tensor \"", tensor,
                      "\": the first numbers that are not finite come from it")};
}

}  // namespace gpt2
