#include "engine/format/tokenizer_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/added_tokens.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

Error Bad(ErrorCode code, const std::string& what) {
  return Error{code, Concat("tokenizer.json: ", what)};
}

Error Unsupported(const std::string& field, const Json& found, std::string_view expected) {
  return Bad(ErrorCode::kUnsupported,
             Concat("\"", field, "\" is ", Shown(found), ", expected ", expected));
}

// The member `key` of `json`; null where it has none, or has null.
const Json* FindValue(const Json& json, std::string_view key) {
  const Json* const value = FindMember(json, key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

// Fails on a member of `json`, which is `field`, that is not among `known`.
Status CheckMembers(const Json& json, const std::string& field,
                    std::initializer_list<std::string_view> known) {
  if (!json.is_object()) return Unsupported(field, json, "an object");
  for (const auto& [key, value] : json.get_ref<const Json::object_t&>()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return Bad(ErrorCode::kUnsupported,
               Concat("\"", field, "\" has the unknown member ", Quoted(key)));
  }
  return Done{};
}

Result<bool> ReadFlag(const Json& json, const std::string& field, const char* key, bool otherwise) {
  const Json* const value = FindValue(json, key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  return Unsupported(Concat(field, ".", key), *value, "true or false");
}

// The member "type", or null.
const Json& TypeOf(const Json& json) {
  static const Json none;
  const Json* const type = FindMember(json, "type");
  return type == nullptr ? none : *type;
}

// Settings of the model that change nothing where they are null, false or "".
Status RefuseOtherModels(const Json& model) {
  GPT2_TRY(CheckMembers(
      model, "model",
      {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
       "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"}));
  // Old files do not say the type.
  if (FindMember(model, "type") != nullptr && !IsText(TypeOf(model), "BPE")) {
    return Unsupported("model.type", TypeOf(model), "\"BPE\"");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json* const value = FindValue(model, key);
    if (value != nullptr && !IsText(*value, "")) {
      return Unsupported(Concat("model.", key), *value, "null or \"\"");
    }
  }
  const Json* const dropout = FindValue(model, "dropout");
  if (dropout != nullptr && !WholeNumber(*dropout, 0, 0)) {
    return Unsupported("model.dropout", *dropout, "null or 0");
  }
  return Done{};
}

// Two halves, also as one text with a space between them.
Result<std::pair<std::string, std::string>> ReadMerge(const Json& merge, std::size_t index) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
  }
  if (merge.is_string()) {
    const std::string& line = merge.get_ref<const std::string&>();
    const std::size_t space = line.find(' ');
    if (space != std::string::npos && line.find(' ', space + 1) == std::string::npos) {
      return std::pair(line.substr(0, space), line.substr(space + 1));
    }
  }
  return Bad(ErrorCode::kCorrupt, Concat("\"model.merges\": entry ", index + 1, " is ",
                                         Shown(merge), ", expected two tokens"));
}

struct Vocabulary {
  std::vector<std::string> tokens;
  std::unordered_map<std::string_view, std::int32_t> ids;  // of the tokens
  std::vector<std::pair<std::string, std::string>> merges;
};

Result<Vocabulary> ReadVocabulary(const Json& model, std::size_t vocab_size) {
  const Json* const vocab = FindMember(model, "vocab");
  const Json* const merges = FindMember(model, "merges");
  if (vocab == nullptr || !vocab->is_object() || merges == nullptr || !merges->is_array()) {
    return Bad(ErrorCode::kCorrupt,
               "expected an object \"model.vocab\" and an array \"model.merges\"");
  }
  VocabularyIds ids("tokenizer.json", vocab_size);
  for (const auto& [token, id] : vocab->get_ref<const Json::object_t&>()) {
    GPT2_TRY(ids.Add(token, id));
  }
  Vocabulary vocabulary;
  GPT2_ASSIGN(vocabulary.tokens, ids.Take());
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.tokens[id].empty()) continue;
    vocabulary.ids.emplace(vocabulary.tokens[id], static_cast<std::int32_t>(id));
  }
  vocabulary.merges.reserve(merges->size());
  for (const Json& merge : *merges) {
    GPT2_ASSIGN(auto pair, ReadMerge(merge, vocabulary.merges.size()));
    vocabulary.merges.push_back(std::move(pair));
  }
  return vocabulary;
}

Result<AddedToken> ReadAddedToken(const Json& json, const std::string& field) {
  GPT2_TRY(CheckMembers(
      json, field, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
  const Json* const content = FindMember(json, "content");
  const Json* const id = FindMember(json, "id");
  const auto number = id == nullptr ? std::nullopt : WholeNumber(*id, 0, kMostVocabulary - 1);
  if (content == nullptr || !content->is_string() || !number) {
    return Bad(ErrorCode::kCorrupt,
               Concat("\"", field, "\": expected a text \"content\" and a token id \"id\""));
  }
  AddedToken token{.content = content->get<std::string>(),
                   .id = static_cast<std::int32_t>(*number)};
  if (token.content.empty() || token.content.size() > kMostAddedBytes) {
    return Bad(ErrorCode::kUnsupported, Concat("\"", field, ".content\" is ", token.content.size(),
                                               " bytes, expected 1 to ", kMostAddedBytes));
  }
  GPT2_ASSIGN(token.is_special, ReadFlag(json, field, "special", false));
  GPT2_ASSIGN(token.is_single_word, ReadFlag(json, field, "single_word", false));
  GPT2_ASSIGN(token.strips_left, ReadFlag(json, field, "lstrip", false));
  GPT2_ASSIGN(token.strips_right, ReadFlag(json, field, "rstrip", false));
  GPT2_ASSIGN(token.is_normalized, ReadFlag(json, field, "normalized", !token.is_special));
  return token;
}

// `tokenizers` does not take an added token's id from the file: it is that of the vocabulary, or
// the next one.
Status ReadAddedTokens(const Json* added, const Vocabulary& vocabulary, TokenizerRules& rules) {
  if (added == nullptr) return Done{};
  if (!added->is_array()) return Unsupported("added_tokens", *added, "an array");
  auto next = static_cast<std::int32_t>(vocabulary.ids.size());
  std::unordered_map<std::string, std::int32_t> seen;
  for (const Json& json : *added) {
    GPT2_ASSIGN(AddedToken token, ReadAddedToken(json, "added_tokens"));
    const auto found = vocabulary.ids.find(token.content);
    const std::int32_t expected = found == vocabulary.ids.end() ? next : found->second;
    if (!seen.emplace(token.content, token.id).second) {
      return Bad(ErrorCode::kUnsupported,
                 Concat("\"added_tokens\" lists ", Quoted(token.content), " twice"));
    }
    if (token.id != expected) {
      return Bad(ErrorCode::kUnsupported,
                 Concat("\"added_tokens\": ", Quoted(token.content), " has the id ", token.id,
                        ", expected ", expected));
    }
    next = std::max(next, token.id + 1);
    rules.added.push_back(std::move(token));
  }
  return Done{};
}

Status CheckPatternBytes(const std::string& field, const std::string& text) {
  if (!text.empty() && text.size() <= kMostAddedBytes) return Done{};
  return Bad(ErrorCode::kUnsupported,
             Concat("\"", field, "\" is ", text.size(), " bytes, expected 1 to ", kMostAddedBytes));
}

Result<std::string> ReadText(const Json& json, const std::string& field, const char* key) {
  const Json* const value = FindMember(json, key);
  if (value != nullptr && value->is_string()) return value->get<std::string>();
  return Unsupported(Concat(field, ".", key), value == nullptr ? Json() : *value, "a text");
}

// Calls `read` with each of the steps that `json`, which is `field`, consists of: itself, or those
// in a sequence of the member `list`.
Status ForSteps(const Json& json, const std::string& field, const char* list,
                FunctionRef<Status(const Json& step, const std::string& field)> read) {
  if (!IsText(TypeOf(json), "Sequence")) return read(json, field);
  GPT2_TRY(CheckMembers(json, field, {"type", list}));
  const Json* const steps = FindMember(json, list);
  const std::string name = Concat(field, ".", list);
  if (steps == nullptr || !steps->is_array()) {
    return Unsupported(name, steps == nullptr ? Json() : *steps, "an array");
  }
  std::size_t index = 0;
  for (const Json& step : *steps) {
    GPT2_TRY(ForSteps(step, Concat(name, "[", index++, "]"), list, read));
  }
  return Done{};
}

Status ReadNormalizer(const Json& json, const std::string& field, TokenizerRules& rules) {
  Normalizer step;
  const Json& type = TypeOf(json);
  if (IsText(type, "Replace")) {
    GPT2_TRY(CheckMembers(json, field, {"type", "pattern", "content"}));
    const Json* const pattern = FindMember(json, "pattern");
    if (pattern == nullptr) return Unsupported(Concat(field, ".pattern"), Json(), "a \"String\"");
    GPT2_TRY(CheckMembers(*pattern, Concat(field, ".pattern"), {"String"}));
    GPT2_ASSIGN(step.pattern, ReadText(*pattern, Concat(field, ".pattern"), "String"));
    GPT2_TRY(CheckPatternBytes(Concat(field, ".pattern.String"), step.pattern));
    GPT2_ASSIGN(step.content, ReadText(json, field, "content"));
  } else if (IsText(type, "Prepend")) {
    GPT2_TRY(CheckMembers(json, field, {"type", "prepend"}));
    step.kind = Normalizer::Kind::kPrepend;
    GPT2_ASSIGN(step.content, ReadText(json, field, "prepend"));
  } else if (IsText(type, "Strip")) {
    GPT2_TRY(CheckMembers(json, field, {"type", "strip_left", "strip_right"}));
    step.kind = Normalizer::Kind::kStrip;
    GPT2_ASSIGN(step.strips_left, ReadFlag(json, field, "strip_left", true));
    GPT2_ASSIGN(step.strips_right, ReadFlag(json, field, "strip_right", true));
  } else {
    return Unsupported(Concat(field, ".type"), type,
                       "\"Replace\", \"Prepend\", \"Strip\" or \"Sequence\"");
  }
  rules.normalizers.push_back(std::move(step));
  return Done{};
}

// GPT-2's own regular expression.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Status ReadSplit(const Json& json, const std::string& field, TokenizerRules& rules) {
  GPT2_TRY(CheckMembers(json, field, {"type", "pattern", "behavior", "invert"}));
  const Json* const pattern = FindMember(json, "pattern");
  const std::string name = Concat(field, ".pattern");
  if (pattern == nullptr) return Unsupported(name, Json(), "a \"String\" or a \"Regex\"");
  GPT2_TRY(CheckMembers(*pattern, name, {"String", "Regex"}));
  GPT2_ASSIGN(const std::string behavior, ReadText(json, field, "behavior"));
  GPT2_ASSIGN(const bool is_inverted, ReadFlag(json, field, "invert", false));
  const bool is_isolated = behavior == "Isolated" && !is_inverted;
  if (FindMember(*pattern, "Regex") != nullptr) {
    GPT2_ASSIGN(const std::string regex, ReadText(*pattern, name, "Regex"));
    if (regex != kGpt2Pattern) {
      return Unsupported(Concat(name, ".Regex"), Json(regex), "GPT-2's own");
    }
    // It matches every character: nothing lies between two matches.
    if (!is_isolated && !(behavior == "Removed" && is_inverted)) {
      return Unsupported(Concat(field, ".behavior"), Json(behavior), "\"Isolated\"");
    }
    rules.splitters.push_back({.kind = Splitter::Kind::kGpt2Words, .pattern = {}});
    return Done{};
  }
  Splitter splitter{.kind = Splitter::Kind::kText, .pattern = {}};
  GPT2_ASSIGN(splitter.pattern, ReadText(*pattern, name, "String"));
  GPT2_TRY(CheckPatternBytes(Concat(name, ".String"), splitter.pattern));
  if (!is_isolated) {
    return Unsupported(Concat(field, ".behavior"), Json(behavior), "\"Isolated\", not inverted");
  }
  rules.splitters.push_back(std::move(splitter));
  return Done{};
}

Status ReadByteLevel(const Json& json, const std::string& field, TokenizerRules& rules) {
  GPT2_TRY(CheckMembers(json, field, {"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  GPT2_ASSIGN(const bool has_prefix, ReadFlag(json, field, "add_prefix_space", true));
  if (has_prefix) rules.prefix_space_at = rules.splitters.size();
  GPT2_ASSIGN(const bool has_regex, ReadFlag(json, field, "use_regex", true));
  if (has_regex) rules.splitters.push_back({.kind = Splitter::Kind::kGpt2Words, .pattern = {}});
  return Done{};
}

Status ReadPreTokenizer(const Json* json, TokenizerRules& rules) {
  constexpr std::size_t kMostSplitters = 16;  // each word passes through all of them
  const std::string what = "pre_tokenizer";
  rules.splitters.clear();
  bool has_bytes = false;
  const auto read = [&](const Json& step, const std::string& field) -> Status {
    const Json& type = TypeOf(step);
    if (has_bytes || rules.splitters.size() == kMostSplitters) {
      return Unsupported(field, step,
                         Concat("\"ByteLevel\" to be the last of at most ", kMostSplitters));
    }
    if (IsText(type, "Split")) return ReadSplit(step, field, rules);
    if (IsText(type, "Digits")) {
      GPT2_TRY(CheckMembers(step, field, {"type", "individual_digits"}));
      GPT2_ASSIGN(const bool is_single, ReadFlag(step, field, "individual_digits", false));
      using Kind = Splitter::Kind;
      rules.splitters.push_back(
          {.kind = is_single ? Kind::kSingleDigits : Kind::kDigits, .pattern = {}});
      return Done{};
    }
    has_bytes = IsText(type, "ByteLevel");
    if (has_bytes) return ReadByteLevel(step, field, rules);
    return Unsupported(Concat(field, ".type"), type,
                       "\"ByteLevel\", \"Digits\", \"Split\" or \"Sequence\"");
  };
  if (json != nullptr) GPT2_TRY(ForSteps(*json, what, "pretokenizers", read));
  if (has_bytes) return Done{};
  return Bad(ErrorCode::kUnsupported, "\"pre_tokenizer\" has no \"ByteLevel\"");
}

// What a template puts before and behind the text.
Status ReadTemplate(const Json& json, const std::string& field, TokenizerRules& rules) {
  GPT2_TRY(CheckMembers(json, field, {"type", "single", "pair", "special_tokens"}));
  const Json* const single = FindMember(json, "single");
  const Json* const tokens = FindMember(json, "special_tokens");
  if (single == nullptr || !single->is_array() || tokens == nullptr) {
    return Bad(ErrorCode::kUnsupported,
               Concat("\"", field, "\": expected \"single\" and \"special_tokens\""));
  }
  bool has_text = false;
  for (const Json& piece : *single) {
    if (FindMember(piece, "Sequence") != nullptr && !has_text) {
      has_text = true;
      continue;
    }
    const Json* const special = FindMember(piece, "SpecialToken");
    const Json* const id = special == nullptr ? nullptr : FindMember(*special, "id");
    const bool is_named = id != nullptr && id->is_string();
    const Json* const token =
        is_named ? FindMember(*tokens, id->get_ref<const std::string&>()) : nullptr;
    const Json* const ids = token == nullptr ? nullptr : FindMember(*token, "ids");
    if (ids == nullptr) {
      return Unsupported(Concat(field, ".single"), piece,
                         "one text, and special tokens of \"special_tokens\"");
    }
    GPT2_ASSIGN(const std::vector<std::int32_t> found, ReadTokenIds(*ids));
    std::vector<std::int32_t>& to = has_text ? rules.end : rules.beginning;
    to.insert(to.end(), found.begin(), found.end());
  }
  if (has_text) return Done{};
  return Bad(ErrorCode::kUnsupported, Concat("\"", field, ".single\" has no text"));
}

Status ReadPostProcessor(const Json& processor, TokenizerRules& rules) {
  bool has_template = false;
  return ForSteps(processor, "post_processor", "processors",
                  [&](const Json& step, const std::string& field) -> Status {
                    // It moves offsets, which nothing here uses.
                    if (IsText(TypeOf(step), "ByteLevel")) return Done{};
                    if (IsText(TypeOf(step), "TemplateProcessing") && !has_template) {
                      has_template = true;
                      return ReadTemplate(step, field, rules);
                    }
                    return Unsupported(Concat(field, ".type"), TypeOf(step),
                                       "\"ByteLevel\" or one \"TemplateProcessing\"");
                  });
}

// The tokens of the model for bytes that have none.
Status CheckBytes(const Json& model, const Tokenizer& tokenizer) {
  for (int byte = 0; byte < 256; ++byte) {
    if (tokenizer.ByteToken(static_cast<unsigned char>(byte)) >= 0) continue;
    const Json* const unknown = FindValue(model, "unk_token");
    if (unknown != nullptr && !IsText(*unknown, "")) {
      return Unsupported("model.unk_token", *unknown, "null, because a byte has no token");
    }
    GPT2_ASSIGN(const bool falls_back, ReadFlag(model, "model", "byte_fallback", false));
    if (!falls_back) return Done{};
    return Bad(ErrorCode::kUnsupported,
               "\"model.byte_fallback\" is true, expected false, because a byte has no token");
  }
  return Done{};
}

}  // namespace

Result<Tokenizer> ReadTokenizerJson(std::string_view text, std::size_t vocab_size) {
  GPT2_ASSIGN(const ParsedJson parsed, ParseJson(text, "tokenizer.json"));
  const Json& json = *parsed;
  GPT2_TRY(CheckMembers(json, "tokenizer",
                        {"version", "truncation", "padding", "added_tokens", "normalizer",
                         "pre_tokenizer", "post_processor", "decoder", "model"}));
  const Json* const model = FindValue(json, "model");
  if (model == nullptr) return Unsupported("model", Json(), "an object");
  GPT2_TRY(RefuseOtherModels(*model));
  TokenizerRules rules;
  if (const Json* const normalizer = FindValue(json, "normalizer")) {
    GPT2_TRY(ForSteps(*normalizer, "normalizer", "normalizers",
                      [&](const Json& step, const std::string& field) {
                        return ReadNormalizer(step, field, rules);
                      }));
  }
  GPT2_TRY(ReadPreTokenizer(FindValue(json, "pre_tokenizer"), rules));
  if (const Json* const processor = FindValue(json, "post_processor")) {
    GPT2_TRY(ReadPostProcessor(*processor, rules));
  }
  const Json* const decoder = FindValue(json, "decoder");
  if (decoder == nullptr || !IsText(TypeOf(*decoder), "ByteLevel")) {
    return Unsupported("decoder", decoder == nullptr ? Json() : TypeOf(*decoder), "\"ByteLevel\"");
  }
  GPT2_ASSIGN(rules.ignores_merges, ReadFlag(*model, "model", "ignore_merges", false));
  GPT2_ASSIGN(const Vocabulary vocabulary, ReadVocabulary(*model, vocab_size));
  GPT2_TRY(ReadAddedTokens(FindValue(json, "added_tokens"), vocabulary, rules));
  GPT2_ASSIGN(Tokenizer tokenizer,
              InFile("tokenizer.json",
                     Tokenizer::Create(vocabulary.tokens, vocabulary.merges, std::move(rules))));
  GPT2_TRY(CheckBytes(*model, tokenizer));
  return tokenizer;
}

}  // namespace gpt2
