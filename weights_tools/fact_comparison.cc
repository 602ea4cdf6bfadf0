#include "weights_tools/fact_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/context.h"
#include "engine/generate/scorer.h"
#include "engine/generate/sequence.h"
#include "engine/model/config.h"
#include "engine/model/matrix.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "weights_tools/progress.h"
#include "weights_tools/published_facts.h"
#include "weights_tools/runner.h"

namespace gpt2::tools {
namespace {

using Ids = std::vector<std::int32_t>;

// For figures that were computed in float32 in another order.
constexpr double kLogitTolerance = 0.01;
constexpr double kLossTolerance = 0.001;
constexpr double kPerplexityTolerance = 0.05;  // published with two decimals, from other windows
// For quantized weights: the allowed rank of the published token, and the allowed increase of a
// perplexity.
constexpr std::size_t kQuantizedRank = 3;
constexpr double kMoreInQ8 = 0.005, kMoreInQ4 = 0.05;

constexpr const char* kNoTokenizer = "the model has no tokenizer";

std::string Rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

std::string ShownIds(std::span<const std::int32_t> ids) {
  return Json(Ids(ids.begin(), ids.end())).dump();
}

// Runs the comparisons and collects the findings.
class Comparison {
 public:
  Comparison(Runner& model, const Facts& facts) : model_(&model), facts_(&facts) {
    const WeightFormat format = model.model.weights->format();
    is_quantized_ = InfoOf(format).has_codes();
    most_more_ = format == WeightFormat::kQ4 ? kMoreInQ4 : is_quantized_ ? kMoreInQ8 : 0;
    for (const Release& release : facts.releases) {
      if (release.Fits(config())) release_ = &release;
    }
  }

  Result<std::vector<Finding>> Run(const std::optional<NamedText>& text) {
    CompareShape();
    GPT2_TRY(CompareTokens());
    for (const ContinuationFact& fact : facts_->continuations) GPT2_TRY(Compare(fact));
    for (const LogitFact& fact : facts_->logits) GPT2_TRY(Compare(fact));
    for (const LossFact& fact : facts_->losses) GPT2_TRY(Compare(fact));
    GPT2_TRY(ComparePerplexities(text));
    return std::move(findings_);
  }

 private:
  const Config& config() const { return model_->context->config(); }

  void Add(Verdict verdict, std::string fact, std::string expected, std::string found,
           std::string_view source) {
    findings_.push_back(
        {verdict, std::move(fact), std::move(expected), std::move(found), std::string(source)});
  }
  void Add(bool is_right, std::string fact, std::string expected, std::string found,
           std::string_view source) {
    Add(is_right ? Verdict::kPassed : Verdict::kFailed, std::move(fact), std::move(expected),
        std::move(found), source);
  }

  // Why a fact of `release` does not apply to this model; nothing if it does.
  std::optional<std::string> Misfit(std::string_view release, bool is_of_float32) const {
    if (release_ == nullptr || release_->name != release) {
      return "the fact is about " + std::string(release) + " only";
    }
    if (model_->tokenizer() == nullptr) return kNoTokenizer;
    if (is_of_float32 && is_quantized_) return "the fact is about float32 weights only";
    return std::nullopt;
  }

  Result<Ids> Encode(std::string_view text) const {
    return model_->tokenizer()->Encode(text, SpecialTokens::kAllowed);
  }

  void CompareShape() {
    const std::string shape = std::to_string(config().n_layer) + " layers, " +
                              std::to_string(config().n_head) + " heads, width " +
                              std::to_string(config().n_embd) + ", context " +
                              std::to_string(config().n_positions) + ", vocabulary " +
                              std::to_string(config().vocab_size);
    std::string names;
    for (const Release& release : facts_->releases) {
      names += (names.empty() ? "" : ", ") + std::string(release.name);
    }
    if (release_ == nullptr) {
      Add(Verdict::kFailed, "release", "one of " + names, shape, "");
      return;
    }
    Add(Verdict::kPassed, "release", std::string(release_->name), shape, release_->source);
    const std::size_t count = model_->model.weights->parameter_count;
    Add(count == release_->parameters, "parameters", std::to_string(release_->parameters),
        std::to_string(count), release_->source);
  }

  Status CompareTokens() {
    for (const TokenFact& fact : facts_->tokens) {
      const std::string what = "tokens of " + Quoted(fact.text);
      if (model_->tokenizer() == nullptr) {
        Add(Verdict::kNotApplicable, what, ShownIds(fact.ids), kNoTokenizer, fact.source);
        continue;
      }
      GPT2_ASSIGN(const Ids ids, Encode(fact.text));
      Add(std::ranges::equal(ids, fact.ids), what, ShownIds(fact.ids), ShownIds(ids), fact.source);
    }
    return Done{};
  }

  // Calls take(position, logits) with the logits after each of `ids`, which fit the context.
  Status ForLogits(const Ids& ids,
                   const std::function<void(std::size_t, std::span<const float>)>& take) {
    Sequence& sequence = model_->context->sequence();
    sequence.ClearCache();
    sequence.SetWindow(ids);
    while (!sequence.is_current()) {
      const std::size_t first = sequence.cached();
      const Pass pass = model_->context->Prefill(sequence, Context::kLogitTokens);
      GPT2_ASSIGN(const MatView<const float> logits, pass.Logits(0, pass.tokens()));
      for (std::size_t row = 0; row < logits.rows; ++row) take(first + row, logits.Row(row));
    }
    return Done{};
  }

  // After the published text before it, each published token must be the most probable one: then
  // the model writes it, too.
  Status Compare(const ContinuationFact& fact) {
    const std::string what = "greedy, after " + Quoted(fact.prompt);
    if (const auto why = Misfit(fact.release, /*is_of_float32=*/false)) {
      Add(Verdict::kNotApplicable, what, Quoted(fact.continuation), *why, fact.source);
      return Done{};
    }
    GPT2_ASSIGN(const Ids prompt, Encode(fact.prompt));
    GPT2_ASSIGN(const Ids ids, Encode(std::string(fact.prompt) + std::string(fact.continuation)));
    std::size_t lowest = 0, lowest_at = 0;
    GPT2_TRY(ForLogits(ids, [&](std::size_t position, std::span<const float> logits) {
      if (position + 1 < prompt.size() || position + 1 >= ids.size()) return;
      const float published = logits[static_cast<std::size_t>(ids[position + 1])];
      const auto rank = static_cast<std::size_t>(
          std::ranges::count_if(logits, [&](float logit) { return logit > published; }));
      if (rank <= lowest) return;
      lowest = rank;
      lowest_at = position + 1 - prompt.size();
    }));
    const bool is_right = is_quantized_ ? lowest < kQuantizedRank : lowest == 0;
    Add(is_right, what, Quoted(fact.continuation),
        lowest == 0
            ? "all " + std::to_string(ids.size() - prompt.size()) + " tokens have rank 1"
            : "token " + std::to_string(lowest_at) + " has only rank " + std::to_string(lowest + 1),
        fact.source);
    return Done{};
  }

  Status Compare(const LogitFact& fact) {
    const std::string what = "most probable after " + Quoted(fact.prompt);
    const auto shown = [](std::int32_t id, double logit) {
      return "token " + std::to_string(id) + " with the logit " + Rounded(logit);
    };
    if (const auto why = Misfit(fact.release, /*is_of_float32=*/true)) {
      Add(Verdict::kNotApplicable, what, shown(fact.id, fact.logit), *why, fact.source);
      return Done{};
    }
    GPT2_ASSIGN(const Ids ids, Encode(fact.prompt));
    std::int32_t best = 0;
    double logit = 0;
    GPT2_TRY(ForLogits(ids, [&](std::size_t, std::span<const float> logits) {
      const auto most = std::ranges::max_element(logits);
      best = static_cast<std::int32_t>(most - logits.begin());
      logit = *most;
    }));
    Add(best == fact.id && std::fabs(logit - fact.logit) <= kLogitTolerance, what,
        shown(fact.id, fact.logit), shown(best, logit), fact.source);
    return Done{};
  }

  // The total loss in nats of `ids` without the first.
  Result<double> LossOf(Ids ids, std::size_t stride) {
    GPT2_ASSIGN(Scorer scorer, Scorer::Begin(*model_->context, std::move(ids), stride));
    double sum = 0;
    while (!scorer.is_done()) {
      GPT2_ASSIGN(const std::span<const TokenScore> scores, scorer.Step());
      for (const TokenScore& score : scores) sum -= score.logprob;
    }
    return sum;
  }

  Status Compare(const LossFact& fact) {
    const std::string what = "nats per token of " + Quoted(fact.text);
    if (const auto why = Misfit(fact.release, /*is_of_float32=*/true)) {
      Add(Verdict::kNotApplicable, what, Rounded(fact.loss), *why, fact.source);
      return Done{};
    }
    GPT2_ASSIGN(const Ids ids, Encode("<|endoftext|>" + std::string(fact.text)));
    GPT2_ASSIGN(const double sum, LossOf(ids, config().n_positions - 1));
    const double loss = sum / static_cast<double>(ids.size() - 1);
    Add(std::fabs(loss - fact.loss) <= kLossTolerance, what, Rounded(fact.loss), Rounded(loss),
        fact.source);
    return Done{};
  }

  // As in transformers' guide to perplexity: windows that do not overlap count all their tokens,
  // although their first has no loss.
  Result<double> PerplexityOf(const Ids& ids, std::size_t stride) {
    Progress progress("perplexity");
    const auto count = static_cast<double>(ids.size());
    if (stride < config().n_positions) {
      GPT2_ASSIGN(const double sum, LossOf(ids, stride));
      return std::exp(sum / (count - 1));
    }
    double sum = 0;
    for (std::size_t start = 0; start + 1 < ids.size(); start += stride) {
      const auto from = ids.begin() + static_cast<std::ptrdiff_t>(start);
      const std::size_t size = std::min(stride, ids.size() - start);
      GPT2_ASSIGN(const double loss, LossOf(Ids(from, from + static_cast<std::ptrdiff_t>(size)),
                                            config().n_positions - 1));
      sum += loss / static_cast<double>(size - 1) * static_cast<double>(size);
      progress.Update(start + size, ids.size());
    }
    return std::exp(sum / count);
  }

  Status ComparePerplexities(const std::optional<NamedText>& text) {
    Ids ids;
    if (text && model_->tokenizer() != nullptr) {
      GPT2_ASSIGN(ids, Encode(text->text));
    }
    for (const PerplexityFact& fact : facts_->perplexities) {
      const std::string what = "perplexity of " + std::string(fact.text) + ", windows advance by " +
                               std::to_string(fact.stride);
      std::optional<std::string> why = Misfit(fact.release, /*is_of_float32=*/false);
      if (!why && !text) why = "the text is missing: give it with --text FILE";
      if (!why && ids.size() != fact.tokens) {
        why = text->name + " has " + std::to_string(ids.size()) +
              " tokens, the published text has " + std::to_string(fact.tokens);
      }
      if (why) {
        Add(Verdict::kNotApplicable, what, Rounded(fact.perplexity), *why, fact.source);
        continue;
      }
      GPT2_ASSIGN(const double found, PerplexityOf(ids, fact.stride));
      const double most = fact.perplexity * (1 + most_more_) + kPerplexityTolerance;
      const double least = fact.perplexity * (1 - most_more_) - kPerplexityTolerance;
      Add(found >= least && found <= most, what, Rounded(fact.perplexity), Rounded(found),
          fact.source);
    }
    return Done{};
  }

  Runner* model_;
  const Facts* facts_;
  const Release* release_ = nullptr;  // the model's release
  bool is_quantized_ = false;
  double most_more_ = 0;  // allowed relative increase of a perplexity
  std::vector<Finding> findings_;
};

}  // namespace

Result<std::vector<Finding>> CompareWithFacts(Runner& model, const Facts& facts,
                                              const std::optional<NamedText>& text) {
  return Comparison(model, facts).Run(text);
}

}  // namespace gpt2::tools
