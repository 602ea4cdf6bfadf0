#include "engine/api/engine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/api/options_json.h"
#include "engine/base/function_ref.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "engine/generate/thread_tuner.h"

namespace gpt2 {
namespace {

Error Misuse(const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, what};
}

// Ids that are handed on at once.
constexpr std::size_t kPortion = 4096;

Status NeedModel(const Gpt2Engine& engine) {
  if (!engine.context) return Misuse("no model is loaded");
  return Done{};
}

Status NeedTokenizer(const Gpt2Engine& engine, const char* so) {
  if (engine.tokenizer) return Done{};
  return Error{ErrorCode::kNotFound,
               std::string("the model folder has no vocab.json and merges.txt") + so};
}

// Gives the ids of `prompt` to `take` as they come.
Status ForPromptIds(const Gpt2Engine& engine, const PromptBytes& prompt, bool special,
                    FunctionRef<Status(std::span<const std::int32_t> ids)> take) {
  std::array<std::int32_t, kPortion> portion;
  if (prompt.is_ids) {
    // Copied, as nobody promises that the bytes are aligned.
    std::string_view rest = prompt.bytes;
    while (rest.size() >= sizeof portion[0]) {
      const std::size_t bytes =
          std::min(rest.size(), sizeof portion) / sizeof portion[0] * sizeof portion[0];
      std::memcpy(portion.data(), rest.data(), bytes);
      GPT2_TRY(take(std::span(portion).first(bytes / sizeof portion[0])));
      rest.remove_prefix(bytes);
    }
    return Done{};
  }
  GPT2_TRY(NeedTokenizer(engine, ": only token ids work"));
  Encoding encoding(*engine.tokenizer, prompt.bytes,
                    special ? SpecialTokens::kAllowed : SpecialTokens::kAsText);
  while (!encoding.is_done()) {
    GPT2_ASSIGN(const std::size_t count, encoding.Next(portion));
    GPT2_TRY(take(std::span(portion).first(count)));
  }
  return Done{};
}

// "q8" or "f32" where `options` ask for one.
Result<std::optional<KvFormat>> ReadKvFormat(std::string_view options) {
  using Format = std::optional<KvFormat>;
  GPT2_ASSIGN(const ParsedJson json, ParseRequest(options, "the load options"));
  GPT2_TRY(CheckNames(*json, "the load options", {"kv"}));
  const Json* const kv = FindMember(*json, "kv");
  if (kv == nullptr || kv->is_null()) return Format();
  if (IsText(*kv, "q8")) return Format(KvFormat::kQ8);
  if (IsText(*kv, "f32")) return Format(KvFormat::kF32);
  return Misuse("kv is " + Shown(*kv) + ", expected \"q8\" or \"f32\"");
}

Status NeedLoad(const Gpt2Engine& engine) {
  if (engine.load_error) return *engine.load_error;
  if (!engine.reader) return Misuse("no load has begun");
  return Done{};
}

// Options that are an object, or nothing.
Result<ParsedJson> ReadOptions(std::string_view text) {
  if (text.empty()) return ParsedJson(Json::object());
  return ParseRequest(text, "options");
}

// How far a generation is, and how it ended.
void WriteState(const Session& session, JsonWriter& out) {
  out.Member("readTokens", session.read_tokens()).Member("totalTokens", session.total_tokens());
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

void EndWork(Gpt2Engine& engine) {
  engine.encoding.reset();
  engine.session.reset();
  engine.scorer.reset();
}

void Unload(Gpt2Engine& engine) {
  EndWork(engine);
  engine.suspended.clear();
  engine.context.reset();
  engine.tokenizer.reset();
  engine.weights.reset();
  engine.reader.reset();
}

Status LoadBegin(Gpt2Engine& engine, std::string_view config_json, std::string_view vocab,
                 std::string_view merges, std::string_view options, JsonWriter& out) {
  Unload(engine);
  engine.load_error.reset();
  GPT2_ASSIGN(const ModelConfig config, ReadConfigJson(config_json));
  GPT2_ASSIGN(engine.kv_format, ReadKvFormat(options));
  if (!vocab.empty() || !merges.empty()) {
    GPT2_ASSIGN(engine.tokenizer, ReadTokenizer(vocab, merges, config.config.vocab_size));
  }
  // A hub folder is quantized as it streams; what was converted to floats on purpose stays so.
  const bool is_hub = config.weights == StoredWeights::kHub;
  engine.reader.emplace(config, is_hub ? WeightFormat::kQ8 : WeightFormat::kF32);
  out.Open('{').Close('}');
  return Done{};
}

Status LoadWeights(Gpt2Engine& engine, std::span<const std::byte> bytes, JsonWriter& out) {
  GPT2_TRY(NeedLoad(engine));
  GPT2_TRY(engine.reader->Feed(bytes));
  out.Open('{').Close('}');
  return Done{};
}

Status Info(const Gpt2Engine& engine, JsonWriter& out) {
  GPT2_TRY(NeedModel(engine));
  const Weights& weights = *engine.weights;
  const Config& c = weights.config;
  out.Open('{').Key("config").Open('{');
  out.Member("nEmbd", c.n_embd).Member("nHead", c.n_head).Member("nLayer", c.n_layer);
  out.Member("nPositions", c.n_positions).Member("nInner", c.n_inner);
  out.Member("vocabSize", c.vocab_size).Key("eosTokenId");
  if (c.eos_token_id) {
    out.Value(*c.eos_token_id);
  } else {
    out.Null();
  }
  out.Member("tieWordEmbeddings", c.tie_word_embeddings).Close('}');
  out.Member("parameters", weights.parameter_count);
  out.Member("weights", std::string_view(WeightFormatName(weights.format())));
  out.Member("kv", std::string_view(*engine.kv_format == KvFormat::kQ8 ? "q8" : "f32"));
  out.Member("weightBytes", weights.bytes).Member("contextBytes", engine.context->bytes());
  out.Member("threads", engine.pool.threads());
  out.Member("kernels", std::string_view(BestKernels().name));
  out.Member("hasTokenizer", engine.tokenizer.has_value()).Close('}');
  return Done{};
}

Status LoadEnd(Gpt2Engine& engine, JsonWriter& out) {
  GPT2_TRY(NeedLoad(engine));
  GPT2_ASSIGN(engine.weights, engine.reader->Finish());
  engine.reader.reset();
  if (!engine.kv_format) engine.kv_format = DefaultKvFormat(engine.weights->format());
  GPT2_ASSIGN(engine.context,
              Context::Create(*engine.weights, {&BestKernels(), &engine.pool}, *engine.kv_format));
  return Info(engine, out);
}

Status Tune(Gpt2Engine& engine, JsonWriter& out) {
  GPT2_TRY(NeedModel(engine));
  EndWork(engine);
  out.Open('{').Member("threads", TuneThreads(*engine.context)).Close('}');
  return Done{};
}

Status Tokenize(Gpt2Engine& engine, std::string_view text, std::string_view options_json,
                JsonWriter& out) {
  engine.encoding.reset();
  GPT2_TRY(NeedModel(engine));
  GPT2_ASSIGN(const ParsedJson options, ReadOptions(options_json));
  GPT2_TRY(CheckNames(*options, "options", {"allowSpecial"}));
  GPT2_ASSIGN(const bool special, ReadFlag(*options, "allowSpecial"));
  GPT2_TRY(NeedTokenizer(engine, ""));
  engine.encoding.emplace(*engine.tokenizer, text,
                          special ? SpecialTokens::kAllowed : SpecialTokens::kAsText);
  out.Open('{').Close('}');
  return Done{};
}

Status TokenizeStep(Gpt2Engine& engine, JsonWriter& out) {
  if (!engine.encoding) return Misuse("no text is being tokenized");
  engine.ids.resize(kPortion);
  GPT2_ASSIGN(const std::size_t count, engine.encoding->Next(engine.ids));
  const bool is_done = engine.encoding->is_done();
  if (is_done) engine.encoding.reset();
  out.Open('{').Member("count", count).Member("isDone", is_done).Close('}');
  return Done{};
}

Status Detokenize(Gpt2Engine& engine, const PromptBytes& ids, JsonWriter& out) {
  GPT2_TRY(NeedModel(engine));
  GPT2_TRY(NeedTokenizer(engine, ""));
  std::string bytes;
  GPT2_TRY(ForPromptIds(engine, ids, /*special=*/false, [&](auto portion) -> Status {
    GPT2_ASSIGN(const std::string decoded, engine.tokenizer->Decode(portion));
    bytes += decoded;
    return Done{};
  }));
  out.Value(bytes);
  return Done{};
}

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
