// What an engine holds, and what the functions of api.h do with it.
//
// Each operation writes its result, where it has one, to `out`, or returns an error. One that runs
// out of memory leaves by an exception of the standard library, which api.cc turns into a reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/output.h"
#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/format/json_writer.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/context.h"
#include "engine/generate/early_prefill.h"
#include "engine/generate/options.h"
#include "engine/generate/scorer.h"
#include "engine/generate/session.h"
#include "engine/generate/thread_tuner.h"
#include "engine/model/weights.h"
#include "engine/text/encoding.h"
#include "engine/text/tokenizer.h"

// Everything that a loaded model is. Later members borrow earlier ones.
struct Gpt2Engine {
  explicit Gpt2Engine(std::size_t threads) : pool(threads) {}

  gpt2::ThreadPool pool;
  std::optional<gpt2::KvFormat> kv_format;   // as asked for; once loaded, as it is
  gpt2::GenerateOptions defaults;            // of generations: the model's, where it has some
  std::vector<std::string> warnings;         // the model's settings that are ignored
  std::optional<gpt2::WeightReader> reader;  // during a load
  std::vector<std::int32_t> early_prompt;    // during a load: what to prefill on the way
  std::optional<gpt2::EarlyPrefill> early_prefill;  // of that, from the first layer on
  std::optional<gpt2::Error> load_error;  // of the load that failed last, until the next begins
  bool load_ran_out = false;              // of memory, also for such an error
  std::unique_ptr<gpt2::Weights> weights;
  std::optional<gpt2::Tokenizer> tokenizer;
  std::optional<gpt2::Context> context;
  std::optional<gpt2::ThreadTuner> tuner;  // while it measures
  std::optional<gpt2::Session> session;
  std::map<std::uint32_t, gpt2::Session> suspended;  // by the number that was given out
  std::uint32_t next_number = 1;
  std::optional<gpt2::Scorer> scorer;
  std::optional<gpt2::Encoding> encoding;
  std::vector<std::int32_t> ids;  // that the last TokenizeStep gave
  gpt2::Output output;            // of the session or the scorer
  std::vector<float> attention;   // [n_head, tokens] of the last Inspect
  std::string reply;
};

namespace gpt2 {

// The prompt of a generation or a text to score: UTF-8, or token ids as int32.
struct PromptBytes {
  std::string_view bytes;
  bool is_ids;
};

// Unloads the model, if there is one, and starts a load; fails where the files or the options are
// wrong.
Status LoadBegin(Gpt2Engine& engine, std::string_view config_json, std::string_view vocab,
                 std::string_view merges, std::string_view options);
// Takes the next bytes of model.safetensors, in pieces of any size.
Status LoadWeights(Gpt2Engine& engine, std::span<const std::byte> bytes);
// Gives the load a prompt, in place of the one it had, to be prefilled as the layers come.
Status LoadPrompt(Gpt2Engine& engine, const PromptBytes& prompt);
// Runs some of the prompt through a layer, if one is there that it has not run through.
// engine.output has how many it has, of how many, and whether it waits for bytes.
Status LoadStep(Gpt2Engine& engine);
// Makes the context of the model whose bytes are all there, and writes what the model is.
Status LoadEnd(Gpt2Engine& engine, JsonWriter& out);
// Measures some more of how many threads to use: see ThreadTuner.
Status Tune(Gpt2Engine& engine, JsonWriter& out);

// Starts to split `text`, which must stay until the last step, into tokens.
Status Tokenize(Gpt2Engine& engine, std::string_view text, std::string_view options_json);
// Puts the next tokens into engine.ids.
Status TokenizeStep(Gpt2Engine& engine, JsonWriter& out);
// Writes the text of `ids`, a prompt of ids.
Status Detokenize(Gpt2Engine& engine, const PromptBytes& ids, JsonWriter& out);

// Starts a generation in place of what is under way.
Status Generate(Gpt2Engine& engine, const PromptBytes& prompt, std::string_view options_json,
                JsonWriter& out);
// Continues it: engine.output has what came of it.
Status Step(Gpt2Engine& engine);
// Writes the figures of the generation, which must be finished.
Status Summary(const Gpt2Engine& engine, JsonWriter& out);
// Sets the current generation aside and writes its number.
Status Suspend(Gpt2Engine& engine, JsonWriter& out);
// Makes the generation that was set aside as `number` the current one.
Status Resume(Gpt2Engine& engine, std::uint32_t number);
// Runs a part of the prompt of a generation of no tokens, for a later one. engine.output has the
// progress.
Status PrefillStep(Gpt2Engine& engine);
// Runs the last token of that prompt. engine.output has the `top` most probable next tokens after
// each layer. engine.attention has the attention scores of each head of `layer`.
Status Inspect(Gpt2Engine& engine, std::size_t layer, std::size_t top);
// Starts to score a text; ends the current generation or scoring.
Status Score(Gpt2Engine& engine, const PromptBytes& text, std::string_view options_json);
// Continues the scoring: engine.output has the tokens that were scored.
Status ScoreStep(Gpt2Engine& engine);

// Frees everything that has to do with a model.
void Unload(Gpt2Engine& engine);

// Frees what only the prefill during a load needs.
void EndEarlyPrefill(Gpt2Engine& engine);

// Ends what is under way, and frees what only that needs.
void EndWork(Gpt2Engine& engine);

}  // namespace gpt2
