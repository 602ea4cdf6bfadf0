// The part of a session that writes the end of a healed prompt again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/generate/sampler.h"
#include "engine/generate/sequence.h"
#include "engine/generate/session.h"
#include "engine/generate/token_healer.h"
#include "engine/model/config.h"

namespace gpt2 {
namespace {

std::vector<std::int32_t> Joined(std::span<const std::int32_t> first,
                                 std::span<const std::int32_t> second) {
  std::vector<std::int32_t> both(first.begin(), first.end());
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

}  // namespace

// Runs the kept tokens, and the beginnings of covers in turn, for the logits after each of them.
// Then writes covers.
Status Session::PrefillHealed(std::vector<GeneratedToken>& tokens) {
  auto& beginnings = healing_.beginnings;
  const auto lacks_logits = [](const auto& each) { return each.second.logits.empty(); };
  // The last one that lacks logits begins no other one that lacks them.
  const auto longest = std::find_if(beginnings.rbegin(), beginnings.rend(), lacks_logits);
  Sequence& sequence = context_->sequence();
  sequence.SetWindow(Joined(kept_, longest->first));
  const std::size_t kept = kept_.size();
  const std::size_t before = sequence.cached();
  const std::size_t first = std::max(before, kept - 1);  // the first token whose logits are needed
  const Pass pass = context_->Prefill(sequence, first - before + Context::kLogitTokens);
  const std::size_t end = sequence.cached();
  prefill_ = {std::min(end, kept), kept};
  if (end <= first) return Done{};
  GPT2_ASSIGN(const MatView<const float> logits, pass.Logits(first - before, end - first));
  for (std::size_t i = 0; i < logits.rows; ++i) {
    const auto ids = sequence.window().subspan(kept, first + i + 1 - kept);
    beginnings[{ids.begin(), ids.end()}].logits.assign(logits.Row(i).begin(), logits.Row(i).end());
  }
  if (std::ranges::none_of(beginnings, lacks_logits)) WriteCovers(tokens);
  return Done{};
}

// Draws and writes a cover for each continuation. The next pass runs its tokens.
void Session::WriteCovers(std::vector<GeneratedToken>& tokens) {
  const TokenHealer healer(*tokenizer_, context_->config().eos_token_id);
  const Covers all = WeighCovers(context_->compute(), healing_);
  const auto is_allowed = [&](std::size_t i) {
    return healer.Admits(healing_, *all.covers[i].beginning, all.covers[i].last);
  };
  for (std::size_t i = 0; i < continuations_.size(); ++i) {
    if (i > 0) context_->sequence(i).CopyFrom(context_->sequence());
    const Covers::Cover cover =
        all.covers[continuations_[i].sampler.Choose(all.logprobs, is_allowed)];
    std::vector<std::int32_t> ids;
    for (const std::int32_t id : Joined(*cover.beginning, {&cover.last, 1})) {
      if (continuations_[i].finish != FinishReason::kNone) break;
      const std::vector<float>& logits = healing_.beginnings[ids].logits;
      tokens.push_back(WriteToken(i, id, logits, Alternatives(healer, ids)));
      ids.push_back(id);
    }
    context_->sequence(i).SetWindow(Joined(kept_, ids));
  }
  has_prompt_ = true;
  healing_.beginnings.clear();
}

// The most probable tokens after a beginning, as many as options_.logprobs.
std::vector<Candidate> Session::Alternatives(const TokenHealer& healer,
                                             const std::vector<std::int32_t>& beginning) {
  std::vector<Candidate> best;
  if (options_.logprobs == 0) return best;
  const auto& [next, logits, logprob] = healing_.beginnings[beginning];
  std::vector<Candidate> all;
  for (const std::int32_t id : next) all.push_back({id, logits[static_cast<std::size_t>(id)]});
  std::ranges::sort(all, RanksBefore);
  for (const Candidate& each : all) {
    if (healer.Admits(healing_, beginning, each.id)) best.push_back(each);
    if (best.size() == options_.logprobs) break;
  }
  return best;
}

}  // namespace gpt2
