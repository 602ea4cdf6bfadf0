#include "engine/api/engine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/api.h"
#include "engine/api/options_json.h"
#include "engine/api/reply.h"
#include "engine/api/requests.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/generate/changes.h"
#include "engine/generate/context.h"
#include "engine/text/aligned_text.h"
#include "engine/text/encoding.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

Status NeedModel(const Gpt2Engine& engine) {
  if (!engine.context) return Misuse("no model is loaded");
  return Done{};
}

Status NeedTokenizer(const Gpt2Engine& engine, const char* so) {
  if (engine.tokenizer) return Done{};
  return Error{ErrorCode::kNotFound,
               "the model has no tokenizer: its folder has neither tokenizer.json nor vocab.json "
               "and merges.txt" +
                   std::string(so)};
}

Result<ParsedJson> ReadOptions(std::string_view text) {
  if (text.empty()) return ParsedJson(Json::object());
  return ParseRequest(text, "options");
}

Status ForPromptIds(const Gpt2Engine& engine, const PromptBytes& prompt, bool special,
                    TextEnds ends, FunctionRef<Status(std::span<const std::int32_t> ids)> take) {
  std::array<std::int32_t, kPortion> portion;
  if (prompt.is_ids) {
    // Copied, because the bytes may not be aligned.
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
                    special ? SpecialTokens::kAllowed : SpecialTokens::kAsText, ends);
  while (!encoding.is_done()) {
    GPT2_ASSIGN(const std::size_t count, encoding.Next(portion));
    GPT2_TRY(take(std::span(portion).first(count)));
  }
  return Done{};
}

Result<Context*> ContextOf(Gpt2Engine& engine, std::vector<double> hooks, std::size_t tokens) {
  if (hooks.empty()) return &*engine.context;
  if (!engine.changed) {
    GPT2_ASSIGN(engine.changed,
                Context::Create(*engine.weights, engine.context->compute(), *engine.kv_format));
  }
  std::shared_ptr<Changes>& changes = engine.changes;
  if (!changes || !changes->captured().empty() || changes->numbers() != hooks) {
    changes.reset();  // before others need the memory of what these have captured
    engine.changed->SetHooks(nullptr);
    GPT2_ASSIGN(changes, Changes::Create(engine.context->config(), std::move(hooks), tokens));
  }
  engine.changed->SetHooks(changes);
  return &*engine.changed;
}

void EndWork(Gpt2Engine& engine) {
  engine.encoding.reset();
  engine.session.reset();
  engine.scorer.reset();
}

void Unload(Gpt2Engine& engine) {
  EndWork(engine);
  engine.suspended.clear();
  engine.tuner.reset();
  engine.hooks.clear();
  engine.changes.reset();
  engine.changed.reset();
  engine.context.reset();
  engine.tokenizer.reset();
  engine.weights.reset();
  engine.reader.reset();
  engine.output.Clear();
  EndEarlyPrefill(engine);
}

void EndEarlyPrefill(Gpt2Engine& engine) {
  engine.early_prefill.reset();
  std::vector<std::int32_t>().swap(engine.early_prompt);
}

Status Tokenize(Gpt2Engine& engine, std::string_view text, std::string_view options_json) {
  engine.encoding.reset();
  GPT2_TRY(NeedModel(engine));
  GPT2_ASSIGN(const ParsedJson options, ReadOptions(options_json));
  GPT2_TRY(CheckNames(*options, "options", {"allowSpecial", "isPrompt"}));
  GPT2_ASSIGN(const bool special, ReadFlag(*options, "allowSpecial"));
  GPT2_ASSIGN(const bool is_prompt, ReadFlag(*options, "isPrompt"));
  GPT2_TRY(NeedTokenizer(engine, ""));
  engine.encoding.emplace(*engine.tokenizer, text,
                          special ? SpecialTokens::kAllowed : SpecialTokens::kAsText,
                          is_prompt ? TextEnds::kBeginning : TextEnds::kWith,
                          /*has_places=*/true);
  engine.places_of_text.emplace(text);
  return Done{};
}

Status TokenizeStep(Gpt2Engine& engine, JsonWriter& out) {
  if (!engine.encoding) return Misuse("no text is being tokenized");
  engine.ids.resize(kPortion);
  std::array<TokenPlace, kPortion> places;
  Result<std::size_t> count = engine.encoding->Next(engine.ids, places);
  engine.places.clear();
  if (count.ok()) {
    engine.places_of_text->Append(std::span(places).first(count.value()), engine.places);
  }
  const bool is_done = !count.ok() || engine.encoding->is_done();
  if (is_done) engine.encoding.reset();
  if (!count.ok()) return count.TakeError();
  out.Open('{').Member("count", count.value()).Member("isDone", is_done).Close('}');
  return Done{};
}

Status Detokenize(Gpt2Engine& engine, const PromptBytes& ids, JsonWriter& out) {
  GPT2_TRY(NeedModel(engine));
  GPT2_TRY(NeedTokenizer(engine, ""));
  std::string bytes;
  GPT2_TRY(
      ForPromptIds(engine, ids, /*special=*/false, TextEnds::kWithout, [&](auto portion) -> Status {
        GPT2_ASSIGN(const std::string decoded, engine.tokenizer->Decode(portion));
        bytes += decoded;
        return Done{};
      }));
  out.Value(bytes);
  return Done{};
}

}  // namespace gpt2
