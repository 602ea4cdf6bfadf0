#include "engine/format/tokenizer_fields.h"

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
#include "engine/text/tokenizer_rules.h"

namespace gpt2::field {

Error Bad(ErrorCode code, const std::string& what) {
  return Error{code, Concat("tokenizer.json: ", what)};
}

Error Unsupported(const std::string& field, const Json& found, std::string_view expected) {
  return Bad(ErrorCode::kUnsupported,
             Concat("\"", field, "\" is ", Shown(found), ", expected ", expected));
}

// The member `key` of `json`; null if it is missing or null.
const Json* FindValue(const Json& json, std::string_view key) {
  const Json* const value = FindMember(json, key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

// Fails if `json`, the field `field`, has a member that is not in `known`.
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

Result<const Json*> ModelOf(const Json& json) {
  GPT2_TRY(CheckMembers(json, "tokenizer",
                        {"version", "truncation", "padding", "added_tokens", "normalizer",
                         "pre_tokenizer", "post_processor", "decoder", "model"}));
  const Json* const model = FindValue(json, "model");
  if (model == nullptr) return Unsupported("model", Json(), "an object");
  return model;
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

Status CheckGrowth(const std::string& field, const Normalizer& step, std::size_t& growth) {
  constexpr std::size_t kMostGrowth = 1024;
  const bool is_replaced = step.kind == Normalizer::Kind::kReplace;
  const std::size_t size = step.content.size(), pattern = step.pattern.size();
  if (size <= kMostAddedBytes) {
    // A text that something is prepended to has at least one byte.
    growth *= is_replaced ? std::max<std::size_t>(1, (size + pattern - 1) / pattern) : 1 + size;
    if (growth <= kMostGrowth) return Done{};
  }
  return Bad(
      ErrorCode::kUnsupported,
      Concat("\"", field, is_replaced ? ".content" : ".prepend", "\" is ", size,
             " bytes, expected at most ", kMostAddedBytes,
             "; all steps together may make a text at most ", kMostGrowth, " times as long"));
}

// Calls `read` with `json`, which is `field`. If it is a sequence of steps, calls `read` with each
// step in its member `list` instead.
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

}  // namespace gpt2::field

namespace gpt2 {
namespace {

// Two halves, also as one text with a space in between.
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
  return field::Bad(ErrorCode::kCorrupt, Concat("\"model.merges\": entry ", index + 1, " is ",
                                                Shown(merge), ", expected two tokens"));
}

Result<AddedToken> ReadAddedToken(const Json& json, const std::string& field) {
  GPT2_TRY(field::CheckMembers(
      json, field, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
  const Json* const content = FindMember(json, "content");
  const Json* const id = FindMember(json, "id");
  const auto number = id == nullptr ? std::nullopt : WholeNumber(*id, 0, kMostVocabulary - 1);
  if (content == nullptr || !content->is_string() || !number) {
    return field::Bad(ErrorCode::kCorrupt,
                      Concat("\"", field, "\": expected text \"content\" and a token id \"id\""));
  }
  AddedToken token{.content = content->get<std::string>(),
                   .id = static_cast<std::int32_t>(*number)};
  GPT2_TRY(field::CheckPatternBytes(Concat(field, ".content"), token.content));
  GPT2_ASSIGN(token.is_special, field::ReadFlag(json, field, "special", false));
  GPT2_ASSIGN(token.is_single_word, field::ReadFlag(json, field, "single_word", false));
  GPT2_ASSIGN(token.strips_left, field::ReadFlag(json, field, "lstrip", false));
  GPT2_ASSIGN(token.strips_right, field::ReadFlag(json, field, "rstrip", false));
  GPT2_ASSIGN(token.is_normalized, field::ReadFlag(json, field, "normalized", !token.is_special));
  return token;
}

// The tokens that a template puts before and after the text. Each piece is searched for among all
// special tokens.
Status ReadTemplate(const Json& json, const std::string& field, TokenizerRules& rules) {
  constexpr std::size_t kMostPieces = 64;
  constexpr std::size_t kMostIds = 256;  // on one side of the text
  GPT2_TRY(field::CheckMembers(json, field, {"type", "single", "pair", "special_tokens"}));
  const Json* const single = FindMember(json, "single");
  const Json* const tokens = FindMember(json, "special_tokens");
  if (single == nullptr || !single->is_array() || tokens == nullptr) {
    return field::Bad(ErrorCode::kUnsupported,
                      Concat("\"", field, "\": expected \"single\" and \"special_tokens\""));
  }
  if (single->size() > kMostPieces) {
    return field::Unsupported(Concat(field, ".single"), *single,
                              Concat("at most ", kMostPieces, " pieces"));
  }
  bool has_text = false;
  for (const Json& piece : *single) {
    const Json* const text = FindMember(piece, "Sequence");
    const Json* const which = text == nullptr ? nullptr : FindMember(*text, "id");
    if (which != nullptr && IsText(*which, "A") && !has_text) {
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
      return field::Unsupported(Concat(field, ".single"), piece,
                                "one text, and special tokens of \"special_tokens\"");
    }
    GPT2_ASSIGN(const std::vector<std::int32_t> found, ReadTokenIds(*ids));
    std::vector<std::int32_t>& to = has_text ? rules.end : rules.beginning;
    if (found.size() > kMostIds - to.size()) {
      return field::Bad(ErrorCode::kUnsupported,
                        Concat("\"", field, ".single\" puts ", to.size() + found.size(),
                               " tokens on one side of the text, expected at most ", kMostIds));
    }
    to.insert(to.end(), found.begin(), found.end());
  }
  if (has_text) return Done{};
  return field::Bad(ErrorCode::kUnsupported, Concat("\"", field, ".single\" has no text"));
}

}  // namespace

Result<BytePairVocabulary> ReadBytePairs(const Json& model, std::size_t vocab_size) {
  const Json* const vocab = FindMember(model, "vocab");
  const Json* const merges = FindMember(model, "merges");
  if (vocab == nullptr || !vocab->is_object() || merges == nullptr || !merges->is_array()) {
    return field::Bad(ErrorCode::kCorrupt,
                      "expected an object \"model.vocab\" and an array \"model.merges\"");
  }
  VocabularyIds ids("tokenizer.json", vocab_size);
  for (const auto& [token, id] : vocab->get_ref<const Json::object_t&>()) {
    GPT2_TRY(ids.Add(token, id));
  }
  BytePairVocabulary vocabulary;
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

// `tokenizers` ignores an added token's id in the file: it uses that of the vocabulary, or the next
// free one.
Status ReadAddedTokens(const Json* added,
                       const std::unordered_map<std::string_view, std::int32_t>& ids,
                       TokenizerRules& rules) {
  if (added == nullptr) return Done{};
  if (!added->is_array()) return field::Unsupported("added_tokens", *added, "an array");
  auto next = static_cast<std::int32_t>(ids.size());
  std::unordered_map<std::string, std::int32_t> seen;
  for (const Json& json : *added) {
    GPT2_ASSIGN(AddedToken token, ReadAddedToken(json, "added_tokens"));
    const auto found = ids.find(token.content);
    const std::int32_t expected = found == ids.end() ? next : found->second;
    if (!seen.emplace(token.content, token.id).second) {
      return field::Bad(ErrorCode::kUnsupported,
                        Concat("\"added_tokens\" lists ", Quoted(token.content), " twice"));
    }
    if (token.id != expected) {
      return field::Bad(ErrorCode::kUnsupported,
                        Concat("\"added_tokens\": ", Quoted(token.content), " has the id ",
                               token.id, ", expected ", expected));
    }
    next = std::max(next, token.id + 1);
    rules.added.push_back(std::move(token));
  }
  return Done{};
}

Status ReadNormalizer(const Json& json, const std::string& field, TokenizerRules& rules) {
  if (rules.normalizers.size() == field::kMostSteps) {
    return field::Unsupported(field, json, Concat("at most ", field::kMostSteps, " steps"));
  }
  Normalizer step;
  const Json& type = field::TypeOf(json);
  if (IsText(type, "Replace")) {
    GPT2_TRY(field::CheckMembers(json, field, {"type", "pattern", "content"}));
    const Json* const pattern = FindMember(json, "pattern");
    if (pattern == nullptr)
      return field::Unsupported(Concat(field, ".pattern"), Json(), "a \"String\"");
    GPT2_TRY(field::CheckMembers(*pattern, Concat(field, ".pattern"), {"String"}));
    GPT2_ASSIGN(step.pattern, field::ReadText(*pattern, Concat(field, ".pattern"), "String"));
    GPT2_TRY(field::CheckPatternBytes(Concat(field, ".pattern.String"), step.pattern));
    GPT2_ASSIGN(step.content, field::ReadText(json, field, "content"));
  } else if (IsText(type, "Prepend")) {
    GPT2_TRY(field::CheckMembers(json, field, {"type", "prepend"}));
    step.kind = Normalizer::Kind::kPrepend;
    GPT2_ASSIGN(step.content, field::ReadText(json, field, "prepend"));
  } else if (IsText(type, "Strip")) {
    GPT2_TRY(field::CheckMembers(json, field, {"type", "strip_left", "strip_right"}));
    step.kind = Normalizer::Kind::kStrip;
    GPT2_ASSIGN(step.strips_left, field::ReadFlag(json, field, "strip_left", true));
    GPT2_ASSIGN(step.strips_right, field::ReadFlag(json, field, "strip_right", true));
  } else {
    return field::Unsupported(Concat(field, ".type"), type,
                              "\"Replace\", \"Prepend\", \"Strip\" or \"Sequence\"");
  }
  rules.normalizers.push_back(std::move(step));
  std::size_t growth = 1;
  for (const Normalizer& each : rules.normalizers) {
    GPT2_TRY(field::CheckGrowth(field, each, growth));
  }
  return Done{};
}

Status ReadPostProcessor(const Json& processor, TokenizerRules& rules) {
  bool has_template = false;
  return field::ForSteps(processor, "post_processor", "processors",
                         [&](const Json& step, const std::string& field) -> Status {
                           // It only moves offsets, which are not used here.
                           if (IsText(field::TypeOf(step), "ByteLevel")) return Done{};
                           if (IsText(field::TypeOf(step), "TemplateProcessing") && !has_template) {
                             has_template = true;
                             return ReadTemplate(step, field, rules);
                           }
                           return field::Unsupported(Concat(field, ".type"), field::TypeOf(step),
                                                     "\"ByteLevel\" or one \"TemplateProcessing\"");
                         });
}

}  // namespace gpt2
