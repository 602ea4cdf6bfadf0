#include "engine/generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/generate/options.h"
#include "engine/kernels/scalar_math.h"

namespace gpt2 {

namespace {

// Logits that are compared at a time: eight vectors of four between two branches.
constexpr std::size_t kBlock = 32;

// The logit of a token that must not be drawn.
constexpr float kRuledOut = -std::numeric_limits<float>::infinity();

// The first id from `id` on whose block may hold a logit above `threshold`. Blocks are compared as
// a whole, which compilers turn into vectors.
std::size_t SkipUpTo(std::span<const float> logits, std::size_t id, float threshold) {
  while (id + kBlock <= logits.size()) {
    int above = 0;
    for (std::size_t i = 0; i < kBlock; ++i) above |= logits[id + i] > threshold ? 1 : 0;
    if (above != 0) return id;
    id += kBlock;
  }
  return id;
}

}  // namespace

void SelectTop(std::span<const float> logits, std::size_t count, std::vector<Candidate>& best) {
  best.clear();
  count = std::min(count, logits.size());
  if (count == 0) return;
  // A heap whose front is the least likely of the best so far.
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (id % kBlock == 0 && best.size() == count) id = SkipUpTo(logits, id, best.front().logit);
    if (id == logits.size()) break;
    const Candidate candidate{static_cast<std::int32_t>(id), logits[id]};
    if (best.size() < count) {
      best.push_back(candidate);
      std::push_heap(best.begin(), best.end(), RanksBefore);
    } else if (candidate.logit > best.front().logit) {  // an equal one comes later and loses
      std::pop_heap(best.begin(), best.end(), RanksBefore);
      best.back() = candidate;
      std::push_heap(best.begin(), best.end(), RanksBefore);
    }
  }
  std::sort_heap(best.begin(), best.end(), RanksBefore);
}

Sampler::Sampler(const GenerateOptions& options, std::size_t vocab_size)
    : options_(options),
      top_k_(options.top_k == 0 ? vocab_size : std::min(options.top_k, vocab_size)),
      ngram_size_(options.no_repeat_ngram_size),
      repetition_penalty_(static_cast<float>(options.repetition_penalty)),
      random_(options.seed),
      seen_(vocab_size) {
  candidates_.reserve(vocab_size);
  weights_.reserve(vocab_size);
  if (options_.typical_p < 1.0) surprises_.reserve(vocab_size);
  if (options_.frequency_penalty != 0 || options_.presence_penalty != 0) counts_.resize(vocab_size);
}

void Sampler::Accept(std::int32_t id) {
  Notice(id);
  if (ngram_size_ > 0) history_.push_back(id);
}

void Sampler::Count(std::int32_t id) {
  ++written_;
  if (!counts_.empty()) ++counts_[static_cast<std::size_t>(id)];
}

// A penalty can make two logits infinite, and so hide which of them is larger. In that case all
// logits and the temperature are scaled, which changes no probability.
std::span<const float> Sampler::Penalize(std::span<const float> logits) {
  const bool may_end = options_.ignore_eos || written_ >= options_.min_new_tokens;
  if (repetition_penalty_ == 1.0f && ngram_size_ == 0 && counts_.empty() && may_end) return logits;
  scale_ = 1;
  if (!PenalizeScaled(logits)) {
    scale_ = 1.0 / 128;  // exact, and more than a penalty of 0.01 or 100 can amplify a logit
    PenalizeScaled(logits);
  }
  if (!may_end) BanEnd();
  if (ngram_size_ > 0) BanRepeats();
  return penalized_;
}

// Whether finite logits are still finite.
bool Sampler::PenalizeScaled(std::span<const float> logits) {
  penalized_.assign(logits.begin(), logits.end());
  bool is_finite = true;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    float& logit = penalized_[id];
    logit *= static_cast<float>(scale_);
    if (!seen_[id]) continue;
    const bool was_finite = std::isfinite(logit);
    logit = logit > 0 ? logit / repetition_penalty_ : logit * repetition_penalty_;
    if (!counts_.empty() && counts_[id] > 0) {
      const double taken = options_.frequency_penalty * counts_[id] + options_.presence_penalty;
      logit -= static_cast<float>(taken * scale_);
    }
    is_finite = is_finite && (std::isfinite(logit) || !was_finite);
  }
  return is_finite;
}

// Rules out the tokens that end the text.
void Sampler::BanEnd() {
  for (const std::int32_t id : options_.eos_token_ids) {
    const auto index = static_cast<std::size_t>(id);
    if (index < penalized_.size()) penalized_[index] = kRuledOut;
  }
}

// Rules out each token that would complete an n-gram of the history, as transformers'
// NoRepeatNGramLogitsProcessor does, unless that would leave no token.
void Sampler::BanRepeats() {
  const std::size_t before = ngram_size_ - 1;  // tokens of an n-gram before its last
  if (history_.size() <= before) return;
  const auto allowed = [](float logit) { return logit != kRuledOut; };
  auto left = std::count_if(penalized_.begin(), penalized_.end(), allowed);
  const auto end = history_.end() - static_cast<std::ptrdiff_t>(before);
  for (auto begin = history_.begin(); begin != end; ++begin) {
    if (!std::equal(end, history_.end(), begin)) continue;
    float& logit = penalized_[static_cast<std::size_t>(begin[static_cast<std::ptrdiff_t>(before)])];
    if (logit == kRuledOut) continue;
    if (left == 1) return;
    logit = kRuledOut;
    --left;
  }
}

std::int32_t Sampler::Sample(std::span<const float> raw_logits) {
  const std::span<const float> logits = Penalize(raw_logits);
  if (options_.temperature == 0.0) {
    SelectTop(logits, 1, candidates_);
    return candidates_[0].id;
  }
  if (top_k_ < logits.size()) {
    SelectTop(logits, top_k_, candidates_);
  } else {
    candidates_.clear();
    for (std::size_t id = 0; id < logits.size(); ++id) {
      candidates_.push_back({static_cast<std::int32_t>(id), logits[id]});
    }
  }
  best_logit_ = std::min_element(candidates_.begin(), candidates_.end(), RanksBefore)->logit;
  if (options_.top_p < 1.0) KeepTopP();
  return Draw();
}

// Relative to the best one, and divided by the temperature.
double Sampler::ScaledLogit(const Candidate& candidate) const {
  return static_cast<double>(candidate.logit - best_logit_) / (options_.temperature * scale_);
}

double Sampler::WeightOf(const Candidate& candidate) const {
  if (candidate.logit == kRuledOut) return 0;
  return static_cast<double>(Exp(static_cast<float>(ScaledLogit(candidate))));
}

// Keeps the most probable tokens that reach top_p. A heap sorts no more of them than needed.
void Sampler::KeepTopP() {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += WeightOf(candidate);
  const auto ranks_behind = [](const Candidate& a, const Candidate& b) {
    return RanksBefore(b, a);
  };
  std::make_heap(candidates_.begin(), candidates_.end(), ranks_behind);
  auto heap_end = candidates_.end();  // kept tokens gather behind it, the most probable last
  double kept = 0;
  do {
    std::pop_heap(candidates_.begin(), heap_end, ranks_behind);
    --heap_end;
    kept += WeightOf(*heap_end);
  } while (heap_end != candidates_.begin() && kept < options_.top_p * total);
  candidates_.erase(candidates_.begin(), heap_end);
  std::reverse(candidates_.begin(), candidates_.end());
}

// Leaves weight only to the candidates whose surprise, -log(probability), is closest to the
// expected one, until they hold typical_p of `total`. Returns the weight that is left.
double Sampler::KeepTypical(double total) {
  const double log_total = Log(total);
  double expected = 0;
  surprises_.clear();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (weights_[i] == 0) continue;
    // No weight is below Exp's smallest, so no surprise is infinite.
    const double scaled = std::max(ScaledLogit(candidates_[i]), static_cast<double>(kExpMin));
    const double surprise = log_total - scaled;
    surprises_.push_back({surprise, i});
    expected += weights_[i] / total * surprise;
  }
  for (Surprise& each : surprises_) each.distance = std::abs(each.distance - expected);
  const auto is_farther = [](const Surprise& a, const Surprise& b) {
    return a.distance != b.distance ? a.distance > b.distance : a.candidate > b.candidate;
  };
  std::make_heap(surprises_.begin(), surprises_.end(), is_farther);
  double kept = 0;
  double last = 0;
  auto heap_end = surprises_.end();
  while (heap_end != surprises_.begin() &&
         (kept == 0 || kept < options_.typical_p * total || surprises_.front().distance == last)) {
    std::pop_heap(surprises_.begin(), heap_end, is_farther);
    --heap_end;
    last = heap_end->distance;
    kept += weights_[heap_end->candidate];
  }
  for (auto each = surprises_.begin(); each != heap_end; ++each) weights_[each->candidate] = 0;
  return kept;
}

std::int32_t Sampler::Draw() {
  weights_.clear();
  double total = 0;
  for (const Candidate& candidate : candidates_) {
    const double weight = WeightOf(candidate);
    weights_.push_back(weight < options_.min_p ? 0.0 : weight);  // the best weighs 1
    total += weights_.back();
  }
  if (options_.typical_p < 1.0) total = KeepTypical(total);
  double unit = random_.NextUnit();
  return candidates_[Pick(total, unit)].id;
}

std::size_t Sampler::Choose(std::vector<double> logprobs,
                            FunctionRef<bool(std::size_t)> is_allowed) {
  const double temperature = std::max(options_.temperature, std::numeric_limits<double>::min());
  double unit = options_.temperature > 0 ? random_.NextUnit() : 0;
  while (true) {
    const double best = *std::ranges::max_element(logprobs);
    weights_.clear();
    double total = 0;
    for (const double logprob : logprobs) {
      const double scaled = (logprob - best) / temperature;
      const bool is_small = scaled < static_cast<double>(kExpMin);
      weights_.push_back(is_small ? 0.0 : static_cast<double>(Exp(static_cast<float>(scaled))));
      total += weights_.back();
    }
    const std::size_t chosen = Pick(total, unit);
    if (is_allowed(chosen)) return chosen;
    logprobs[chosen] = -std::numeric_limits<double>::infinity();
  }
}

// Chooses from weights_, whose sum is `total`, by a random number in [0, 1). Replaces it by its
// place within the chosen weight's part of that range: again a random number in [0, 1).
std::size_t Sampler::Pick(double total, double& unit) const {
  double left = unit * total;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] == 0) continue;
    chosen = i;
    left -= weights_[i];
    if (left < 0) break;
  }
  unit = 1 + left / weights_[chosen];
  return chosen;
}

}  // namespace gpt2
