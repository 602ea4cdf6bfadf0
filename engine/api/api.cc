#include "engine/api/api.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "engine/api/reply.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json_writer.h"
#include "engine/kernels/kernels.h"

namespace gpt2 {
namespace {

// Run turns an exception of the standard library for missing memory into a reply. gpt2_create,
// which has no engine to reply for, returns null.
using Operation = FunctionRef<Status(Gpt2Engine& engine)>;
using Question = FunctionRef<Status(Gpt2Engine& engine, JsonWriter& out)>;

// Ends a load. Later calls report that without needing memory.
void EndLoad(Gpt2Engine& engine) {
  Unload(engine);
  engine.load_ran_out = !engine.load_error;
}

const char* OutOfMemory(Gpt2Engine& engine) {
  EndWork(engine);
  if (engine.reader) EndLoad(engine);
  if (engine.context)
    static_cast<void>(engine.context->SetSequences(1));  // frees memory: cannot fail
  std::vector<double>().swap(engine.hooks);
  if (engine.changed) {
    engine.changes.reset();
    engine.changed->SetHooks(nullptr);
    static_cast<void>(engine.changed->SetSequences(1));
  }
  engine.output.Clear();
  std::vector<std::int32_t>().swap(engine.ids);
  std::vector<float>().swap(engine.attention);
  std::string().swap(engine.reply);
  return kOutOfMemoryReply;
}

// Null, or the error.
const char* Run(Gpt2Engine* engine, Operation operation) {
  const char* error = RunFor(engine->reply, [&] { return operation(*engine); });
  return error == kOutOfMemoryReply ? OutOfMemory(*engine) : error;
}

// The result, or the error.
const char* Answer(Gpt2Engine* engine, Question question) {
  const char* answer =
      AnswerFor(engine->reply, [&](JsonWriter& out) { return question(*engine, out); });
  return answer == kOutOfMemoryReply ? OutOfMemory(*engine) : answer;
}

// As Run, for calls that begin or continue a load. An error ends the load; after a call out of
// turn, the loaded model stays.
const char* RunLoad(Gpt2Engine* engine, Operation operation) {
  const bool had_model = engine->context.has_value();
  const char* error = Run(engine, [&](Gpt2Engine& e) {
    Status status = operation(e);
    if (!status.ok() && !e.context) {
      Unload(e);
      e.load_error = status.error();
    }
    return status;
  });
  const bool is_out_of_turn = had_model && engine->context;
  if (error == kOutOfMemoryReply && !is_out_of_turn) EndLoad(*engine);
  return error;
}

const char* ContinueLoad(Gpt2Engine* engine, Operation operation) {
  return engine->load_ran_out ? kOutOfMemoryReply : RunLoad(engine, operation);
}

PromptBytes Bytes(const void* bytes, std::size_t size, bool is_ids) {
  return {{static_cast<const char*>(bytes), size}, is_ids};
}

}  // namespace
}  // namespace gpt2

using gpt2::Answer;
using gpt2::Bytes;
using gpt2::ContinueLoad;
using gpt2::JsonWriter;
using gpt2::Run;
using gpt2::RunLoad;

extern "C" {

Gpt2Engine* gpt2_create(size_t threads) {
  try {
    return new Gpt2Engine(std::max<size_t>(1, threads));
  } catch (const std::bad_alloc&) {
    return nullptr;
  } catch (const std::length_error&) {
    return nullptr;
  }
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
  return RunLoad(engine, [&](Gpt2Engine& e) {
    return gpt2::LoadBegin(e, {config, config_size}, {vocab, vocab_size}, {merges, merges_size},
                           {options, options_size});
  });
}

const char* gpt2_load_weights(Gpt2Engine* engine, const uint8_t* bytes, size_t size) {
  return ContinueLoad(engine, [&](Gpt2Engine& e) {
    return gpt2::LoadWeights(e, std::as_bytes(std::span(bytes, size)));
  });
}

const char* gpt2_load_prompt(Gpt2Engine* engine, const void* prompt, size_t size, bool is_ids) {
  return ContinueLoad(
      engine, [&](Gpt2Engine& e) { return gpt2::LoadPrompt(e, Bytes(prompt, size, is_ids)); });
}

const char* gpt2_load_step(Gpt2Engine* engine) {
  return ContinueLoad(engine, &gpt2::LoadStep);
}

const char* gpt2_load_end(Gpt2Engine* engine) {
  const char* error = ContinueLoad(engine, [](Gpt2Engine& e) {
    return gpt2::WriteResult(e.reply, [&](JsonWriter& out) { return gpt2::LoadEnd(e, out); });
  });
  return error != nullptr ? error : engine->reply.c_str();
}

bool gpt2_is_exact(void) {
  return gpt2::BestKernelsAreExact();
}

const char* gpt2_tune_threads(Gpt2Engine* engine) {
  return Answer(engine, &gpt2::Tune);
}

const char* gpt2_tokenize(Gpt2Engine* engine, const char* text, size_t size, const char* options,
                          size_t options_size) {
  return Run(engine, [&](Gpt2Engine& e) {
    return gpt2::Tokenize(e, {text, size}, {options, options_size});
  });
}

const char* gpt2_tokenize_step(Gpt2Engine* engine) {
  return Answer(engine, &gpt2::TokenizeStep);
}

const int32_t* gpt2_token_ids(const Gpt2Engine* engine) {
  return engine->ids.data();
}

const uint32_t* gpt2_token_places(const Gpt2Engine* engine) {
  return engine->places.data();
}

const char* gpt2_detokenize(Gpt2Engine* engine, const int32_t* ids, size_t count) {
  return Answer(engine, [&](Gpt2Engine& e, JsonWriter& out) {
    return gpt2::Detokenize(e, Bytes(ids, count * sizeof *ids, /*is_ids=*/true), out);
  });
}

const char* gpt2_generate(Gpt2Engine* engine, const void* prompt, size_t size, bool is_ids,
                          const char* options, size_t options_size) {
  return Answer(engine, [&](Gpt2Engine& e, JsonWriter& out) {
    return gpt2::Generate(e, Bytes(prompt, size, is_ids), {options, options_size}, out);
  });
}

const char* gpt2_step(Gpt2Engine* engine) {
  return Run(engine, &gpt2::Step);
}

const char* gpt2_summary(Gpt2Engine* engine) {
  return Answer(engine, &gpt2::Summary);
}

const char* gpt2_suspend(Gpt2Engine* engine) {
  return Answer(engine, &gpt2::Suspend);
}

const char* gpt2_resume(Gpt2Engine* engine, uint32_t number) {
  return Run(engine, [&](Gpt2Engine& e) { return gpt2::Resume(e, number); });
}

void gpt2_discard(Gpt2Engine* engine, uint32_t number) {
  engine->suspended.erase(number);
}

const char* gpt2_prefill_step(Gpt2Engine* engine) {
  return Run(engine, &gpt2::PrefillStep);
}

const char* gpt2_inspect(Gpt2Engine* engine, uint32_t top) {
  return Run(engine, [&](Gpt2Engine& e) { return gpt2::Inspect(e, top); });
}

const float* gpt2_attention(const Gpt2Engine* engine) {
  return engine->attention.data();
}

const char* gpt2_set_hooks(Gpt2Engine* engine, const double* numbers, size_t count) {
  return Run(engine, [&](Gpt2Engine& e) -> gpt2::Status {
    e.hooks.assign(numbers, numbers + count);
    return gpt2::Done{};
  });
}

const float* gpt2_captured(const Gpt2Engine* engine, size_t count) {
  if (engine->changes == nullptr) return nullptr;
  const std::span<const float> values = engine->changes->captured_values();
  return values.size() == count ? values.data() : nullptr;
}

const char* gpt2_score(Gpt2Engine* engine, const void* text, size_t size, bool is_ids,
                       const char* options, size_t options_size) {
  return Run(engine, [&](Gpt2Engine& e) {
    return gpt2::Score(e, Bytes(text, size, is_ids), {options, options_size});
  });
}

const char* gpt2_score_step(Gpt2Engine* engine) {
  return Run(engine, &gpt2::ScoreStep);
}

const Gpt2Output* gpt2_output(const Gpt2Engine* engine) {
  return &engine->output.view();
}

}  // extern "C"
