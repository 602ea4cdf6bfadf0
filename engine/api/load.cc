// Loads a model, and describes it.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/api/api.h"
#include "engine/api/engine.h"
#include "engine/api/generation_config.h"
#include "engine/api/options_json.h"
#include "engine/api/reply.h"
#include "engine/api/requests.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/vocabulary_files.h"
#include "engine/generate/context.h"
#include "engine/generate/early_prefill.h"
#include "engine/generate/options.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/thread_tuner.h"
#include "engine/kernels/kernels.h"
#include "engine/model/config.h"
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {
namespace {

// "q8" or "f32" if the load options contain one.
Result<std::optional<KvFormat>> ReadKvFormat(const Json& options) {
  using Format = std::optional<KvFormat>;
  const Json* const kv = FindMember(options, "kv");
  if (kv == nullptr || kv->is_null()) return Format();
  const auto* const name = kv->get_ptr<const std::string*>();  // null if it is not a string
  if (const Format format = name == nullptr ? Format() : KvFormatNamed(*name)) return format;
  return Misuse(Concat("kv is ", Shown(*kv), ", expected \"q8\" or \"f32\""));
}

// Reads generation_config.json from the load options, if present.
Status ReadDefaults(const Json& options, Gpt2Engine& engine) {
  engine.defaults = {};
  engine.warnings.clear();
  const Json* const file = FindMember(options, "generationConfig");
  if (file == nullptr) return Done{};
  const auto* const found = file->get_ptr<const std::string*>();  // null if it is not a string
  const std::string_view text = found == nullptr ? std::string_view() : *found;
  GPT2_ASSIGN(engine.defaults, ReadGenerationConfig(text));
  engine.warnings = IgnoredSettings(text);
  return Done{};
}

// The tokenizer of a load: none, that of vocab.json and merges.txt with the rules in the load
// options' "tokenizer", or the table of tokens there.
Result<std::optional<Tokenizer>> ReadLoadTokenizer(std::string_view vocab, std::string_view merges,
                                                   const Json& options, std::size_t vocab_size) {
  using Found = std::optional<Tokenizer>;
  const Json* const more = FindMember(options, "tokenizer");
  const Json* const tokens = more == nullptr ? nullptr : FindMember(*more, "tokens");
  if (const auto* const text =
          tokens == nullptr ? nullptr : tokens->get_ptr<const std::string*>()) {
    GPT2_ASSIGN(Tokenizer tokenizer, ReadTokenTable(*text, vocab_size));
    return Found(std::move(tokenizer));
  }
  if (vocab.empty() && merges.empty()) return Found();
  const Json* const rules = more == nullptr ? nullptr : FindMember(*more, "rules");
  GPT2_ASSIGN(Tokenizer tokenizer, ReadTokenizer(vocab, merges, vocab_size, rules));
  return Found(std::move(tokenizer));
}

Status NeedLoad(const Gpt2Engine& engine) {
  if (engine.load_error) return *engine.load_error;
  if (!engine.reader) return Misuse("no load has begun");
  return Done{};
}

Compute ComputeOf(Gpt2Engine& engine) {
  return {&BestKernels(), &engine.pool};
}

KvFormat KvFormatOf(const Gpt2Engine& engine, const Weights& weights) {
  return engine.kv_format.value_or(DefaultKvFormat(weights.format()));
}

// Describes the loaded model.
void WriteInfo(const Gpt2Engine& engine, JsonWriter& out) {
  const Weights& weights = *engine.weights;
  const Config& c = weights.config;
  out.Open('{').Key("config").Open('{');
  out.Member("nEmbd", c.n_embd).Member("nHead", c.n_head).Member("numKeyValueHeads", c.n_kv_head());
  out.Member("nLayer", c.n_layer).Member("nPositions", c.n_positions).Member("nInner", c.n_inner);
  out.Member("vocabSize", c.vocab_size).Key("eosTokenId");
  if (c.eos_token_id) {
    out.Value(*c.eos_token_id);
  } else {
    out.Null();
  }
  out.Member("tieWordEmbeddings", c.tie_word_embeddings).Close('}');
  out.Member("parameters", weights.parameter_count);
  out.Member("weights", WeightFormatName(weights.format()));
  out.Member("kv", KvFormatName(*engine.kv_format));
  out.Member("weightBytes", weights.bytes).Member("contextBytes", engine.context->bytes());
  out.Member("threads", engine.pool.threads());
  out.Member("kernels", BestKernels().name);
  out.Member("hasTokenizer", engine.tokenizer.has_value());
  WriteDefaults(engine.defaults, out.Key("defaults"));
  out.Key("warnings").Open('[');
  for (const std::string& warning : engine.warnings) out.Value(warning);
  out.Close(']');
  out.Close('}');
}

}  // namespace

Status LoadBegin(Gpt2Engine& engine, std::string_view config_json, std::string_view vocab,
                 std::string_view merges, std::string_view options) {
  Unload(engine);
  engine.load_error.reset();
  engine.load_ran_out = false;
  GPT2_ASSIGN(ModelConfig config, ReadConfigJson(config_json));
  GPT2_ASSIGN(const ParsedJson wanted, ParseRequest(options, "the load options"));
  GPT2_TRY(CheckNames(*wanted, "the load options", {"kv", "generationConfig", "tokenizer"}));
  GPT2_ASSIGN(engine.kv_format, ReadKvFormat(*wanted));
  GPT2_TRY(ReadDefaults(*wanted, engine));
  GPT2_ASSIGN(engine.tokenizer,
              ReadLoadTokenizer(vocab, merges, *wanted, config.config.vocab_size));
  if (engine.tokenizer && !engine.tokenizer->HasGpt2Rules()) {
    engine.warnings.push_back("heal has no effect: the tokenizer's rules differ from GPT-2's");
  }
  return engine.reader.emplace(std::move(config))
      .Feed({});  // refuses a model that is not converted
}

Status LoadWeights(Gpt2Engine& engine, std::span<const std::byte> bytes) {
  GPT2_TRY(NeedLoad(engine));
  return engine.reader->Feed(bytes);
}

Status LoadPrompt(Gpt2Engine& engine, const PromptBytes& prompt) {
  GPT2_TRY(NeedLoad(engine));
  PromptTokens tokens(engine.reader->config());
  GPT2_TRY(ForPromptIds(engine, prompt, /*special=*/false, TextEnds::kBeginning,
                        [&](auto ids) { return tokens.Add(ids); }));
  engine.early_prefill.reset();
  engine.early_prompt.assign(tokens.window().begin(), tokens.window().end());
  return Done{};
}

Status LoadStep(Gpt2Engine& engine) {
  GPT2_TRY(NeedLoad(engine));
  GPT2_ASSIGN(std::size_t ready, engine.reader->CompleteLayers());
  if (engine.early_prompt.empty()) ready = 0;
  std::optional<EarlyPrefill>& prefill = engine.early_prefill;
  if (ready > 0 && !prefill) {
    const Weights& weights = *engine.reader->weights();
    GPT2_ASSIGN(prefill, EarlyPrefill::Create(weights, ComputeOf(engine),
                                              KvFormatOf(engine, weights), engine.early_prompt));
  }
  if (prefill && prefill->layers() < ready) prefill->Step();
  const std::size_t done = prefill ? prefill->layers() : 0;
  engine.output.Begin(done, engine.reader->config().n_layer, done == ready);
  return Done{};
}

Status LoadEnd(Gpt2Engine& engine, JsonWriter& out) {
  GPT2_TRY(NeedLoad(engine));
  GPT2_ASSIGN(engine.weights, engine.reader->Finish());
  for (const std::string& warning : engine.reader->warnings()) engine.warnings.push_back(warning);
  engine.reader.reset();
  engine.kv_format = KvFormatOf(engine, *engine.weights);
  if (engine.early_prefill) {
    engine.context.emplace(engine.early_prefill->TakeContext());
    EndEarlyPrefill(engine);
  } else {
    GPT2_ASSIGN(engine.context,
                Context::Create(*engine.weights, ComputeOf(engine), *engine.kv_format));
  }
  WriteInfo(engine, out);
  return Done{};
}

Status Tune(Gpt2Engine& engine, JsonWriter& out) {
  GPT2_TRY(NeedModel(engine));
  std::optional<ThreadTuner>& tuner = engine.tuner;
  if (!tuner) tuner.emplace(engine.pool, ClockStep());
  if (!tuner->is_done()) tuner->Measure([&] { return MeasureStep(*engine.context); });
  const bool is_done = tuner->is_done();
  out.Open('{').Member("threads", tuner->threads()).Member("isDone", is_done);
  out.Member("isMeasured", tuner->is_measured()).Close('}');
  if (is_done) tuner.reset();
  return Done{};
}

}  // namespace gpt2
