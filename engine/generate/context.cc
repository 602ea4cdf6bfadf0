#include "engine/generate/context.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/not_finite.h"
#include "engine/generate/sequence.h"
#include "engine/model/config.h"
#include "engine/model/forward.h"
#include "engine/model/hooks.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weights.h"

namespace gpt2 {

namespace {

// Records the residual stream and the attention of one token, as `inner` leave them: see
// Context::Inspect.
class LastToken final : public Hooks {
 public:
  LastToken(const Config& config, Hooks* inner, MatView<float> residuals, MatView<float> attention)
      : inner_(inner),
        n_head_(config.n_head),
        room_(config.n_positions),
        residuals_(residuals),
        attention_(attention) {}

  bool Wants(Place place, std::size_t layer) const override {
    return Records(place, layer) || (inner_ != nullptr && inner_->Wants(place, layer));
  }
  bool ChangesAttention(std::size_t layer) const override {
    return inner_ != nullptr && inner_->ChangesAttention(layer);
  }
  void Visit(const HookPoint& point, std::span<const BatchToken> batch, MatView<float> x) override {
    if (inner_ != nullptr && inner_->Wants(point.place, point.layer)) {
      inner_->Visit(point, batch, x);
    }
    if (!Records(point.place, point.layer)) return;
    const bool is_pattern = point.place == Place::kPattern;
    const std::size_t row = is_pattern ? point.layer * n_head_ + point.head
                                       : point.layer + (point.place == Place::kResidPost ? 1 : 0);
    std::ranges::copy(x.Row(0), (is_pattern ? attention_ : residuals_).Row(row).data());
  }
  MatView<float> Scores() override { return DenseView(room_.data(), 1, room_.size()); }

 private:
  static bool Records(Place place, std::size_t layer) {
    return place == Place::kPattern || place == Place::kResidPost ||
           (place == Place::kResidPre && layer == 0);
  }

  Hooks* inner_;  // or null
  std::size_t n_head_;
  std::vector<float> room_;
  MatView<float> residuals_;
  MatView<float> attention_;
};

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

void Context::SetHooks(std::shared_ptr<Hooks> hooks) {
  if (hooks == hooks_) return;
  const auto first = [](const Hooks* each) {
    return each == nullptr ? SIZE_MAX : each->FirstPosition();
  };
  const std::size_t kept = std::min(first(hooks_.get()), first(hooks.get()));
  hooks_ = std::move(hooks);
  for (Sequence& sequence : sequences_) sequence.ClearCache(kept);
}

Pass Context::Prefill(Sequence& sequence, std::size_t most, Hooks* hooks) {
  const std::size_t count = std::min({most, kMaxBatch, sequence.pending()});
  for (std::size_t i = 0; i < count; ++i) batch_[i] = sequence.Advance();
  return Run(count, hooks != nullptr ? hooks : hooks_.get());
}

void Context::RunLayer(std::size_t layer, std::size_t first, MatView<float> x) {
  for (std::size_t i = 0; i < x.rows; ++i) batch_[i] = sequence().At(first + i);
  const std::span<const BatchToken> batch(batch_.data(), x.rows);
  if (layer == 0) Embed(*weights_, compute_, batch, scratch_, x);
  RunBlock(*weights_, compute_, batch, layer, scratch_, x);
}

Pass Context::Decode(std::span<Sequence* const> sequences) {
  assert(sequences.size() <= kMaxBatch);
  for (std::size_t i = 0; i < sequences.size(); ++i) batch_[i] = sequences[i]->Advance();
  return Run(sequences.size(), hooks_.get());
}

Pass Context::Probe() {
  batch_[0] = sequence().Behind();
  return Run(1, hooks_.get());
}

Pass Context::Verify(Sequence& sequence, std::span<const std::int32_t> draft) {
  assert(sequence.pending() == 1 && draft.size() < kMaxBatch);
  batch_[0] = sequence.Advance();
  for (std::size_t i = 0; i < draft.size(); ++i) batch_[1 + i] = sequence.Drafted(i, draft[i]);
  return Run(1 + draft.size(), hooks_.get());
}

Pass Context::Inspect(MatView<float> residuals, MatView<float> attention) {
  // Before Advance, because it needs memory.
  LastToken reader(config(), hooks_.get(), residuals, attention);
  batch_[0] = sequence().Advance();
  return Run(1, &reader);
}

Result<MatView<const float>> Context::Unembed(MatView<const float> x) {
  FinalLayerNorm(*weights_, compute_, x, scratch_.normed.Top(1));
  return Logits(/*first=*/0, /*count=*/1, /*checked=*/1, /*hooks=*/nullptr);
}

// Runs the first `count` of batch_. `hooks` may be null.
Pass Context::Run(std::size_t count, Hooks* hooks) {
  Forward(*weights_, compute_, {batch_.data(), count}, scratch_, hooks);
  return Pass(*this, count, ++passes_);
}

Result<MatView<const float>> Pass::Logits(std::size_t first, std::size_t count) const {
  assert(number_ == context_->passes_ && first + count <= tokens_);
  return context_->Logits(first, count, /*checked=*/count, context_->hooks_.get());
}

Result<MatView<const float>> Pass::DraftLogits() const {
  assert(number_ == context_->passes_);
  return context_->Logits(/*first=*/0, tokens_, /*checked=*/1, context_->hooks_.get());
}

Result<MatView<const float>> Context::Logits(std::size_t first, std::size_t count,
                                             std::size_t checked, Hooks* hooks) {
  assert(count <= kLogitTokens);
  const MatView<float> logits{logits_.data(), count, config().vocab_size, LogitsStride(config())};
  const MatView<const float> normed{scratch_.normed.Row(first).data(), count, scratch_.normed.cols,
                                    scratch_.normed.stride};
  ComputeLogits(*weights_, compute_, normed, scratch_, logits);
  if (hooks != nullptr && hooks->Wants(Place::kLogits, 0)) {
    hooks->Visit({.place = Place::kLogits}, std::span(batch_).subspan(first, count), logits);
  }
  for (std::size_t i = 0; i < checked; ++i) {
    if (!AllFinite(logits.Row(i))) return NotFinite(batch_[first + i]);
  }
  return MatView<const float>(logits);
}

// Runs `bad` again, alone, to find the first place that is not finite.
Error Context::NotFinite(const BatchToken& bad) {
  const std::string where =
      Concat("the logits after position ", bad.position, " (token id ", bad.id, ") are not finite");
  if (hooks_ != nullptr) return Error{ErrorCode::kInvalidArgument, where + " after the changes"};
  std::string tensor;
  Reader reader([](Place place) { return place != Place::kScores && place != Place::kPattern; },
                [&tensor](const HookPoint& point, MatView<const float> x) {
                  if (tensor.empty() && !AllFinite(x.Row(0)))
                    tensor = TensorBefore(point.place, point.layer);
                });
  Forward(*weights_, compute_, {&bad, 1}, scratch_, &reader);
  if (tensor.empty()) tensor = config().tie_word_embeddings ? "wte.weight" : "lm_head.weight";
  return Error{ErrorCode::kCorrupt,
               Concat(where, "; the likely cause is tensor \"", tensor,
                      "\": the first numbers that are not finite come from it")};
}

}  // namespace gpt2
