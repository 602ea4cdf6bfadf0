// Generations and scorings, and their tokens as JSON.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/api/engine.h"
#include "engine/api/options_json.h"
#include "engine/api/requests.h"

namespace gpt2 {
namespace {

// How far a generation is, and how it ended.
void WriteState(const Session& session, JsonWriter& out) {
  const PrefillProgress& prefill = session.prefill();
  out.Member("readTokens", prefill.done).Member("totalTokens", prefill.total);
  out.Member("isDone", session.is_done());
  if (!session.is_done()) return;
  out.Key("finishReasons").Open('[');
  for (std::size_t i = 0; i < session.continuations(); ++i) {
    out.Value(FinishReasonName(session.finish(i)));
  }
  out.Close(']').Member("droppedTokens", session.dropped_tokens());
  out.Member("draftedTokens", session.drafted_tokens());
  out.Member("acceptedTokens", session.accepted_tokens());
}

// "id", "text" and "logprob" of a token, none for the first of a scored text.
void WriteToken(const Gpt2Engine& engine, std::int32_t id, std::optional<float> logprob,
                JsonWriter& out) {
  const bool has_text =
      engine.tokenizer && static_cast<std::size_t>(id) < engine.tokenizer->vocab_size();
  out.Open('{').Member("id", id);
  out.Member("text", has_text ? engine.tokenizer->TokenBytes(id) : std::string_view());
  out.Key("logprob");
  if (logprob) {
    out.Value(double{*logprob});
  } else {
    out.Null();
  }
  out.Close('}');
}

void WriteGenerated(const Gpt2Engine& engine, const GeneratedToken& token, JsonWriter& out) {
  out.Open('{').Member("index", token.continuation).Member("id", token.id);
  out.Member("text", std::string_view(token.text)).Member("logprob", double{token.logprob});
  if (!token.top.empty()) {
    out.Key("top").Open('[');
    for (const TokenLogprob& other : token.top) WriteToken(engine, other.id, other.logprob, out);
    out.Close(']');
  }
  out.Close('}');
}

Result<std::size_t> ReadStride(const Json& options, std::size_t capacity) {
  GPT2_TRY(CheckNames(options, "options", {"stride"}));
  const Json* const given = FindMember(options, "stride");
  if (given == nullptr) return std::max<std::size_t>(1, capacity / 2);
  const auto stride = WholeNumber(*given, 1, static_cast<std::int64_t>(capacity) - 1);
  if (stride) return static_cast<std::size_t>(*stride);
  return Misuse("stride is " + Shown(*given) + ", expected a whole number from 1 to " +
                std::to_string(capacity - 1));
}

// How far a scoring is, and the tokens whose `logprobs` are new; at its beginning the first token,
// which has none.
void WriteScored(const Gpt2Engine& engine, std::span<const float> logprobs, JsonWriter& out) {
  const Scorer& scorer = *engine.scorer;
  const std::span<const std::int32_t> ids = scorer.ids();
  out.Open('{').Member("done", scorer.done()).Member("total", ids.size());
  out.Key("tokens").Open('[');
  if (scorer.done() == 1 && logprobs.empty()) WriteToken(engine, ids[0], {}, out);
  for (std::size_t i = 0; i < logprobs.size(); ++i) {
    WriteToken(engine, ids[scorer.done() - logprobs.size() + i], logprobs[i], out);
  }
  out.Close(']').Close('}');
}

}  // namespace

Status Generate(Gpt2Engine& engine, const PromptBytes& prompt, std::string_view options_json,
                JsonWriter& out) {
  GPT2_TRY(NeedModel(engine));
  EndWork(engine);
  GPT2_ASSIGN(const ParsedJson json, ReadOptions(options_json));
  GPT2_ASSIGN(const GenerateOptions options, ReadGenerateOptions(*json));
  PromptTokens tokens(engine.context->config());
  GPT2_TRY(ForPromptIds(engine, prompt, options.allow_special,
                        [&](auto ids) { return tokens.Add(ids); }));
  const Tokenizer* tokenizer = engine.tokenizer ? &*engine.tokenizer : nullptr;
  GPT2_ASSIGN(engine.session, Session::Begin(*engine.context, tokenizer, tokens, options));
  out.Open('{').Member("promptTokens", tokens.size());
  out.Member("reusedTokens", engine.session->reused_tokens());
  WriteState(*engine.session, out);
  out.Close('}');
  return Done{};
}

Status Step(Gpt2Engine& engine, JsonWriter& out) {
  if (!engine.session || engine.session->is_done()) return Misuse("no generation is under way");
  const auto tokens = engine.session->Step();
  if (!tokens.ok()) {
    engine.session.reset();
    return tokens.error();
  }
  out.Open('{').Key("tokens").Open('[');
  for (const GeneratedToken& token : tokens.value()) WriteGenerated(engine, token, out);
  out.Close(']');
  WriteState(*engine.session, out);
  out.Close('}');
  return Done{};
}

Status Suspend(Gpt2Engine& engine, JsonWriter& out) {
  if (!engine.session || engine.session->is_done()) return Misuse("no generation is under way");
  engine.session->Suspend();
  const std::uint32_t number = engine.next_number++;
  engine.suspended.emplace(number, std::move(*engine.session));
  engine.session.reset();
  out.Value(number);
  return Done{};
}

Status Resume(Gpt2Engine& engine, std::uint32_t number, JsonWriter& out) {
  const auto found = engine.suspended.find(number);
  if (found == engine.suspended.end()) {
    return Misuse("no generation " + std::to_string(number) + " is set aside");
  }
  engine.scorer.reset();
  engine.session.emplace(std::move(found->second));
  engine.suspended.erase(found);
  if (const Status resumed = engine.session->Resume(); !resumed.ok()) {
    engine.session.reset();
    return resumed.error();
  }
  out.Open('{').Close('}');
  return Done{};
}

Status Score(Gpt2Engine& engine, const PromptBytes& text, std::string_view options_json,
             JsonWriter& out) {
  GPT2_TRY(NeedModel(engine));
  EndWork(engine);
  GPT2_ASSIGN(const ParsedJson options, ReadOptions(options_json));
  GPT2_ASSIGN(const std::size_t stride, ReadStride(*options, engine.context->config().n_positions));
  std::vector<std::int32_t> ids;
  GPT2_TRY(ForPromptIds(engine, text, /*special=*/false, [&](auto portion) -> Status {
    ids.insert(ids.end(), portion.begin(), portion.end());
    return Done{};
  }));
  GPT2_ASSIGN(engine.scorer, Scorer::Begin(*engine.context, std::move(ids), stride));
  WriteScored(engine, {}, out);
  return Done{};
}

Status ScoreStep(Gpt2Engine& engine, JsonWriter& out) {
  if (!engine.scorer || engine.scorer->is_done()) return Misuse("no scoring is under way");
  const auto logprobs = engine.scorer->Step();
  if (!logprobs.ok()) {
    engine.scorer.reset();
    return logprobs.error();
  }
  WriteScored(engine, logprobs.value(), out);
  return Done{};
}

}  // namespace gpt2
