// `gpt2-weights eval`: the perplexity of a text, and the KL divergence from another model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>

#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/context.h"
#include "engine/generate/scorer.h"
#include "engine/model/config.h"
#include "engine/model/weight_format.h"
#include "engine/text/quoted.h"
#include "engine/text/text_encoder.h"
#include "weights_tools/commands.h"
#include "weights_tools/files.h"
#include "weights_tools/progress.h"
#include "weights_tools/runner.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {

namespace {

// KL divergence in nats per token: what a token of the original's text costs more under the model.
// The sum over the vocabulary is in double.
double KlDivergence(std::span<const float> original, std::span<const float> model) {
  const auto log_sum = [](std::span<const float> logits) {
    const double most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - most);
    return most + std::log(sum);
  };
  const double original_sum = log_sum(original), model_sum = log_sum(model);
  double divergence = 0;
  for (std::size_t id = 0; id < original.size(); ++id) {
    const double log_p = original[id] - original_sum;
    divergence += std::exp(log_p) * (log_p - (model[id] - model_sum));
  }
  return divergence;
}

// How much `model` differs from its original, over consecutive windows of the whole context.
struct Difference {
  double kl_divergence = 0;   // mean, nats per token
  double top1_agreement = 0;  // share of positions where both rank the same token first
};

Result<Difference> Compare(Context& model, Context& original, std::span<const std::int32_t> ids) {
  const Config& config = model.config();
  const Config& other_config = original.config();
  if (config.vocab_size != other_config.vocab_size ||
      config.n_positions != other_config.n_positions) {
    const auto sizes = [](const Config& c) {
      return "vocab_size " + std::to_string(c.vocab_size) + " and n_positions " +
             std::to_string(c.n_positions);
    };
    return Error{ErrorCode::kInvalidArgument, "--original is another model: expected " +
                                                  sizes(config) + ", found " + sizes(other_config)};
  }
  const auto top1 = [](std::span<const float> x) {
    return std::max_element(x.begin(), x.end()) - x.begin();
  };
  Difference sum;
  const std::size_t capacity = config.n_positions;
  Progress progress("comparing with the original");
  for (std::size_t start = 0; start < ids.size(); start += capacity) {
    const auto window = ids.subspan(start, std::min(capacity, ids.size() - start));
    for (Context* context : {&model, &original}) {
      context->sequence().ClearCache();
      context->sequence().SetWindow(window);
    }
    while (!model.sequence().is_current()) {
      const Pass pass = model.Prefill(model.sequence(), Context::kLogitTokens);
      const Pass other = original.Prefill(original.sequence(), Context::kLogitTokens);
      GPT2_ASSIGN(const MatView<const float> ours, pass.Logits(0, pass.tokens()));
      GPT2_ASSIGN(const MatView<const float> theirs, other.Logits(0, other.tokens()));
      for (std::size_t row = 0; row < ours.rows; ++row) {
        sum.kl_divergence += KlDivergence(theirs.Row(row), ours.Row(row));
        if (top1(ours.Row(row)) == top1(theirs.Row(row))) sum.top1_agreement += 1;
      }
      progress.Update(start + model.sequence().cached(), ids.size());
    }
  }
  const auto count = static_cast<double>(ids.size());
  return Difference{sum.kl_divergence / count, sum.top1_agreement / count};
}

}  // namespace

Status Evaluate(const std::string& folder, const std::string& file, const std::string& original,
                std::size_t stride, const RunOptions& run, bool json) {
  GPT2_ASSIGN(const std::string text, ReadFile(file));
  GPT2_ASSIGN(const auto runner, MakeRunner(folder, run));
  // Documents are separated by the end-of-text token, as in training.
  GPT2_ASSIGN(const auto ids, PromptIds(*runner, {.text = text, .ids = {}}, /*allow_special=*/true,
                                        TextEnds::kWith));
  if (ids.size() < 2) {
    return Error{ErrorCode::kInvalidArgument,
                 file + " has " + std::to_string(ids.size()) + " tokens, expected at least 2"};
  }
  if (stride == 0) stride = std::max<std::size_t>(1, runner->context->config().n_positions / 2);
  const auto start = std::chrono::steady_clock::now();
  GPT2_ASSIGN(Scorer scorer, Scorer::Begin(*runner->context, ids, stride));
  double sum = 0;
  {
    Progress progress("evaluating " + folder);
    while (!scorer.is_done()) {
      GPT2_ASSIGN(const std::span<const TokenScore> scores, scorer.Step());
      for (const TokenScore& score : scores) sum -= score.logprob;
      progress.Update(scorer.done(), ids.size());
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto count = static_cast<double>(ids.size() - 1);
  const double perplexity = std::exp(sum / count);
  if (!std::isfinite(perplexity)) {
    return Error{ErrorCode::kUnsupported,
                 "the perplexity of " + file + " is e^" + std::to_string(sum / count) +
                     ", too large for a number: check whether the weights are damaged"};
  }
  Json result = {{"tokens", ids.size()},
                 {"stride", stride},
                 {"loss", sum / count},
                 {"perplexity", perplexity},
                 {"tokens_per_second", count / seconds.count()},
                 {"threads", runner->pool->threads()},
                 {"kernels", runner->compute.kernels->name}};
  std::optional<Difference> difference;
  if (!original.empty()) {
    RunOptions as_it_is = run;
    as_it_is.weights.reset();
    as_it_is.adapters.clear();
    GPT2_ASSIGN(const auto other, MakeRunner(original, as_it_is, WeightFormat::kF32));
    GPT2_ASSIGN(difference, Compare(*runner->context, *other->context, ids));
    result["kl_divergence"] = difference->kl_divergence;
    result["top1_agreement"] = difference->top1_agreement;
  }
  if (json) {
    PrintJson(result);
  } else {
    std::printf(
        "%s on %s: perplexity %.4f (loss %.5f nats per token), %zu tokens, windows of %zu that "
        "advance by %zu, %.0f tokens/s with %zu threads\n",
        Visible(folder).c_str(), Visible(file).c_str(), perplexity, sum / count, ids.size(),
        runner->context->config().n_positions, stride, count / seconds.count(),
        runner->pool->threads());
    if (difference) {
      std::printf("compared with %s: KL divergence %.6f nats per token, top-1 agreement %.2f %%\n",
                  Visible(original).c_str(), difference->kl_divergence,
                  100 * difference->top1_agreement);
    }
  }
  return Done{};
}

}  // namespace gpt2::tools
