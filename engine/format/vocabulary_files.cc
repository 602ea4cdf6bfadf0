#include "engine/format/vocabulary_files.h"

#include <algorithm>
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
#include "engine/format/tokenizer_json.h"
#include "engine/format/tokenizer_rules_json.h"
#include "engine/format/tokenizer_settings.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

Error Corrupt(const std::string& what) {
  return Error{ErrorCode::kCorrupt, what};
}

// Tokens by id; "" for an id without one.
Result<std::vector<std::string>> ReadTokens(std::string_view vocab_json, std::size_t vocab_size) {
  VocabularyIds ids("vocab.json", vocab_size);
  GPT2_TRY(ForMembers(vocab_json, "vocab.json", [&](std::string& token, const Json& value) {
    return ids.Add(token, value);
  }));
  return ids.Take();
}

// The two halves of each merge, in order of rank.
Result<std::vector<std::pair<std::string, std::string>>> ReadMerges(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> merges;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line.starts_with("#version"))) continue;
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string_view::npos) {
      return Corrupt(Concat("merges.txt line ", line_number, ": ", Quoted(line),
                            ", expected two tokens with one space between them"));
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

Status NeedBoth(std::string_view vocab, std::string_view merges) {
  if (!vocab.empty() && !merges.empty()) return Done{};
  return Error{ErrorCode::kNotFound,
               Concat(vocab.empty() ? "vocab.json" : "merges.txt",
                      " is missing or empty: vocab.json and merges.txt go together")};
}

}  // namespace

Result<Tokenizer> ReadTokenTable(std::string_view text, std::size_t vocab_size) {
  GPT2_ASSIGN(const ParsedJson json, ParseJson(text, "the tokens"));
  if (!json->is_array() || json->size() > vocab_size) {
    return Corrupt(Concat("the tokens: expected an array of at most ", vocab_size, " texts"));
  }
  std::vector<std::string> tokens;
  for (const Json& token : *json) {
    const auto bytes =
        token.is_string() ? BytesFromAlphabet(token.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes)
      return Corrupt(Concat("the tokens: ", Shown(token), " at ", tokens.size(),
                            " is not text in the byte alphabet"));
    tokens.push_back(*bytes);
  }
  Tokenizer tokenizer = Tokenizer::CreateOther(std::move(tokens), /*encoder=*/nullptr);
  tokenizer.SetRows(vocab_size);
  return tokenizer;
}

Result<Tokenizer> InFile(std::string_view file, Result<Tokenizer> tokenizer) {
  if (tokenizer.ok()) return tokenizer;
  return Error{tokenizer.error().code, Concat(file, ": ", tokenizer.error().message)};
}

Status VocabularyIds::Add(const std::string& token, const Json& value) {
  const auto id = WholeNumber(value, 0, static_cast<std::int64_t>(vocab_size_) - 1);
  if (!id) {
    return Corrupt(Concat(file_, ": the token ", Quoted(token), " has the id ", Shown(value),
                          ", expected a whole number below ", vocab_size_,
                          ", config.json's \"vocab_size\""));
  }
  size_ = std::max(size_, static_cast<std::size_t>(*id) + 1);
  entries_.emplace_back(*id, token);
  return Done{};
}

Result<std::vector<std::string>> VocabularyIds::Take() {
  constexpr std::size_t kGapsAllowed = 256;  // in addition to as many as there are tokens
  if (entries_.empty()) return Corrupt(Concat(file_, " has no tokens"));
  if (size_ > 2 * entries_.size() + kGapsAllowed) {
    return Corrupt(
        Concat(file_, " has the id ", size_ - 1, ", but only ", entries_.size(), " tokens"));
  }
  std::vector<std::string> tokens(size_);
  std::vector<bool> is_taken(size_);
  for (auto& [id, token] : entries_) {
    if (is_taken[id]) {
      return Corrupt(Concat(file_, ": ", Quoted(token), " is a second token with id ", id));
    }
    is_taken[id] = true;
    tokens[id] = std::move(token);
  }
  return tokens;
}

namespace {

Result<Tokenizer> ReadFiles(const TokenizerFiles& files, std::size_t vocab_size) {
  if (!files.tokens.empty()) return ReadTokenTable(files.tokens, vocab_size);
  if (!files.tokenizer.empty()) return ReadTokenizerJson(files.tokenizer, vocab_size);
  GPT2_TRY(NeedBoth(files.vocab, files.merges));
  GPT2_ASSIGN(const std::vector<std::string> tokens, ReadTokens(files.vocab, vocab_size));
  GPT2_ASSIGN(const auto merges, ReadMerges(files.merges));
  GPT2_ASSIGN(TokenizerRules rules, ReadTokenizerSettings(files, tokens));
  return InFile("vocab.json and merges.txt", Tokenizer::Create(tokens, merges, std::move(rules)));
}

}  // namespace

Result<Tokenizer> ReadTokenizer(const TokenizerFiles& files, std::size_t vocab_size) {
  GPT2_ASSIGN(Tokenizer tokenizer, ReadFiles(files, vocab_size));
  tokenizer.SetRows(vocab_size);
  return tokenizer;
}

Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt,
                                std::size_t vocab_size, const Json* rules) {
  GPT2_TRY(NeedBoth(vocab_json, merges_txt));
  GPT2_ASSIGN(const std::vector<std::string> tokens, ReadTokens(vocab_json, vocab_size));
  GPT2_ASSIGN(const auto merges, ReadMerges(merges_txt));
  constexpr std::string_view kFiles = "vocab.json and merges.txt";
  TokenizerRules read;
  if (rules != nullptr) {
    GPT2_ASSIGN(read, ReadRules(*rules, tokens.size()));
  }
  GPT2_ASSIGN(
      Tokenizer tokenizer,
      InFile(kFiles, rules == nullptr ? Tokenizer::Create(tokens, merges)
                                      : Tokenizer::Create(tokens, merges, std::move(read))));
  tokenizer.SetRows(vocab_size);
  return tokenizer;
}

}  // namespace gpt2
