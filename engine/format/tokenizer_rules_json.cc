#include "engine/format/tokenizer_rules_json.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/tokenizer_fields.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/added_tokens.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

// Ids without a token that may precede an added one.
constexpr std::size_t kSpareIds = 256;
constexpr std::size_t kMostFlags = 31;

// The two or five flags of an entry as one number.
int FlagsOf(const AddedToken& token) {
  return token.is_special | token.is_single_word << 1 | token.strips_left << 2 |
         token.strips_right << 3 | token.is_normalized << 4;
}
int FlagsOf(const Normalizer& step) {
  return step.strips_left | step.strips_right << 1;
}

void WriteIds(std::string_view name, std::span<const std::int32_t> ids, JsonWriter& out) {
  out.Key(name).Open('[');
  for (const std::int32_t id : ids) out.Value(id);
  out.Close(']');
}

void WriteRules(const TokenizerRules& rules, JsonWriter& out) {
  out.Open('{').Key("added").Open('[');
  for (const AddedToken& token : rules.added) {
    out.Open('[').Value(token.content).Value(token.id).Value(FlagsOf(token)).Close(']');
  }
  out.Close(']').Key("normalizers").Open('[');
  for (const Normalizer& step : rules.normalizers) {
    out.Open('[').Value(static_cast<int>(step.kind)).Value(step.pattern).Value(step.content);
    out.Value(FlagsOf(step)).Close(']');
  }
  out.Close(']').Key("splitters").Open('[');
  for (const Splitter& step : rules.splitters) {
    out.Open('[').Value(static_cast<int>(step.kind)).Value(step.pattern).Close(']');
  }
  out.Close(']');
  if (rules.prefix_space_at) out.Member("prefixSpaceAt", *rules.prefix_space_at);
  out.Member("ignoresMerges", rules.ignores_merges);
  WriteIds("beginning", rules.beginning, out);
  WriteIds("end", rules.end, out);
  out.Close('}');
}

// Reads the output of WriteRules, and records whether anything differed from it.
class RulesReader {
 public:
  bool is_good() const { return is_good_; }

  // The array `name` of entries, each an array of `size` values; of ids if `size` is 0.
  std::span<const Json> List(const Json& json, std::string_view name, std::size_t size) {
    const Json* const list = FindMember(json, name);
    const auto* const entries = list == nullptr ? nullptr : list->get_ptr<const Json::array_t*>();
    if (!Check(entries != nullptr)) return {};
    for (const Json& entry : *entries) {
      if (!Check(size == 0 || (entry.is_array() && entry.size() == size))) return {};
    }
    return *entries;
  }

  std::string Text(const Json& json, bool may_be_empty = true) {
    const auto* const text = json.get_ptr<const std::string*>();
    const bool is_text = text != nullptr && (may_be_empty || !text->empty());
    return Check(is_text) ? *text : std::string();
  }

  // A text to search for.
  std::string Pattern(const Json& json, bool may_be_empty) {
    std::string text = Text(json, may_be_empty);
    Check(text.size() <= kMostAddedBytes);
    return text;
  }

  std::size_t Number(const Json& json, std::size_t most) {
    const auto number = WholeNumber(json, 0, static_cast<std::int64_t>(most));
    return Check(number.has_value()) ? static_cast<std::size_t>(*number) : 0;
  }

  std::vector<std::int32_t> Ids(const Json& json, std::string_view name) {
    std::vector<std::int32_t> ids;
    for (const Json& id : List(json, name, 0)) {
      ids.push_back(static_cast<std::int32_t>(Number(id, kMostVocabulary - 1)));
    }
    return ids;
  }

  bool Check(bool is_good) { return is_good_ = is_good_ && is_good; }

 private:
  bool is_good_ = true;
};

}  // namespace

Status WriteTokenizer(const TokenizerFiles& files, std::size_t vocab_size, JsonWriter& out) {
  GPT2_ASSIGN(const Tokenizer tokenizer, ReadTokenizer(files, vocab_size));
  out.Open('{');
  if (files.tokenizer.empty()) {
    out.Member("vocab", files.vocab).Member("merges", files.merges);
  } else {
    GPT2_ASSIGN(const ParsedJson json, ParseJson(files.tokenizer, "tokenizer.json"));
    GPT2_ASSIGN(const BytePairVocabulary vocabulary,
                ReadBytePairs(*field::FindValue(*json, "model"), vocab_size));
    std::string vocab;
    JsonWriter ids(vocab);
    ids.Open('{');
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
      if (!vocabulary.tokens[id].empty()) ids.Member(vocabulary.tokens[id], id);
    }
    ids.Close('}');
    std::string merges = "#version: 0.2\n";
    for (const auto& [left, right] : vocabulary.merges) {
      for (const std::string& half : {left, right}) {
        if (!half.empty() && half.find_first_of(" \r\n") == std::string::npos) continue;
        return field::Bad(ErrorCode::kUnsupported,
                          Concat("\"model.merges\" has ", Quoted(half),
                                 ", expected a token without white space"));
      }
      merges += left + " " + right + "\n";
    }
    out.Member("vocab", std::string_view(vocab)).Member("merges", std::string_view(merges));
  }
  WriteRules(tokenizer.rules(), out.Key("rules"));
  out.Close('}');
  return Done{};
}

Result<TokenizerRules> ReadRules(const Json& json, std::size_t tokens) {
  RulesReader read;
  TokenizerRules rules;
  rules.splitters.clear();
  const std::span<const Json> added = read.List(json, "added", 3);
  const std::size_t most = tokens + added.size() + kSpareIds;
  for (const Json& entry : added) {
    const std::size_t flags = read.Number(entry[2], kMostFlags);
    rules.added.push_back({.content = read.Pattern(entry[0], /*may_be_empty=*/false),
                           .id = static_cast<std::int32_t>(read.Number(entry[1], most)),
                           .is_special = (flags & 1) != 0,
                           .is_single_word = (flags & 2) != 0,
                           .strips_left = (flags & 4) != 0,
                           .strips_right = (flags & 8) != 0,
                           .is_normalized = (flags & 16) != 0});
  }
  for (const Json& entry : read.List(json, "normalizers", 4)) {
    const auto kind = static_cast<Normalizer::Kind>(
        read.Number(entry[0], static_cast<std::size_t>(Normalizer::Kind::kStrip)));
    const std::size_t flags = read.Number(entry[3], kMostFlags);
    rules.normalizers.push_back(
        {.kind = kind,
         .pattern = read.Pattern(entry[1], kind != Normalizer::Kind::kReplace),
         .content = read.Text(entry[2]),
         .strips_left = (flags & 1) != 0,
         .strips_right = (flags & 2) != 0});
  }
  for (const Json& entry : read.List(json, "splitters", 2)) {
    const auto kind = static_cast<Splitter::Kind>(
        read.Number(entry[0], static_cast<std::size_t>(Splitter::Kind::kGpt2Words)));
    rules.splitters.push_back(
        {.kind = kind, .pattern = read.Pattern(entry[1], kind != Splitter::Kind::kText)});
  }
  if (const Json* const at = FindMember(json, "prefixSpaceAt")) {
    rules.prefix_space_at = read.Number(*at, rules.splitters.size());
  }
  const Json* const ignores = FindMember(json, "ignoresMerges");
  rules.ignores_merges =
      read.Check(ignores != nullptr && ignores->is_boolean()) && ignores->get<bool>();
  rules.beginning = read.Ids(json, "beginning");
  rules.end = read.Ids(json, "end");
  if (read.is_good()) return rules;
  return Error{ErrorCode::kInvalidArgument,
               "the tokenizer rules are not in the form that the converter writes"};
}

}  // namespace gpt2
