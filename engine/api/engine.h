// The state of an engine, and the operations behind the functions of api.h.
//
// Each operation writes its result, if it has one, to `out`, or returns an error. If it runs out of
// memory, an exception of the standard library leaves it, which api.cc turns into a reply.
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
#include "engine/generate/changes.h"
#include "engine/generate/context.h"
#include "engine/generate/early_prefill.h"
#include "engine/generate/options.h"
#include "engine/generate/scorer.h"
#include "engine/generate/session.h"
#include "engine/generate/thread_tuner.h"
#include "engine/model/weights.h"
#include "engine/text/aligned_text.h"
#include "engine/text/encoding.h"
#include "engine/text/tokenizer.h"

// The state of an engine and its loaded model. Later members borrow earlier ones.
struct Gpt2Engine {
  explicit Gpt2Engine(std::size_t threads) : pool(threads) {}

  gpt2::ThreadPool pool;
  std::optional<gpt2::KvFormat> kv_format;   // the requested format; after the load, the actual one
  gpt2::GenerateOptions defaults;            // the defaults of generations, set by the model
  std::vector<std::string> warnings;         // one for each ignored setting of the model
  std::optional<gpt2::WeightReader> reader;  // during a load
  std::vector<std::int32_t> early_prompt;    // during a load: the prompt to prefill
  std::optional<gpt2::EarlyPrefill>
      early_prefill;                      // the prefill of that prompt, from the first layer on
  std::optional<gpt2::Error> load_error;  // of the last failed load, until the next begins
  bool load_ran_out = false;              // whether that error was a lack of memory
  std::unique_ptr<gpt2::Weights> weights;
  std::optional<gpt2::Tokenizer> tokenizer;
  std::optional<gpt2::Context> context;
  std::optional<gpt2::Context> changed;    // of requests with changes or captures
  std::shared_ptr<gpt2::Changes> changes;  // of the last of these requests
  std::vector<double> hooks;               // the numbers for the next request, or none
  std::optional<gpt2::ThreadTuner> tuner;  // during a measurement
  std::optional<gpt2::Session> session;
  std::map<std::uint32_t, gpt2::Session> suspended;  // by their numbers
  std::uint32_t next_number = 1;
  std::optional<gpt2::Scorer> scorer;
  std::optional<gpt2::Encoding> encoding;
  std::vector<std::int32_t> ids;  // the ids of the last TokenizeStep
  std::optional<gpt2::Utf16Places> places_of_text;
  std::vector<std::uint32_t> places;  // [2 * ids.size()] in UTF-16: where each begins and ends
  gpt2::Output output;                // the output of the session or the scorer
  std::vector<float> attention;       // [n_layer, n_head, tokens] of the last Inspect
  std::string reply;
};

namespace gpt2 {

// The prompt of a generation or a text to score: UTF-8, or token ids as int32.
struct PromptBytes {
  std::string_view bytes;
  bool is_ids;
};

// Unloads the current model and starts a load. Fails if the files or the options are invalid.
Status LoadBegin(Gpt2Engine& engine, std::string_view config_json, std::string_view vocab,
                 std::string_view merges, std::string_view options);
// Takes the next bytes of model.safetensors, in pieces of any size.
Status LoadWeights(Gpt2Engine& engine, std::span<const std::byte> bytes);
// Sets or replaces the prompt that the load prefills while layers arrive.
Status LoadPrompt(Gpt2Engine& engine, const PromptBytes& prompt);
// Runs some tokens of the prompt through the next layer that has arrived. engine.output has the
// number of finished layers, their total, and whether it waits for bytes.
Status LoadStep(Gpt2Engine& engine);
// Creates the context after all bytes have arrived, and describes the model.
Status LoadEnd(Gpt2Engine& engine, JsonWriter& out);
// Continues to measure the best number of threads: see ThreadTuner.
Status Tune(Gpt2Engine& engine, JsonWriter& out);

// Starts to split `text` into tokens. It must remain valid until the last step.
Status Tokenize(Gpt2Engine& engine, std::string_view text, std::string_view options_json);
// Puts the next tokens into engine.ids, and their places into engine.places.
Status TokenizeStep(Gpt2Engine& engine, JsonWriter& out);
// Writes the text of the token ids in `ids`.
Status Detokenize(Gpt2Engine& engine, const PromptBytes& ids, JsonWriter& out);

// Starts a generation, which replaces a running one.
Status Generate(Gpt2Engine& engine, const PromptBytes& prompt, std::string_view options_json,
                JsonWriter& out);
// Continues the generation: engine.output has the result.
Status Step(Gpt2Engine& engine);
// Writes the figures of the generation, which must be finished.
Status Summary(const Gpt2Engine& engine, JsonWriter& out);
// Suspends the current generation and writes its number.
Status Suspend(Gpt2Engine& engine, JsonWriter& out);
// Makes the suspended generation `number` the current one.
Status Resume(Gpt2Engine& engine, std::uint32_t number);
// Runs a part of the prompt of a generation without tokens, for a later one. engine.output has the
// progress.
Status PrefillStep(Gpt2Engine& engine);
// Runs the last token of that prompt. engine.output has the `top` most probable next tokens after
// each layer. engine.attention has the weight that each head of each layer gives to each token.
Status Inspect(Gpt2Engine& engine, std::size_t top);
// Starts to score a text; ends the current generation or scoring.
Status Score(Gpt2Engine& engine, const PromptBytes& text, std::string_view options_json);
// Continues the scoring: engine.output has the scored tokens.
Status ScoreStep(Gpt2Engine& engine);

// Frees everything that belongs to a model.
void Unload(Gpt2Engine& engine);

// Frees what only the prefill during a load needs.
void EndEarlyPrefill(Gpt2Engine& engine);

// Ends a running operation, and frees what only it needs.
void EndWork(Gpt2Engine& engine);

}  // namespace gpt2
