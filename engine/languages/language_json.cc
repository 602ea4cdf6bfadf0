#include "engine/languages/language_json.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/tokenizer_fields.h"
#include "engine/format/tokenizer_json.h"
#include "engine/format/vocabulary_files.h"
#include "engine/languages/bert_files.h"
#include "engine/languages/language_tokenizer.h"
#include "engine/languages/read_steps.h"
#include "engine/languages/sentence_piece.h"
#include "engine/languages/text_models.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

struct Vocabulary {
  std::vector<std::string> tokens;
  TokenIds ids;
};

Status CheckTokenBytes(const std::string& token) {
  if (token.size() <= kMostTokenBytes) return Done{};
  return field::Bad(ErrorCode::kUnsupported,
                    Concat("\"model.vocab\": the token ", Quoted(token), " is ", token.size(),
                           " bytes, expected at most ", kMostTokenBytes));
}

// An object of tokens and ids.
Result<Vocabulary> ReadIds(const Json& model, std::size_t vocab_size) {
  const Json* const vocab = FindMember(model, "vocab");
  if (vocab == nullptr || !vocab->is_object()) {
    return field::Bad(ErrorCode::kCorrupt, "expected an object \"model.vocab\"");
  }
  VocabularyIds ids("tokenizer.json", vocab_size);
  Vocabulary vocabulary;
  for (const auto& [token, id] : vocab->get_ref<const Json::object_t&>()) {
    GPT2_TRY(CheckTokenBytes(token));
    GPT2_TRY(ids.Add(token, id));
  }
  GPT2_ASSIGN(vocabulary.tokens, ids.Take());
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (!token.empty()) vocabulary.ids.emplace(token, static_cast<std::int32_t>(id));
  }
  return vocabulary;
}

Result<std::string> ReadUnknown(const Json& model) {
  if (field::FindValue(model, "unk_token") == nullptr) return std::string();
  return field::ReadText(model, "model", "unk_token");
}

// Pairs of a token and its score, by id.
Result<std::vector<ScoredToken>> ReadScored(const Json& model, std::size_t vocab_size) {
  const Json* const vocab = FindMember(model, "vocab");
  if (vocab == nullptr || !vocab->is_array() || vocab->empty() || vocab->size() > vocab_size) {
    return field::Bad(ErrorCode::kCorrupt,
                      Concat("expected an array \"model.vocab\" of 1 to ", vocab_size, " tokens"));
  }
  std::vector<ScoredToken> tokens;
  for (const Json& entry : *vocab) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      return field::Bad(ErrorCode::kCorrupt, Concat("\"model.vocab\": entry ", tokens.size(),
                                                    " is not a pair of a token and its score"));
    }
    tokens.push_back({entry[0].get<std::string>(), entry[1].get<double>()});
    GPT2_TRY(CheckTokenBytes(tokens.back().text));
    if (tokens.back().text.empty()) {
      return field::Bad(ErrorCode::kUnsupported,
                        Concat("\"model.vocab\": the token ", tokens.size() - 1, " is empty"));
    }
  }
  return tokens;
}

Status ReadWordLevel(const Json& model, std::size_t vocab_size, LanguageParts& parts,
                     TokenIds& ids) {
  GPT2_TRY(field::CheckMembers(model, "model", {"type", "vocab", "unk_token"}));
  GPT2_ASSIGN(Vocabulary vocabulary, ReadIds(model, vocab_size));
  GPT2_ASSIGN(const std::string unknown, ReadUnknown(model));
  parts.tokens = std::move(vocabulary.tokens);
  ids = vocabulary.ids;
  parts.model = WordLevelModel(std::move(vocabulary.ids), unknown);
  return Done{};
}

Status ReadWordPiece(const Json& model, std::size_t vocab_size, LanguageParts& parts,
                     TokenIds& ids) {
  GPT2_TRY(field::CheckMembers(
      model, "model",
      {"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"}));
  GPT2_ASSIGN(Vocabulary vocabulary, ReadIds(model, vocab_size));
  WordPieceRules rules;
  if (FindMember(model, "unk_token") != nullptr) {
    GPT2_ASSIGN(rules.unknown, ReadUnknown(model));
  }
  if (field::FindValue(model, "continuing_subword_prefix") != nullptr) {
    GPT2_ASSIGN(rules.prefix, field::ReadText(model, "model", "continuing_subword_prefix"));
  }
  constexpr const char* kMost = "max_input_chars_per_word";
  if (const Json* const most = field::FindValue(model, kMost)) {
    const auto number = WholeNumber(*most, 0, kMostTokenBytes);
    if (!number) {
      return field::Unsupported(Concat("model.", kMost), *most, Concat("0 to ", kMostTokenBytes));
    }
    rules.most_characters = static_cast<std::size_t>(*number);
  }
  parts.tokens = std::move(vocabulary.tokens);
  ids = vocabulary.ids;
  parts.model = WordPieceModel(std::move(vocabulary.ids), std::move(rules));
  return Done{};
}

Status ReadUnigram(const Json& model, std::size_t vocab_size, LanguageParts& parts, TokenIds& ids) {
  GPT2_TRY(field::CheckMembers(model, "model", {"type", "vocab", "unk_id", "byte_fallback"}));
  GPT2_ASSIGN(std::vector<ScoredToken> tokens, ReadScored(model, vocab_size));
  GPT2_ASSIGN(const bool falls_back, field::ReadFlag(model, "model", "byte_fallback", false));
  std::optional<std::int32_t> unknown;
  if (const Json* const id = field::FindValue(model, "unk_id")) {
    const auto number = WholeNumber(*id, 0, static_cast<std::int64_t>(tokens.size()) - 1);
    if (!number) return field::Unsupported("model.unk_id", *id, "the id of a token");
    unknown = static_cast<std::int32_t>(*number);
  }
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    parts.tokens.push_back(tokens[id].text);
    ids[tokens[id].text] = static_cast<std::int32_t>(id);  // of equal ones the last
  }
  parts.model = UnigramModel(std::move(tokens), unknown, falls_back);
  return Done{};
}

Status ReadBytePairParts(const Json& model, std::size_t vocab_size, LanguageParts& parts,
                         TokenIds& ids) {
  GPT2_ASSIGN(Tokenizer tokenizer,
              ReadBytePairTokenizer(model, /*added=*/nullptr, {.splitters = {}}, vocab_size));
  GPT2_ASSIGN(Vocabulary vocabulary, ReadIds(model, vocab_size));
  parts.tokens = std::move(vocabulary.tokens);
  ids = std::move(vocabulary.ids);
  parts.model = BytePairModel(std::move(tokenizer));
  return Done{};
}

}  // namespace

Result<Tokenizer> ReadLanguageJson(std::string_view text, std::size_t vocab_size) {
  GPT2_ASSIGN(const ParsedJson parsed, ParseJson(text, "tokenizer.json"));
  const Json& json = *parsed;
  GPT2_ASSIGN(const Json* const model, field::ModelOf(json));
  LanguageParts parts;
  TokenIds ids;
  const Json& type = field::TypeOf(*model);
  const bool is_byte_pairs = FindMember(*model, "type") == nullptr || IsText(type, "BPE");
  if (is_byte_pairs) {
    GPT2_TRY(ReadBytePairParts(*model, vocab_size, parts, ids));
  } else if (IsText(type, "WordLevel")) {
    GPT2_TRY(ReadWordLevel(*model, vocab_size, parts, ids));
  } else if (IsText(type, "WordPiece")) {
    GPT2_TRY(ReadWordPiece(*model, vocab_size, parts, ids));
  } else if (IsText(type, "Unigram")) {
    GPT2_TRY(ReadUnigram(*model, vocab_size, parts, ids));
  } else {
    return field::Unsupported("model.type", type,
                              "\"BPE\", \"WordLevel\", \"WordPiece\" or \"Unigram\"");
  }
  GPT2_TRY(ReadNormalizers(field::FindValue(json, "normalizer"), parts));
  GPT2_TRY(ReadCutters(field::FindValue(json, "pre_tokenizer"), is_byte_pairs, parts));
  TokenizerRules rules;
  if (const Json* const processor = field::FindValue(json, "post_processor")) {
    GPT2_TRY(ReadEnds(*processor, rules));
  }
  std::unordered_map<std::string_view, std::int32_t> known;
  for (const auto& [token, id] : ids) known.emplace(token, id);
  GPT2_TRY(ReadAddedTokens(field::FindValue(json, "added_tokens"), known, rules));
  parts.added = std::move(rules.added);
  parts.beginning = std::move(rules.beginning);
  parts.end = std::move(rules.end);
  GPT2_TRY(ReadDecoders(field::FindValue(json, "decoder"), is_byte_pairs, parts));
  GPT2_ASSIGN(Tokenizer tokenizer,
              InFile("tokenizer.json", MakeLanguageTokenizer(std::move(parts))));
  tokenizer.SetRows(vocab_size);
  return tokenizer;
}

Result<Tokenizer> ReadOtherTokenizer(const TokenizerFiles& files, std::size_t vocab_size) {
  if (!files.tokenizer.empty()) return ReadLanguageJson(files.tokenizer, vocab_size);
  if (files.vocab_txt.empty() && !files.sentence_piece.empty()) {
    return ReadSentencePiece(files, vocab_size);
  }
  return ReadBertFiles(files, vocab_size);
}

Result<Tokenizer> ReadAnyTokenizer(const TokenizerFiles& files, std::size_t vocab_size) {
  const bool is_other = !files.vocab_txt.empty() || !files.sentence_piece.empty();
  if (!files.HasTokenizer() && is_other) return ReadOtherTokenizer(files, vocab_size);
  auto tokenizer = ReadTokenizer(files, vocab_size);
  if (tokenizer.ok() || files.tokenizer.empty() ||
      tokenizer.error().code != ErrorCode::kUnsupported) {
    return tokenizer;
  }
  return ReadOtherTokenizer(files, vocab_size);
}

}  // namespace gpt2
