#include "engine/format/tokenizer_json.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/tokenizer_fields.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

// Model settings that have no effect if they are null, false or "".
Status RefuseOtherSettings(const Json& model) {
  GPT2_TRY(field::CheckMembers(
      model, "model",
      {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
       "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"}));
  // Old files do not state the type.
  if (FindMember(model, "type") != nullptr && !IsText(field::TypeOf(model), "BPE")) {
    return field::Unsupported("model.type", field::TypeOf(model), "\"BPE\"");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json* const value = field::FindValue(model, key);
    if (value != nullptr && !IsText(*value, "")) {
      return field::Unsupported(Concat("model.", key), *value, "null or \"\"");
    }
  }
  const Json* const dropout = field::FindValue(model, "dropout");
  if (dropout != nullptr && !WholeNumber(*dropout, 0, 0)) {
    return field::Unsupported("model.dropout", *dropout, "null or 0");
  }
  return Done{};
}

// GPT-2's own regular expression.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Status ReadSplit(const Json& json, const std::string& field, TokenizerRules& rules) {
  GPT2_TRY(field::CheckMembers(json, field, {"type", "pattern", "behavior", "invert"}));
  const Json* const pattern = FindMember(json, "pattern");
  const std::string name = Concat(field, ".pattern");
  if (pattern == nullptr) return field::Unsupported(name, Json(), "a \"String\" or a \"Regex\"");
  GPT2_TRY(field::CheckMembers(*pattern, name, {"String", "Regex"}));
  GPT2_ASSIGN(const std::string behavior, field::ReadText(json, field, "behavior"));
  GPT2_ASSIGN(const bool is_inverted, field::ReadFlag(json, field, "invert", false));
  const bool is_isolated = behavior == "Isolated" && !is_inverted;
  if (FindMember(*pattern, "Regex") != nullptr) {
    GPT2_ASSIGN(const std::string regex, field::ReadText(*pattern, name, "Regex"));
    if (regex != kGpt2Pattern) {
      return field::Unsupported(Concat(name, ".Regex"), Json(regex), "GPT-2's own");
    }
    // If it matches every character, nothing lies between two matches.
    if (!is_isolated && !(behavior == "Removed" && is_inverted)) {
      return field::Unsupported(Concat(field, ".behavior"), Json(behavior), "\"Isolated\"");
    }
    rules.splitters.push_back({.kind = Splitter::Kind::kGpt2Words, .pattern = {}});
    return Done{};
  }
  Splitter splitter{.kind = Splitter::Kind::kText, .pattern = {}};
  GPT2_ASSIGN(splitter.pattern, field::ReadText(*pattern, name, "String"));
  GPT2_TRY(field::CheckPatternBytes(Concat(name, ".String"), splitter.pattern));
  if (!is_isolated) {
    return field::Unsupported(Concat(field, ".behavior"), Json(behavior),
                              "\"Isolated\", not inverted");
  }
  rules.splitters.push_back(std::move(splitter));
  return Done{};
}

Status ReadByteLevel(const Json& json, const std::string& field, TokenizerRules& rules) {
  GPT2_TRY(
      field::CheckMembers(json, field, {"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  GPT2_ASSIGN(const bool has_prefix, field::ReadFlag(json, field, "add_prefix_space", true));
  if (has_prefix) rules.prefix_space_at = rules.splitters.size();
  GPT2_ASSIGN(const bool has_regex, field::ReadFlag(json, field, "use_regex", true));
  if (has_regex) rules.splitters.push_back({.kind = Splitter::Kind::kGpt2Words, .pattern = {}});
  return Done{};
}

Status ReadPreTokenizer(const Json* json, TokenizerRules& rules) {
  const std::string what = "pre_tokenizer";
  rules.splitters.clear();
  bool has_bytes = false;
  const auto read = [&](const Json& step, const std::string& field) -> Status {
    const Json& type = field::TypeOf(step);
    if (has_bytes || rules.splitters.size() == field::kMostSteps) {
      return field::Unsupported(
          field, step, Concat("\"ByteLevel\" to be the last of at most ", field::kMostSteps));
    }
    if (IsText(type, "Split")) return ReadSplit(step, field, rules);
    if (IsText(type, "Digits")) {
      GPT2_TRY(field::CheckMembers(step, field, {"type", "individual_digits"}));
      GPT2_ASSIGN(const bool is_single, field::ReadFlag(step, field, "individual_digits", false));
      using Kind = Splitter::Kind;
      rules.splitters.push_back(
          {.kind = is_single ? Kind::kSingleDigits : Kind::kDigits, .pattern = {}});
      return Done{};
    }
    has_bytes = IsText(type, "ByteLevel");
    if (has_bytes) return ReadByteLevel(step, field, rules);
    return field::Unsupported(Concat(field, ".type"), type,
                              "\"ByteLevel\", \"Digits\", \"Split\" or \"Sequence\"");
  };
  if (json != nullptr) GPT2_TRY(field::ForSteps(*json, what, "pretokenizers", read));
  if (has_bytes) return Done{};
  return field::Bad(ErrorCode::kUnsupported, "\"pre_tokenizer\" has no \"ByteLevel\"");
}

// Checks the model's fallback for bytes without a token.
Status CheckBytes(const Json& model, const Tokenizer& tokenizer) {
  for (int byte = 0; byte < 256; ++byte) {
    if (tokenizer.ByteToken(static_cast<unsigned char>(byte)) >= 0) continue;
    const Json* const unknown = field::FindValue(model, "unk_token");
    if (unknown != nullptr && !IsText(*unknown, "")) {
      return field::Unsupported("model.unk_token", *unknown, "null, because a byte has no token");
    }
    GPT2_ASSIGN(const bool falls_back, field::ReadFlag(model, "model", "byte_fallback", false));
    if (!falls_back) return Done{};
    return field::Bad(
        ErrorCode::kUnsupported,
        "\"model.byte_fallback\" is true, expected false, because a byte has no token");
  }
  return Done{};
}

}  // namespace

Result<Tokenizer> ReadBytePairTokenizer(const Json& model, const Json* added, TokenizerRules rules,
                                        std::size_t vocab_size) {
  GPT2_TRY(RefuseOtherSettings(model));
  GPT2_ASSIGN(rules.ignores_merges, field::ReadFlag(model, "model", "ignore_merges", false));
  GPT2_ASSIGN(const BytePairVocabulary vocabulary, ReadBytePairs(model, vocab_size));
  GPT2_TRY(ReadAddedTokens(added, vocabulary.ids, rules));
  GPT2_ASSIGN(Tokenizer tokenizer,
              InFile("tokenizer.json",
                     Tokenizer::Create(vocabulary.tokens, vocabulary.merges, std::move(rules))));
  GPT2_TRY(CheckBytes(model, tokenizer));
  return tokenizer;
}

Result<Tokenizer> ReadTokenizerJson(std::string_view text, std::size_t vocab_size) {
  GPT2_ASSIGN(const ParsedJson parsed, ParseJson(text, "tokenizer.json"));
  const Json& json = *parsed;
  GPT2_ASSIGN(const Json* const model, field::ModelOf(json));
  TokenizerRules rules;
  if (const Json* const normalizer = field::FindValue(json, "normalizer")) {
    GPT2_TRY(field::ForSteps(*normalizer, "normalizer", "normalizers",
                             [&](const Json& step, const std::string& field) {
                               return ReadNormalizer(step, field, rules);
                             }));
  }
  GPT2_TRY(ReadPreTokenizer(field::FindValue(json, "pre_tokenizer"), rules));
  if (const Json* const processor = field::FindValue(json, "post_processor")) {
    GPT2_TRY(ReadPostProcessor(*processor, rules));
  }
  const Json* const decoder = field::FindValue(json, "decoder");
  if (decoder == nullptr || !IsText(field::TypeOf(*decoder), "ByteLevel")) {
    return field::Unsupported("decoder", decoder == nullptr ? Json() : field::TypeOf(*decoder),
                              "\"ByteLevel\"");
  }
  return ReadBytePairTokenizer(*model, field::FindValue(json, "added_tokens"), std::move(rules),
                               vocab_size);
}

}  // namespace gpt2
