#include "engine/api/api.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/options_json.h"
#include "engine/base/thread_pool.h"
#include "engine/format/config_json.h"
#include "engine/format/sha256.h"
#include "engine/format/vocabulary_files.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/scorer.h"
#include "engine/generate/session.h"
#include "engine/generate/thread_tuner.h"

// Everything that a loaded model is. Later members borrow earlier ones.
struct Gpt2Engine {
  explicit Gpt2Engine(std::size_t threads) : pool(threads) {}

  gpt2::ThreadPool pool;
  std::optional<gpt2::KvFormat> kv_format;   // as asked for; once loaded, as it is
  std::optional<gpt2::WeightReader> reader;  // during a load
  std::optional<gpt2::Error> load_error;     // of the load that failed last, until the next begins
  std::unique_ptr<gpt2::Weights> weights;
  std::optional<gpt2::Tokenizer> tokenizer;
  std::optional<gpt2::Context> context;
  std::optional<gpt2::Session> session;
  std::map<std::uint32_t, gpt2::Session> suspended;  // by the number that was given out
  std::uint32_t next_number = 1;
  std::optional<gpt2::Scorer> scorer;
  std::vector<std::int32_t> scored_ids;
  std::string reply;
};

namespace gpt2 {
namespace {

Error Misuse(const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, what};
}

const char* Reply(Gpt2Engine* engine, const Result<Json>& result) {
  Json reply;
  if (result.ok()) {
    reply["result"] = result.value();
  } else {
    reply["error"] = {{"code", ErrorCodeName(result.error().code)},
                      {"message", result.error().message}};
  }
  engine->reply = reply.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  return engine->reply.c_str();
}

// Valid UTF-8 whatever the token's bytes are.
std::string TokenText(const Gpt2Engine& engine, std::int32_t id) {
  if (!engine.tokenizer || static_cast<std::size_t>(id) >= engine.tokenizer->vocab_size())
    return {};
  Utf8Stream stream;
  std::string text = stream.Push(engine.tokenizer->TokenBytes(id));
  return text + stream.Flush();
}

Result<std::vector<std::int32_t>> Encode(const Gpt2Engine& engine, const Json* text,
                                         SpecialTokens special) {
  if (text == nullptr || !text->is_string()) {
    return Misuse("expected text or token ids, found " +
                  (text == nullptr ? "neither" : Shown(*text)));
  }
  if (!engine.tokenizer) {
    return Error{ErrorCode::kNotFound,
                 "the model folder has no vocab.json and merges.txt: only token ids work"};
  }
  return engine.tokenizer->Encode(text->get_ref<const std::string&>(), special);
}

Result<std::vector<std::int32_t>> ReadPrompt(const Gpt2Engine& engine, const Json& request,
                                             SpecialTokens special) {
  const Json* const prompt = FindMember(request, "prompt");
  if (prompt != nullptr && prompt->is_array()) return ReadTokenIds(*prompt);
  return Encode(engine, prompt, special);
}

SpecialTokens Special(bool is_allowed) {
  return is_allowed ? SpecialTokens::kAllowed : SpecialTokens::kAsText;
}

Status NeedModel(const Gpt2Engine& engine) {
  if (!engine.context) return Misuse("no model is loaded");
  return Done{};
}

// "q8" or "f32" where `options` ask for one.
Result<std::optional<KvFormat>> ReadKvFormat(std::string_view options) {
  using Format = std::optional<KvFormat>;
  GPT2_ASSIGN(const Json json, ParseRequest(options, "the load options"));
  GPT2_TRY(CheckNames(json, "the load options", {"kv"}));
  const Json* const kv = FindMember(json, "kv");
  if (kv == nullptr || kv->is_null()) return Format();
  if (*kv == "q8") return Format(KvFormat::kQ8);
  if (*kv == "f32") return Format(KvFormat::kF32);
  return Misuse("kv is " + Shown(*kv) + ", expected \"q8\" or \"f32\"");
}

// Gives back all that a model, or a load that has begun, takes.
void Unload(Gpt2Engine& engine) {
  engine.session.reset();
  engine.suspended.clear();
  engine.scorer.reset();
  engine.context.reset();
  engine.tokenizer.reset();
  engine.weights.reset();
  engine.reader.reset();
}

// A load that failed is over until the next begins: the same error answers what comes meanwhile. A
// loaded model does not mind a call whose turn it is not.
Result<Json> OrFailedLoad(Gpt2Engine& engine, Result<Json> result) {
  if (result.ok() || engine.context) return result;
  Unload(engine);
  engine.load_error = result.error();
  return result;
}

Status NeedLoad(const Gpt2Engine& engine) {
  if (engine.load_error) return *engine.load_error;
  if (!engine.reader) return Misuse("no load has begun");
  return Done{};
}

Result<Json> LoadBegin(Gpt2Engine& engine, std::string_view config_json, std::string_view vocab,
                       std::string_view merges, std::string_view options) {
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
  return Json::object();
}

Result<Json> LoadWeights(Gpt2Engine& engine, std::span<const std::byte> bytes) {
  GPT2_TRY(NeedLoad(engine));
  GPT2_TRY(engine.reader->Feed(bytes));
  return Json::object();
}

Json ConfigJson(const Config& c) {
  return {{"nEmbd", c.n_embd},
          {"nHead", c.n_head},
          {"nLayer", c.n_layer},
          {"nPositions", c.n_positions},
          {"nInner", c.n_inner},
          {"vocabSize", c.vocab_size},
          {"eosTokenId", c.eos_token_id ? Json(*c.eos_token_id) : Json()},
          {"tieWordEmbeddings", c.tie_word_embeddings}};
}

Result<Json> Info(Gpt2Engine& engine) {
  GPT2_TRY(NeedModel(engine));
  const Weights& weights = *engine.weights;
  return Json{{"config", ConfigJson(weights.config)},
              {"parameters", weights.parameter_count},
              {"weights", WeightFormatName(weights.format())},
              {"kv", *engine.kv_format == KvFormat::kQ8 ? "q8" : "f32"},
              {"weightBytes", weights.bytes},
              {"contextBytes", engine.context->bytes()},
              {"threads", engine.pool.threads()},
              {"kernels", BestKernels().name},
              {"hasTokenizer", engine.tokenizer.has_value()}};
}

Result<Json> LoadEnd(Gpt2Engine& engine) {
  GPT2_TRY(NeedLoad(engine));
  GPT2_ASSIGN(engine.weights, engine.reader->Finish());
  engine.reader.reset();
  if (!engine.kv_format) engine.kv_format = DefaultKvFormat(engine.weights->format());
  GPT2_ASSIGN(engine.context,
              Context::Create(*engine.weights, {&BestKernels(), &engine.pool}, *engine.kv_format));
  return Info(engine);
}

Result<Json> Tune(Gpt2Engine& engine) {
  GPT2_TRY(NeedModel(engine));
  engine.session.reset();
  engine.scorer.reset();
  return Json{{"threads", TuneThreads(*engine.context)}};
}

Result<Json> Tokenize(Gpt2Engine& engine, std::string_view text) {
  GPT2_TRY(NeedModel(engine));
  GPT2_ASSIGN(const Json request, ParseRequest(text, "the request"));
  GPT2_TRY(CheckNames(request, "the request", {"text", "allowSpecial"}));
  GPT2_ASSIGN(const bool allow_special, ReadFlag(request, "allowSpecial"));
  GPT2_ASSIGN(const auto ids, Encode(engine, FindMember(request, "text"), Special(allow_special)));
  return Json(ids);
}

Result<Json> Detokenize(Gpt2Engine& engine, std::string_view text) {
  GPT2_TRY(NeedModel(engine));
  GPT2_ASSIGN(const Json request, ParseRequest(text, "the request"));
  GPT2_ASSIGN(const auto ids, ReadTokenIds(request));
  if (!engine.tokenizer) {
    return Error{ErrorCode::kNotFound, "the model folder has no vocab.json and merges.txt"};
  }
  GPT2_ASSIGN(const std::string bytes, engine.tokenizer->Decode(ids));
  Utf8Stream stream;
  std::string decoded = stream.Push(bytes);
  return Json(decoded + stream.Flush());
}

// How far a generation is, and how it ended.
Json StateJson(const Session& session) {
  Json json = {{"readTokens", session.read_tokens()},
               {"totalTokens", session.total_tokens()},
               {"isDone", session.is_done()}};
  if (!session.is_done()) return json;
  for (std::size_t i = 0; i < session.continuations(); ++i) {
    json["finishReasons"].push_back(FinishReasonName(session.finish(i)));
  }
  json["droppedTokens"] = session.dropped_tokens();
  json["draftedTokens"] = session.drafted_tokens();
  json["acceptedTokens"] = session.accepted_tokens();
  return json;
}

Result<Json> Generate(Gpt2Engine& engine, std::string_view text) {
  GPT2_TRY(NeedModel(engine));
  engine.session.reset();
  engine.scorer.reset();
  GPT2_ASSIGN(const Json request, ParseRequest(text, "the request"));
  GPT2_TRY(CheckNames(request, "the request", {"prompt", "options"}));
  const Json* const given = FindMember(request, "options");
  GPT2_ASSIGN(const GenerateOptions options,
              ReadGenerateOptions(given == nullptr ? Json::object() : *given));
  GPT2_ASSIGN(const auto prompt, ReadPrompt(engine, request, Special(options.allow_special)));
  const Tokenizer* tokenizer = engine.tokenizer ? &*engine.tokenizer : nullptr;
  GPT2_ASSIGN(engine.session, Session::Begin(*engine.context, tokenizer, prompt, options));
  Json json = StateJson(*engine.session);
  json["promptTokens"] = prompt.size();
  json["reusedTokens"] = engine.session->reused_tokens();
  return json;
}

Json TokenJson(const Gpt2Engine& engine, const GeneratedToken& token) {
  Json json = {{"index", token.continuation},
               {"id", token.id},
               {"text", token.text},
               {"logprob", token.logprob}};
  for (const TokenLogprob& other : token.top) {
    json["top"].push_back(
        {{"id", other.id}, {"text", TokenText(engine, other.id)}, {"logprob", other.logprob}});
  }
  return json;
}

Result<Json> Step(Gpt2Engine& engine) {
  if (!engine.session || engine.session->is_done()) return Misuse("no generation is under way");
  Json tokens = Json::array();
  for (const GeneratedToken& token : engine.session->Step()) {
    tokens.push_back(TokenJson(engine, token));
  }
  Json json = StateJson(*engine.session);
  json["tokens"] = std::move(tokens);
  return json;
}

Result<Json> Suspend(Gpt2Engine& engine) {
  if (!engine.session || engine.session->is_done()) return Misuse("no generation is under way");
  engine.session->Suspend();
  const std::uint32_t number = engine.next_number++;
  engine.suspended.emplace(number, std::move(*engine.session));
  engine.session.reset();
  return Json(number);
}

Result<Json> Resume(Gpt2Engine& engine, std::uint32_t number) {
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
  return Json::object();
}

Result<Json> Score(Gpt2Engine& engine, std::string_view text) {
  GPT2_TRY(NeedModel(engine));
  engine.session.reset();
  engine.scorer.reset();
  GPT2_ASSIGN(const Json request, ParseRequest(text, "the request"));
  GPT2_TRY(CheckNames(request, "the request", {"prompt", "stride"}));
  GPT2_ASSIGN(engine.scored_ids, ReadPrompt(engine, request, SpecialTokens::kAsText));
  const auto capacity = static_cast<std::int64_t>(engine.context->config().n_positions);
  const Json* const given = FindMember(request, "stride");
  const auto stride =
      given == nullptr ? std::max<std::int64_t>(1, capacity / 2) : WholeNumber(*given, 1, capacity);
  if (!stride) {
    return Misuse("stride is " + Shown(*given) + ", expected a whole number from 1 to " +
                  std::to_string(capacity - 1));
  }
  GPT2_ASSIGN(engine.scorer,
              Scorer::Begin(*engine.context, engine.scored_ids, static_cast<std::size_t>(*stride)));
  return Json{{"total", engine.scored_ids.size()}};
}

Result<Json> ScoreStep(Gpt2Engine& engine) {
  if (!engine.scorer) return Misuse("no scoring is under way");
  if (!engine.scorer->is_done()) engine.scorer->Step();
  const std::vector<float>& logprobs = engine.scorer->logprobs();
  const std::vector<std::int32_t>& ids = engine.scored_ids;
  const std::size_t total = ids.size();
  Json json = {{"done", std::min(total, logprobs.size() + 1)}, {"total", total}};
  if (!engine.scorer->is_done()) return json;
  json["tokens"] = Json::array();
  double sum = 0;
  for (std::size_t i = 0; i < total; ++i) {
    json["tokens"].push_back({{"id", ids[i]},
                              {"text", TokenText(engine, ids[i])},
                              {"logprob", i == 0 ? Json() : Json(logprobs[i - 1])}});
    if (i > 0) sum += logprobs[i - 1];
  }
  json["logprob"] = sum;
  json["perplexity"] =
      logprobs.empty() ? Json() : Json(std::exp(-sum / static_cast<double>(logprobs.size())));
  engine.scorer.reset();
  return json;
}

}  // namespace
}  // namespace gpt2

extern "C" {

void* gpt2_allocate(size_t size) {
  return std::malloc(size);
}
void gpt2_free(void* memory) {
  std::free(memory);
}

void gpt2_sha256(const uint8_t* bytes, size_t size, uint8_t* digest) {
  gpt2::Sha256 hash;
  hash.Update(std::as_bytes(std::span(bytes, size)));
  const gpt2::Sha256Digest result = hash.Finish();
  std::copy(result.begin(), result.end(), digest);
}

Gpt2Engine* gpt2_create(size_t threads) {
  return new (std::nothrow) Gpt2Engine(std::max<size_t>(1, threads));
}
void gpt2_destroy(Gpt2Engine* engine) {
  delete engine;
}

size_t gpt2_started_threads(const Gpt2Engine* engine) {
  return engine->pool.started_threads();
}
void gpt2_drop_unstarted_threads(Gpt2Engine* engine) {
  engine->pool.DropUnstarted();
}

const char* gpt2_load_begin(Gpt2Engine* engine, const char* config, size_t config_size,
                            const char* vocab, size_t vocab_size, const char* merges,
                            size_t merges_size, const char* options, size_t options_size) {
  return gpt2::Reply(
      engine, gpt2::OrFailedLoad(
                  *engine, gpt2::LoadBegin(*engine, {config, config_size}, {vocab, vocab_size},
                                           {merges, merges_size}, {options, options_size})));
}

const char* gpt2_load_weights(Gpt2Engine* engine, const uint8_t* bytes, size_t size) {
  return gpt2::Reply(
      engine, gpt2::OrFailedLoad(
                  *engine, gpt2::LoadWeights(*engine, std::as_bytes(std::span(bytes, size)))));
}

const char* gpt2_load_end(Gpt2Engine* engine) {
  return gpt2::Reply(engine, gpt2::OrFailedLoad(*engine, gpt2::LoadEnd(*engine)));
}

bool gpt2_is_exact(void) {
  return gpt2::BestKernelsAreExact();
}

const char* gpt2_info(Gpt2Engine* engine) {
  return gpt2::Reply(engine, gpt2::Info(*engine));
}

const char* gpt2_tune_threads(Gpt2Engine* engine) {
  return gpt2::Reply(engine, gpt2::Tune(*engine));
}

const char* gpt2_tokenize(Gpt2Engine* engine, const char* request, size_t size) {
  return gpt2::Reply(engine, gpt2::Tokenize(*engine, {request, size}));
}

const char* gpt2_detokenize(Gpt2Engine* engine, const char* request, size_t size) {
  return gpt2::Reply(engine, gpt2::Detokenize(*engine, {request, size}));
}

const char* gpt2_generate(Gpt2Engine* engine, const char* request, size_t size) {
  return gpt2::Reply(engine, gpt2::Generate(*engine, {request, size}));
}

const char* gpt2_step(Gpt2Engine* engine) {
  return gpt2::Reply(engine, gpt2::Step(*engine));
}

const char* gpt2_suspend(Gpt2Engine* engine) {
  return gpt2::Reply(engine, gpt2::Suspend(*engine));
}

const char* gpt2_resume(Gpt2Engine* engine, uint32_t number) {
  return gpt2::Reply(engine, gpt2::Resume(*engine, number));
}

const char* gpt2_discard(Gpt2Engine* engine, uint32_t number) {
  engine->suspended.erase(number);
  return gpt2::Reply(engine, gpt2::Json::object());
}

const char* gpt2_score(Gpt2Engine* engine, const char* request, size_t size) {
  return gpt2::Reply(engine, gpt2::Score(*engine, {request, size}));
}

const char* gpt2_score_step(Gpt2Engine* engine) {
  return gpt2::Reply(engine, gpt2::ScoreStep(*engine));
}

}  // extern "C"
