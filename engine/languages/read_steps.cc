#include "engine/languages/read_steps.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/tokenizer_fields.h"
#include "engine/languages/base64.h"
#include "engine/languages/characters.h"
#include "engine/languages/charsmap.h"
#include "engine/languages/language_tokenizer.h"
#include "engine/languages/pattern.h"
#include "engine/languages/text_decoder.h"
#include "engine/languages/text_steps.h"
#include "engine/languages/unicode_forms.h"
#include "engine/text/tokenizer_rules.h"
#include "engine/text/unicode_class.h"

namespace gpt2 {
namespace {

bool IsOneCharacter(const std::string& text) {
  return Characters(text).size() == 1;
}

// A "String" or a "Regex".
struct Searched {
  std::string literal;
  std::optional<Pattern> pattern;
};

Result<Searched> ReadSearched(const Json& json, const std::string& field) {
  const std::string name = Concat(field, ".pattern");
  const Json* const found = FindMember(json, "pattern");
  if (found == nullptr) return field::Unsupported(name, Json(), "a \"String\" or a \"Regex\"");
  GPT2_TRY(field::CheckMembers(*found, name, {"String", "Regex"}));
  if (found->size() != 1) return field::Unsupported(name, *found, "a \"String\" or a \"Regex\"");
  Searched searched;
  if (FindMember(*found, "Regex") == nullptr) {
    GPT2_ASSIGN(searched.literal, field::ReadText(*found, name, "String"));
    GPT2_TRY(field::CheckPatternBytes(Concat(name, ".String"), searched.literal));
    return searched;
  }
  GPT2_ASSIGN(const std::string regex, field::ReadText(*found, name, "Regex"));
  auto pattern = Pattern::Read(regex);
  if (!pattern.ok()) {
    return field::Unsupported(Concat(name, ".Regex"), Json(regex),
                              Concat("an expression of characters, groups and simple quantifiers: ",
                                     pattern.error().message));
  }
  searched.pattern = std::move(pattern.value());
  return searched;
}

Result<CutBehavior> ReadBehavior(const Json& json, const std::string& field) {
  if (field::FindValue(json, "behavior") == nullptr) return CutBehavior::kIsolated;
  GPT2_ASSIGN(const std::string name, field::ReadText(json, field, "behavior"));
  constexpr struct {
    std::string_view name;
    CutBehavior behavior;
  } kBehaviors[] = {{"Removed", CutBehavior::kRemoved},
                    {"Isolated", CutBehavior::kIsolated},
                    {"MergedWithPrevious", CutBehavior::kMergedWithPrevious},
                    {"MergedWithNext", CutBehavior::kMergedWithNext},
                    {"Contiguous", CutBehavior::kContiguous}};
  for (const auto& [known, behavior] : kBehaviors) {
    if (name == known) return behavior;
  }
  return field::Unsupported(Concat(field, ".behavior"), Json(name), "a behavior of \"tokenizers\"");
}

// `growth` is the factor by which the steps can make a text longer.
Status ReadNormalizerStep(const Json& step, const std::string& field, TextSteps& steps,
                          std::size_t& growth) {
  const Json& type = field::TypeOf(step);
  if (steps.size() == field::kMostSteps) {
    return field::Unsupported(field, step, Concat("at most ", field::kMostSteps, " steps"));
  }
  constexpr struct {
    std::string_view name;
    UnicodeForm form;
  } kForms[] = {{"NFC", UnicodeForm::kNfc},
                {"NFD", UnicodeForm::kNfd},
                {"NFKC", UnicodeForm::kNfkc},
                {"NFKD", UnicodeForm::kNfkd}};
  for (const auto& [name, form] : kForms) {
    if (!IsText(type, name)) continue;
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    steps.push_back(FormStep(form));
    return Done{};
  }
  if (IsText(type, "Lowercase")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    steps.push_back(LowercaseStep());
    return Done{};
  }
  if (IsText(type, "StripAccents")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    steps.push_back(StripAccentsStep());
    return Done{};
  }
  if (IsText(type, "BertNormalizer")) {
    GPT2_TRY(field::CheckMembers(
        step, field, {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}));
    BertRules rules;
    GPT2_ASSIGN(rules.cleans, field::ReadFlag(step, field, "clean_text", true));
    GPT2_ASSIGN(rules.spaces_chinese, field::ReadFlag(step, field, "handle_chinese_chars", true));
    GPT2_ASSIGN(rules.lowercases, field::ReadFlag(step, field, "lowercase", true));
    GPT2_ASSIGN(rules.strips_accents,
                field::ReadFlag(step, field, "strip_accents", rules.lowercases));
    steps.push_back(BertStep(rules));
    return Done{};
  }
  if (IsText(type, "Precompiled")) {
    constexpr const char* kMap = "precompiled_charsmap";
    GPT2_TRY(field::CheckMembers(step, field, {"type", kMap}));
    GPT2_ASSIGN(const std::string base64, field::ReadText(step, field, kMap));
    const auto bytes = BytesFromBase64(base64);
    if (!bytes)
      return field::Bad(ErrorCode::kCorrupt, Concat("\"", field, ".", kMap, "\" is not base64"));
    auto map = CharsMap::Read(*bytes);
    if (!map.ok()) return field::Bad(map.error().code, Concat(field, ": ", map.error().message));
    const std::string longest(map.value().longest(), ' ');
    GPT2_TRY(field::CheckGrowth(field, {.pattern = " ", .content = longest}, growth));
    steps.push_back(CharsMapStep(std::move(map.value())));
    return Done{};
  }
  const Json* const pattern = IsText(type, "Replace") ? FindMember(step, "pattern") : nullptr;
  if (pattern != nullptr && FindMember(*pattern, "Regex") != nullptr) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "pattern", "content"}));
    GPT2_ASSIGN(Searched searched, ReadSearched(step, field));
    GPT2_ASSIGN(std::string content, field::ReadText(step, field, "content"));
    GPT2_TRY(field::CheckGrowth(field, {.pattern = " ", .content = content}, growth));
    steps.push_back(ReplaceStep(std::move(*searched.pattern), std::move(content)));
    return Done{};
  }
  if (IsText(type, "Replace") || IsText(type, "Prepend") || IsText(type, "Strip")) {
    TokenizerRules rules;
    GPT2_TRY(ReadNormalizer(step, field, rules));
    for (Normalizer& one : rules.normalizers) {
      GPT2_TRY(field::CheckGrowth(field, one, growth));
      steps.push_back(PlainStep(std::move(one)));
    }
    return Done{};
  }
  return field::Unsupported(Concat(field, ".type"), type, "a normalizer that this engine computes");
}

Status ReadMetaspace(const Json& json, const std::string& field, std::string& replacement,
                     PrependScheme& scheme, bool& is_split) {
  GPT2_TRY(field::CheckMembers(
      json, field,
      {"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"}));
  GPT2_ASSIGN(replacement, field::ReadText(json, field, "replacement"));
  if (!IsOneCharacter(replacement)) {
    return field::Unsupported(Concat(field, ".replacement"), Json(replacement), "one character");
  }
  scheme = PrependScheme::kAlways;
  if (field::FindValue(json, "prepend_scheme") != nullptr) {
    GPT2_ASSIGN(const std::string name, field::ReadText(json, field, "prepend_scheme"));
    if (name == "first") {
      scheme = PrependScheme::kFirst;
    } else if (name == "never") {
      scheme = PrependScheme::kNever;
    } else if (name != "always") {
      return field::Unsupported(Concat(field, ".prepend_scheme"), Json(name),
                                "\"first\", \"never\" or \"always\"");
    }
  }
  GPT2_ASSIGN(const bool has_prefix,
              field::ReadFlag(json, field, "add_prefix_space", scheme != PrependScheme::kNever));
  if (has_prefix != (scheme != PrependScheme::kNever)) {
    if (field::FindValue(json, "prepend_scheme") != nullptr) {
      return field::Unsupported(Concat(field, ".add_prefix_space"), Json(has_prefix),
                                "what \"prepend_scheme\" says");
    }
    scheme = PrependScheme::kNever;
  }
  GPT2_ASSIGN(is_split, field::ReadFlag(json, field, "split", true));
  return Done{};
}

Status ReadCutter(const Json& step, const std::string& field, TextCutters& cutters) {
  const Json& type = field::TypeOf(step);
  if (IsText(type, "Split")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "pattern", "behavior", "invert"}));
    GPT2_ASSIGN(Searched searched, ReadSearched(step, field));
    GPT2_ASSIGN(const CutBehavior behavior, ReadBehavior(step, field));
    GPT2_ASSIGN(const bool is_inverted, field::ReadFlag(step, field, "invert", false));
    cutters.push_back(searched.pattern
                          ? PatternCutter(std::move(*searched.pattern), behavior, is_inverted)
                          : LiteralCutter(std::move(searched.literal), behavior, is_inverted));
  } else if (IsText(type, "Digits")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "individual_digits"}));
    GPT2_ASSIGN(const bool is_single, field::ReadFlag(step, field, "individual_digits", false));
    cutters.push_back(
        CharacterCutter(IsNumeric, is_single ? CutBehavior::kIsolated : CutBehavior::kContiguous));
  } else if (IsText(type, "Punctuation")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "behavior"}));
    GPT2_ASSIGN(const CutBehavior behavior, ReadBehavior(step, field));
    cutters.push_back(CharacterCutter(IsPunctuation, behavior));
  } else if (IsText(type, "WhitespaceSplit")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    cutters.push_back(CharacterCutter(IsWhiteSpace, CutBehavior::kRemoved));
  } else if (IsText(type, "Whitespace")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    cutters.push_back(WordCutter());
  } else if (IsText(type, "BertPreTokenizer")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    cutters.push_back(CharacterCutter(IsWhiteSpace, CutBehavior::kRemoved));
    cutters.push_back(CharacterCutter(IsPunctuation, CutBehavior::kIsolated));
  } else if (IsText(type, "CharDelimiterSplit")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "delimiter"}));
    GPT2_ASSIGN(std::string delimiter, field::ReadText(step, field, "delimiter"));
    if (!IsOneCharacter(delimiter)) {
      return field::Unsupported(Concat(field, ".delimiter"), Json(delimiter), "one character");
    }
    cutters.push_back(LiteralCutter(std::move(delimiter), CutBehavior::kRemoved, false));
  } else if (IsText(type, "Metaspace")) {
    std::string replacement;
    PrependScheme scheme = PrependScheme::kAlways;
    bool is_split = true;
    GPT2_TRY(ReadMetaspace(step, field, replacement, scheme, is_split));
    cutters.push_back(MetaspaceCutter(std::move(replacement), scheme, is_split));
  } else {
    return field::Unsupported(Concat(field, ".type"), type,
                              "a pre-tokenizer that this engine computes");
  }
  return Done{};
}

Result<std::size_t> ReadCount(const Json& json, const std::string& field, const char* key) {
  const Json* const value = FindMember(json, key);
  const auto number = value == nullptr ? std::nullopt : WholeNumber(*value, 0, 1000);
  if (number) return static_cast<std::size_t>(*number);
  return field::Unsupported(Concat(field, ".", key), value == nullptr ? Json() : *value,
                            "0 to 1000");
}

// Which kinds of steps come before.
struct DecodersBefore {
  bool has_word_piece = false;
  bool has_fuse = false;
};

// Refuses orders where the text of a token depends on later ones, which a generation does not know.
Status ReadDecoder(const Json& step, const std::string& field, DecodersBefore& before,
                   DecoderSteps& steps) {
  const Json& type = field::TypeOf(step);
  const bool is_fused = before.has_fuse;
  if (IsText(type, "WordPiece")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "prefix", "cleanup"}));
    GPT2_ASSIGN(std::string prefix, field::ReadText(step, field, "prefix"));
    GPT2_ASSIGN(const bool cleans, field::ReadFlag(step, field, "cleanup", true));
    if (is_fused && cleans) {
      return field::Unsupported(Concat(field, ".cleanup"), true, "false after \"Fuse\"");
    }
    before.has_word_piece = true;
    steps.push_back(WordPieceDecoder(std::move(prefix), cleans));
  } else if (IsText(type, "Metaspace")) {
    std::string replacement;
    PrependScheme scheme = PrependScheme::kAlways;
    bool is_split = true;
    GPT2_TRY(ReadMetaspace(step, field, replacement, scheme, is_split));
    steps.push_back(MetaspaceDecoder(std::move(replacement), scheme != PrependScheme::kNever));
  } else if (IsText(type, "ByteFallback")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    if (is_fused || before.has_word_piece) {
      return field::Unsupported(
          Concat(field, ".type"), type,
          Concat("a step that can follow \"", is_fused ? "Fuse" : "WordPiece", "\""));
    }
    steps.push_back(ByteFallbackDecoder());
  } else if (IsText(type, "Fuse")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type"}));
    before.has_fuse = true;
    steps.push_back(FuseDecoder());
  } else if (IsText(type, "Replace")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "pattern", "content"}));
    GPT2_ASSIGN(Searched searched, ReadSearched(step, field));
    if (searched.pattern)
      return field::Unsupported(Concat(field, ".pattern"), step, "a \"String\"");
    if (is_fused && !IsOneCharacter(searched.literal)) {
      return field::Unsupported(Concat(field, ".pattern"), Json(searched.literal),
                                "one character after \"Fuse\"");
    }
    GPT2_ASSIGN(std::string content, field::ReadText(step, field, "content"));
    steps.push_back(ReplaceDecoder(std::move(searched.literal), std::move(content)));
  } else if (IsText(type, "Strip")) {
    GPT2_TRY(field::CheckMembers(step, field, {"type", "content", "start", "stop"}));
    GPT2_ASSIGN(std::string content, field::ReadText(step, field, "content"));
    if (!IsOneCharacter(content)) {
      return field::Unsupported(Concat(field, ".content"), Json(content), "one character");
    }
    GPT2_ASSIGN(const std::size_t start, ReadCount(step, field, "start"));
    GPT2_ASSIGN(const std::size_t stop, ReadCount(step, field, "stop"));
    if (is_fused && stop > 0) {
      return field::Unsupported(Concat(field, ".stop"), Json(stop), "0 after \"Fuse\"");
    }
    steps.push_back(StripDecoder(std::move(content), start, stop));
  } else {
    return field::Unsupported(Concat(field, ".type"), type, "a decoder that this engine computes");
  }
  return Done{};
}

// ["[SEP]", 102]
Status ReadNamedId(const Json& json, const std::string& field, const char* key,
                   std::vector<std::int32_t>& ids) {
  const Json* const pair = FindMember(json, key);
  const bool is_pair = pair != nullptr && pair->is_array() && pair->size() == 2;
  const auto id = is_pair ? WholeNumber((*pair)[1], 0, 1 << 24) : std::nullopt;
  if (!id) {
    return field::Unsupported(Concat(field, ".", key), pair == nullptr ? Json() : *pair,
                              "a token and its id");
  }
  ids.push_back(static_cast<std::int32_t>(*id));
  return Done{};
}

}  // namespace

Status ReadNormalizers(const Json* normalizer, LanguageParts& parts) {
  if (normalizer == nullptr) return Done{};
  std::size_t growth = 1;
  return field::ForSteps(*normalizer, "normalizer", "normalizers",
                         [&](const Json& step, const std::string& field) {
                           return ReadNormalizerStep(step, field, parts.normalizers, growth);
                         });
}

Status ReadCutters(const Json* pre_tokenizer, bool is_byte_pairs, LanguageParts& parts) {
  bool has_bytes = false;
  const auto read = [&](const Json& step, const std::string& field) -> Status {
    if (has_bytes || parts.cutters.size() >= field::kMostSteps) {
      return field::Unsupported(
          field, step, Concat("\"ByteLevel\" to be the last of at most ", field::kMostSteps));
    }
    has_bytes = IsText(field::TypeOf(step), "ByteLevel");
    if (!has_bytes) return ReadCutter(step, field, parts.cutters);
    if (!is_byte_pairs) {
      return field::Unsupported(field, field::TypeOf(step),
                                "another pre-tokenizer, because the model is not BPE");
    }
    GPT2_TRY(field::CheckMembers(step, field,
                                 {"type", "add_prefix_space", "trim_offsets", "use_regex"}));
    GPT2_ASSIGN(const bool has_prefix, field::ReadFlag(step, field, "add_prefix_space", true));
    GPT2_ASSIGN(const bool has_regex, field::ReadFlag(step, field, "use_regex", true));
    parts.cutters.push_back(ByteLevelCutter(has_prefix, has_regex));
    return Done{};
  };
  if (pre_tokenizer != nullptr) {
    GPT2_TRY(field::ForSteps(*pre_tokenizer, "pre_tokenizer", "pretokenizers", read));
  }
  if (!is_byte_pairs || has_bytes) return Done{};
  return field::Bad(ErrorCode::kUnsupported, "\"pre_tokenizer\" has no \"ByteLevel\"");
}

Status ReadEnds(const Json& post_processor, TokenizerRules& rules) {
  const Json& type = field::TypeOf(post_processor);
  const std::string field = "post_processor";
  if (!IsText(type, "BertProcessing") && !IsText(type, "RobertaProcessing")) {
    return ReadPostProcessor(post_processor, rules);
  }
  GPT2_TRY(field::CheckMembers(post_processor, field,
                               {"type", "sep", "cls", "trim_offsets", "add_prefix_space"}));
  GPT2_TRY(ReadNamedId(post_processor, field, "cls", rules.beginning));
  return ReadNamedId(post_processor, field, "sep", rules.end);
}

Status ReadDecoders(const Json* decoder, bool is_byte_pairs, LanguageParts& parts) {
  if (decoder == nullptr || is_byte_pairs) {
    const bool is_bytes = decoder != nullptr && IsText(field::TypeOf(*decoder), "ByteLevel");
    if (is_byte_pairs != is_bytes) {
      return field::Unsupported("decoder", decoder == nullptr ? Json() : field::TypeOf(*decoder),
                                "\"ByteLevel\"");
    }
    if (is_bytes) parts.decoders.push_back(ByteLevelDecoder());
    parts.joins_with_space = !is_bytes;
    return Done{};
  }
  DecodersBefore before;
  return field::ForSteps(*decoder, "decoder", "decoders",
                         [&](const Json& step, const std::string& field) {
                           return ReadDecoder(step, field, before, parts.decoders);
                         });
}

}  // namespace gpt2
