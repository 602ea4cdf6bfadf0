#include "engine/generate/context.h"

#include <algorithm>
#include <cassert>
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
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weights.h"

namespace gpt2 {

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
  while (sequences_.size() > count) sequences_.pop_back();
  while (sequences_.size() < count) {
    GPT2_ASSIGN(Sequence sequence, Sequence::Create(config(), kv_format_));
    sequences_.push_back(std::move(sequence));
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

// Runs the first `count` of batch_.
Pass Context::Run(std::size_t count, const Trace* trace) {
  Forward(*weights_, compute_, {batch_.data(), count}, scratch_, trace);
  return Pass(*this, count, ++passes_);
}

Result<MatView<const float>> Pass::Logits(std::size_t first, std::size_t count) const {
  assert(number_ == context_->passes_ && first + count <= tokens_);
  return context_->Logits(first, count);
}

Result<MatView<const float>> Context::Logits(std::size_t first, std::size_t count) {
  assert(count <= kLogitTokens);
  const MatView<float> logits{logits_.data(), count, config().vocab_size, LogitsStride(config())};
  const MatView<const float> normed{scratch_.normed.Row(first).data(), count, scratch_.normed.cols,
                                    scratch_.normed.stride};
  ComputeLogits(*weights_, compute_, normed, scratch_, logits);
  for (std::size_t i = 0; i < count; ++i) {
    if (!AllFinite(logits.Row(i))) return NotFinite(batch_[first + i]);
  }
  return MatView<const float>(logits);
}

// Runs `bad` once more, alone, to see where it goes wrong.
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
