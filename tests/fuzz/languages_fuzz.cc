// tokenizer.json of any model and any steps: any bytes are safe, an error names the file, and every
// id is one of the vocabulary. The matches of any expression do not overlap.
#include <string>
#include <utility>

#include "engine/format/json.h"
#include "engine/languages/language_json.h"
#include "engine/languages/pattern.h"
#include "engine/languages/text_models.h"
#include "tests/fuzz/support/any_json.h"

namespace gpt2::fuzz {
namespace {

Json AnyNormalizer(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange<int>(0, 3)) {
    case 0:
      return {{"type", input.PickValueInArray(
                           {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"})}};
    case 1:
      return {{"type", "BertNormalizer"},
              {"clean_text", input.ConsumeBool()},
              {"handle_chinese_chars", input.ConsumeBool()},
              {"strip_accents", input.ConsumeBool() ? Json() : Json(input.ConsumeBool())},
              {"lowercase", input.ConsumeBool()}};
    case 2:
      return {{"type", "Replace"},
              {"pattern",
               {{input.PickValueInArray({"String", "Regex"}),
                 input.PickValueInArray({"a", " {2,}", "\\s", "[^a]b?"})}}},
              {"content", input.PickValueInArray({"", "\xe2\x96\x81", "aa"})}};
    default:
      return AnyJson(input);
  }
}

Json AnyCutter(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange<int>(0, 4)) {
    case 0:
      return {{"type", input.PickValueInArray({"Whitespace", "WhitespaceSplit", "BertPreTokenizer",
                                               "Digits", "Punctuation"})}};
    case 1:
      return {{"type", "Split"},
              {"pattern",
               {{input.PickValueInArray({"String", "Regex"}),
                 input.PickValueInArray({"a", "b+", "\\s+(?!\\S)|\\s+", "(?i:'s|a)| ?\\p{L}+"})}}},
              {"behavior", input.PickValueInArray({"Removed", "Isolated", "MergedWithPrevious",
                                                   "MergedWithNext", "Contiguous"})},
              {"invert", input.ConsumeBool()}};
    case 2:
      return {{"type", "Metaspace"},
              {"replacement", "\xe2\x96\x81"},
              {"prepend_scheme", input.PickValueInArray({"first", "never", "always"})},
              {"split", input.ConsumeBool()}};
    case 3:
      return {{"type", "ByteLevel"},
              {"add_prefix_space", input.ConsumeBool()},
              {"use_regex", input.ConsumeBool()}};
    default:
      return AnyJson(input);
  }
}

Json AnyDecoder(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange<int>(0, 4)) {
    case 0:
      return {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", input.ConsumeBool()}};
    case 1:
      return {{"type", "Metaspace"}, {"replacement", "\xe2\x96\x81"}, {"prepend_scheme", "always"}};
    case 2:
      return {{"type", input.PickValueInArray({"ByteFallback", "Fuse"})}};
    case 3:
      return {{"type", "Strip"},
              {"content", " "},
              {"start", input.ConsumeIntegralInRange<int>(0, 2)},
              {"stop", input.ConsumeIntegralInRange<int>(0, 2)}};
    default:
      return AnyJson(input);
  }
}

std::vector<std::string> AnyTokens(FuzzedDataProvider& input) {
  std::vector<std::string> tokens = {"[UNK]", "a", "b", "##b", "\xe2\x96\x81", "ab"};
  if (input.ConsumeBool()) {
    for (int byte = 0; byte < 256; ++byte) {
      tokens.push_back(ByteTokenName(static_cast<unsigned char>(byte)));
    }
  }
  while (input.ConsumeBool()) tokens.push_back(input.ConsumeRandomLengthString(6));
  return tokens;
}

Json AnyModel(FuzzedDataProvider& input) {
  const auto tokens = AnyTokens(input);
  if (input.ConsumeBool()) {
    Json vocab = Json::array();
    for (const std::string& token : tokens) {
      vocab.push_back(Json::array({token, -input.ConsumeIntegralInRange<int>(0, 9)}));
    }
    return {{"type", "Unigram"},
            {"unk_id", input.ConsumeBool() ? Json() : Json(0)},
            {"vocab", vocab},
            {"byte_fallback", input.ConsumeBool()}};
  }
  Json vocab = Json::object();
  for (const std::string& token : tokens) vocab[token] = vocab.size();
  return {{"type", input.PickValueInArray({"WordLevel", "WordPiece", "BPE"})},
          {"vocab", vocab},
          {"unk_token", input.PickValueInArray({"[UNK]", ""})}};
}

Json Steps(FuzzedDataProvider& input, const char* list, Json (*any)(FuzzedDataProvider&)) {
  if (input.ConsumeBool()) return Json();
  Json steps = Json::array();
  while (input.ConsumeBool()) steps.push_back(any(input));
  return {{"type", "Sequence"}, {list, steps}};
}

void CheckTokenizer(FuzzedDataProvider& input) {
  Json added = Json::array();
  if (input.ConsumeBool()) {
    added.push_back({{"id", 0},
                     {"content", "[UNK]"},
                     {"special", input.ConsumeBool()},
                     {"normalized", input.ConsumeBool()},
                     {"lstrip", input.ConsumeBool()},
                     {"rstrip", input.ConsumeBool()}});
  }
  const Json json = {{"added_tokens", added},
                     {"normalizer", Steps(input, "normalizers", AnyNormalizer)},
                     {"pre_tokenizer", Steps(input, "pretokenizers", AnyCutter)},
                     {"post_processor", input.ConsumeBool() ? Json() : AnyJson(input)},
                     {"decoder", Steps(input, "decoders", AnyDecoder)},
                     {"model", AnyModel(input)}};
  const std::string file = MaybeDamaged(input, TextOf(json));
  const Result<Tokenizer> tokenizer = ReadLanguageJson(file, 1000);
  if (!tokenizer.ok()) {
    Check(tokenizer.error().message.find("tokenizer.json") != std::string::npos,
          "does not name the file");
    return;
  }
  CheckRoundTrip(tokenizer.value(), input.ConsumeRemainingBytesAsString(), TextEnds::kWithout);
}

// Matches do not overlap, and none is empty.
void CheckPattern(FuzzedDataProvider& input) {
  const auto pattern = Pattern::Read(input.ConsumeRandomLengthString(40));
  if (!pattern.ok()) return;
  const std::string text = input.ConsumeRemainingBytesAsString();
  std::size_t steps_left = Pattern::StepsFor(text);
  for (std::size_t at = 0;;) {
    const auto match = pattern.value().Find(text, at, steps_left);
    if (!match.ok() || !match.value()) return;
    Check(match.value()->begin >= at && match.value()->end > match.value()->begin &&
              match.value()->end <= text.size(),
          "a match that is empty or outside");
    at = match.value()->end;
  }
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  if (input.ConsumeBool()) {
    CheckTokenizer(input);
  } else {
    CheckPattern(input);
  }
  return 0;
}
