#include "engine/languages/bert_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/tokenizer_settings.h"
#include "engine/format/vocabulary_files.h"
#include "engine/languages/language_tokenizer.h"
#include "engine/languages/text_decoder.h"
#include "engine/languages/text_models.h"
#include "engine/languages/text_steps.h"
#include "engine/languages/tokenizer_config.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

constexpr std::string_view kClasses[] = {"BertTokenizer", "BertTokenizerFast"};

Result<std::vector<std::string>> ReadLines(std::string_view text, std::size_t vocab_size) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kMostTokenBytes || lines.size() == vocab_size) {
      return Error{ErrorCode::kCorrupt, Concat("vocab.txt line ", lines.size() + 1, ": ",
                                               Quoted(line), ", expected at most ", vocab_size,
                                               " tokens of at most ", kMostTokenBytes, " bytes")};
    }
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace

Result<Tokenizer> ReadBertFiles(const TokenizerFiles& files, std::size_t vocab_size) {
  GPT2_ASSIGN(const ParsedJson settings, config::Read(files.tokenizer_config));
  GPT2_ASSIGN(const ParsedJson special, config::ReadSpecialTokens(files.special_tokens_map));
  LanguageParts parts;
  BertRules rules;
  GPT2_ASSIGN(rules.lowercases, config::ReadFlag(*settings, "do_lower_case", true));
  GPT2_ASSIGN(rules.spaces_chinese, config::ReadFlag(*settings, "tokenize_chinese_chars", true));
  GPT2_ASSIGN(rules.strips_accents, config::ReadFlag(*settings, "strip_accents", rules.lowercases));
  GPT2_ASSIGN(const bool has_basic, config::ReadFlag(*settings, "do_basic_tokenize", true));
  if (!has_basic) return config::Unsupported("do_basic_tokenize", Json(false), "true");
  parts.normalizers.push_back(BertStep(rules));
  parts.cutters.push_back(CharacterCutter(IsWhiteSpace, CutBehavior::kRemoved));
  parts.cutters.push_back(CharacterCutter(IsPunctuation, CutBehavior::kIsolated));
  parts.decoders.push_back(WordPieceDecoder("##", /*cleans=*/true));

  GPT2_ASSIGN(parts.tokens, ReadLines(files.vocab_txt, vocab_size));
  TokenIds ids;
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    // Of equal lines the last counts, as in BertTokenizer.
    ids[parts.tokens[id]] = static_cast<std::int32_t>(id);
  }
  // Each token once, at the id that counts.
  std::vector<std::string> distinct(parts.tokens.size());
  for (const auto& [token, id] : ids) distinct[static_cast<std::size_t>(id)] = token;
  GPT2_ASSIGN(TokenizerRules read, ReadTokenizerSettings(files, distinct, kClasses));
  parts.added = std::move(read.added);
  TokenIds known = ids;
  std::unordered_set<std::string> added;
  for (const AddedToken& token : parts.added) {
    known.emplace(token.content, token.id);
    added.insert(token.content);
  }
  WordPieceRules pieces;
  GPT2_ASSIGN(pieces.unknown, config::ReadRole(*settings, *special, "unk_token", "[UNK]"));
  constexpr const char* kRoles[][2] = {{"unk_token", "[UNK]"},
                                       {"sep_token", "[SEP]"},
                                       {"pad_token", "[PAD]"},
                                       {"cls_token", "[CLS]"},
                                       {"mask_token", "[MASK]"}};
  for (const auto& [key, otherwise] : kRoles) {
    GPT2_ASSIGN(std::string token, config::ReadRole(*settings, *special, key, otherwise));
    const auto found = known.find(token);
    const std::string_view role = key;
    const bool is_needed = role == "sep_token" || role == "cls_token";
    if (found == known.end() || token.empty()) {
      if (!is_needed) continue;
      return Error{ErrorCode::kUnsupported,
                   Concat("vocab.txt has no token ", Quoted(token), ", the \"", key, "\"")};
    }
    if (role == "cls_token") parts.beginning = {found->second};
    if (role == "sep_token") parts.end = {found->second};
    if (!added.insert(token).second) continue;
    parts.added.push_back({.content = std::move(token), .id = found->second, .is_special = true});
  }
  parts.model = WordPieceModel(std::move(ids), std::move(pieces));
  GPT2_ASSIGN(Tokenizer tokenizer, MakeLanguageTokenizer(std::move(parts)));
  tokenizer.SetRows(vocab_size);
  return tokenizer;
}

}  // namespace gpt2
