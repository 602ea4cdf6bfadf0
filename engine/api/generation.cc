// Generations and scorings.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/api.h"
#include "engine/api/engine.h"
#include "engine/api/options_json.h"
#include "engine/api/reply.h"
#include "engine/api/requests.h"
#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/generate/context.h"
#include "engine/generate/log_softmax.h"
#include "engine/generate/options.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/sampler.h"
#include "engine/generate/scorer.h"
#include "engine/generate/sequence.h"
#include "engine/generate/session.h"
#include "engine/model/config.h"
#include "engine/model/hooks.h"
#include "engine/text/text_encoder.h"

namespace gpt2 {
namespace {

std::string_view TextOf(const Gpt2Engine& engine, std::int32_t id) {
  return engine.tokenizer ? engine.tokenizer->TokenBytes(id) : std::string_view();
}

void WriteGenerated(Gpt2Engine& engine, std::span<const GeneratedToken> tokens) {
  const PrefillProgress& prefill = engine.session->prefill();
  engine.output.Begin(prefill.done, prefill.total, engine.session->is_done());
  for (const GeneratedToken& token : tokens) {
    const auto index = static_cast<std::uint32_t>(token.continuation);
    const auto top_count = static_cast<std::uint32_t>(token.top.size());
    engine.output.Add({.index = index,
                       .id = token.id,
                       .logprob = token.logprob,
                       .top_count = top_count,
                       .rank = token.rank,
                       .healed = static_cast<std::uint32_t>(token.healed)},
                      token.text);
    for (const TokenLogprob& other : token.top) {
      engine.output.Add({.index = index, .id = other.id, .logprob = other.logprob},
                        TextOf(engine, other.id));
    }
  }
}

// Tokens that a prefill runs at once. A request that arrives meanwhile waits for so many tokens,
// about 50 ms with GPT-2 124M on two threads. Fewer would read the weights too often.
constexpr std::size_t kAheadTokens = 16;

// The tokens whose `scores` are new.
void WriteScored(Gpt2Engine& engine, std::span<const TokenScore> scores) {
  const Scorer& scorer = *engine.scorer;
  engine.output.Begin(scorer.done(), scorer.ids().size(), scorer.is_done());
  const std::size_t first = scorer.done() - scores.size();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::int32_t id = scorer.ids()[first + i];
    engine.output.Add({.id = id, .logprob = scores[i].logprob, .rank = scores[i].rank},
                      TextOf(engine, id));
  }
}

// The whole number `name` of `options`, in [least, most]; `otherwise` if it is missing.
Result<std::size_t> ReadCount(const Json& options, const char* name, std::size_t least,
                              std::size_t most, std::size_t otherwise) {
  const Json* const given = FindMember(options, name);
  if (given == nullptr) return otherwise;
  const auto count =
      WholeNumber(*given, static_cast<std::int64_t>(least), static_cast<std::int64_t>(most));
  if (count) return static_cast<std::size_t>(*count);
  return Misuse(
      Concat(name, " is ", Shown(*given), ", expected a whole number from ", least, " to ", most));
}

}  // namespace

Status Generate(Gpt2Engine& engine, const PromptBytes& prompt, std::string_view options_json,
                JsonWriter& out) {
  // First, so that they cannot reach another request if this one fails.
  std::vector<double> hooks = std::exchange(engine.hooks, {});
  GPT2_TRY(NeedModel(engine));
  EndWork(engine);
  GPT2_ASSIGN(const ParsedJson json, ReadOptions(options_json));
  GPT2_ASSIGN(const GenerateOptions options, ReadGenerateOptions(*json, engine.defaults));
  PromptTokens tokens(engine.context->config());
  GPT2_TRY(ForPromptIds(engine, prompt, options.allow_special, TextEnds::kBeginning,
                        [&](auto ids) { return tokens.Add(ids); }));
  const Tokenizer* tokenizer = engine.tokenizer ? &*engine.tokenizer : nullptr;
  GPT2_ASSIGN(Context* const context, ContextOf(engine, std::move(hooks), tokens.size()));
  GPT2_ASSIGN(engine.session, Session::Begin(*context, tokenizer, tokens, options));
  out.Open('{').Member("promptTokens", tokens.size());
  out.Member("reusedTokens", engine.session->reused_tokens());
  out.Member("healedTokens", engine.session->healed_tokens()).Close('}');
  WriteGenerated(engine, {});
  return Done{};
}

Status Step(Gpt2Engine& engine) {
  if (!engine.session || engine.session->is_done()) return Misuse("no generation is under way");
  const auto tokens = engine.session->Step();
  if (!tokens.ok()) {
    engine.session.reset();
    return tokens.error();
  }
  WriteGenerated(engine, tokens.value());
  return Done{};
}

Status PrefillStep(Gpt2Engine& engine) {
  if (!engine.session || !engine.session->is_done()) return Misuse("no prefill is under way");
  Context& context = engine.session->context();
  Sequence& sequence = context.sequence();
  const std::size_t ahead = sequence.pending() - std::min<std::size_t>(sequence.pending(), 1);
  if (ahead > 0) {
    const std::size_t first = sequence.cached();
    const Pass pass = context.Prefill(sequence, std::min(kAheadTokens, ahead));
    if (context.hooks() != nullptr && context.hooks() == engine.changes &&
        engine.changes->Captures(Place::kLogits, first, pass.tokens())) {
      GPT2_TRY(pass.Logits(0, pass.tokens()));
    }
  }
  engine.output.Begin(sequence.cached(), sequence.window().size(), ahead <= kAheadTokens);
  return Done{};
}

Status Inspect(Gpt2Engine& engine, std::size_t top) {
  const bool is_ready = engine.session && engine.session->is_done() &&
                        engine.session->context().sequence().pending() == 1;
  if (!is_ready) return Misuse("no text is prefilled");
  Context& context = engine.session->context();
  const Config& config = context.config();
  const std::size_t tokens = context.sequence().window().size();
  const std::size_t heads = config.n_layer * config.n_head;
  engine.attention.resize(heads * tokens);
  std::vector<float> stages((config.n_layer + 1) * config.n_embd);
  const auto residuals = DenseView(stages.data(), config.n_layer + 1, config.n_embd);
  const Pass pass = context.Inspect(residuals, DenseView(engine.attention.data(), heads, tokens));
  std::vector<Candidate> best;
  std::vector<Gpt2Token> last;
  // Adds the guesses of a stage to `output`, or to `last`.
  const auto guess = [&](std::size_t stage, const Result<MatView<const float>>& lens) -> Status {
    if (!lens.ok()) return lens.error();
    const std::span<const float> logits = lens.value().Row(0);
    const LogSoftmax logprob(context.compute(), logits);
    SelectTop(logits, top, best);
    for (const Candidate& c : best) {
      const auto index = static_cast<std::uint32_t>(stage);
      const Gpt2Token token{.index = index, .id = c.id, .logprob = logprob(c.logit)};
      if (stage == config.n_layer) {
        last.push_back(token);
      } else {
        engine.output.Add(token, TextOf(engine, c.id));
      }
    }
    return Done{};
  };
  engine.output.Begin(tokens, tokens, /*is_done=*/true);
  // First the logits of the pass, because Unembed overwrites what they are computed from.
  GPT2_TRY(guess(config.n_layer, pass.Logits(0, 1)));
  for (std::size_t stage = 0; top > 0 && stage < config.n_layer; ++stage) {
    const auto x = DenseView(residuals.Row(stage).data(), 1, config.n_embd);
    GPT2_TRY(guess(stage, context.Unembed(x)));
  }
  for (const Gpt2Token& token : last) engine.output.Add(token, TextOf(engine, token.id));
  return Done{};
}

Status Summary(const Gpt2Engine& engine, JsonWriter& out) {
  if (!engine.session || !engine.session->is_done()) return Misuse("no generation has finished");
  const Session& session = *engine.session;
  out.Open('{').Key("finishReasons").Open('[');
  for (std::size_t i = 0; i < session.continuations(); ++i) {
    out.Value(FinishReasonName(session.finish(i)));
  }
  out.Close(']').Member("droppedTokens", session.dropped_tokens());
  out.Member("draftedTokens", session.drafted_tokens());
  out.Member("acceptedTokens", session.accepted_tokens()).Close('}');
  return Done{};
}

Status Suspend(Gpt2Engine& engine, JsonWriter& out) {
  if (!engine.session || engine.session->is_done()) return Misuse("no generation is under way");
  engine.session->Suspend();
  engine.reply.reserve(engine.reply.size() +
                       16);  // for the number: after suspending, nothing may fail
  const std::uint32_t number = engine.next_number++;
  engine.suspended.emplace(number, std::move(*engine.session));
  engine.session.reset();
  out.Value(number);
  return Done{};
}

Status Resume(Gpt2Engine& engine, std::uint32_t number) {
  const auto found = engine.suspended.find(number);
  if (found == engine.suspended.end()) {
    return Misuse(Concat("no generation ", number, " is suspended"));
  }
  engine.scorer.reset();
  engine.session.emplace(std::move(found->second));
  engine.suspended.erase(found);
  if (const Status resumed = engine.session->Resume(); !resumed.ok()) {
    engine.session.reset();
    return resumed.error();
  }
  return Done{};
}

Status Score(Gpt2Engine& engine, const PromptBytes& text, std::string_view options_json) {
  std::vector<double> hooks = std::exchange(engine.hooks, {});  // first, as in Generate
  GPT2_TRY(NeedModel(engine));
  EndWork(engine);
  GPT2_ASSIGN(const ParsedJson options, ReadOptions(options_json));
  GPT2_TRY(CheckNames(*options, "options", {"stride", "start"}));
  const std::size_t capacity = engine.context->config().n_positions;
  GPT2_ASSIGN(const std::size_t stride, ReadCount(*options, "stride", 1, capacity - 1,
                                                  std::max<std::size_t>(1, capacity / 2)));
  std::vector<std::int32_t> ids;
  GPT2_TRY(
      ForPromptIds(engine, text, /*special=*/false, TextEnds::kWith, [&](auto portion) -> Status {
        ids.insert(ids.end(), portion.begin(), portion.end());
        return Done{};
      }));
  GPT2_ASSIGN(const std::size_t start, ReadCount(*options, "start", 0, ids.size(), 0));
  GPT2_ASSIGN(Context* const context, ContextOf(engine, std::move(hooks), ids.size()));
  GPT2_ASSIGN(engine.scorer, Scorer::Begin(*context, std::move(ids), stride, start));
  constexpr TokenScore kNone = {.logprob = std::numeric_limits<float>::quiet_NaN(), .rank = 0};
  // The model predicts a token from those before it, and the first has none.
  WriteScored(engine, std::span(&kNone, engine.scorer->done() - start));
  return Done{};
}

Status ScoreStep(Gpt2Engine& engine) {
  if (!engine.scorer || engine.scorer->is_done()) return Misuse("no scoring is under way");
  const auto scores = engine.scorer->Step();
  if (!scores.ok()) {
    engine.scorer.reset();
    return scores.error();
  }
  WriteScored(engine, scores.value());
  return Done{};
}

}  // namespace gpt2
