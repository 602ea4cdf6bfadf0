#include "engine/format/vocabulary_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {
namespace {

Error Corrupt(const std::string& what) {
  return Error{ErrorCode::kCorrupt, what};
}

// Tokens by id, "" where an id has none.
Result<std::vector<std::string>> ReadTokens(std::string_view vocab_json, std::size_t vocab_size) {
  constexpr std::size_t kGapsAllowed = 256;  // beside as many as there are tokens
  std::vector<std::pair<std::size_t, std::string>> entries;
  std::size_t size = 0;  // one more than the largest id
  const auto take = [&](std::string& token, const Json& value) -> Status {
    const auto id = WholeNumber(value, 0, static_cast<std::int64_t>(vocab_size) - 1);
    if (!id) {
      return Corrupt(Concat("vocab.json: the token ", Quoted(token), " has the id ", Shown(value),
                            ", expected a whole number below ", vocab_size,
                            ", config.json's \"vocab_size\""));
    }
    size = std::max(size, static_cast<std::size_t>(*id) + 1);
    entries.emplace_back(*id, std::move(token));
    return Done{};
  };
  GPT2_TRY(ForMembers(vocab_json, "vocab.json", take));
  if (entries.empty()) return Corrupt("vocab.json has no tokens");
  if (size > 2 * entries.size() + kGapsAllowed) {
    return Corrupt(
        Concat("vocab.json has the id ", size - 1, ", but only ", entries.size(), " tokens"));
  }
  std::vector<std::string> tokens(size);
  std::vector<bool> is_taken(size);
  for (auto& [id, token] : entries) {
    if (is_taken[id]) {
      return Corrupt(Concat("vocab.json: ", Quoted(token), " is a second token with id ", id));
    }
    is_taken[id] = true;
    tokens[id] = std::move(token);
  }
  return tokens;
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
                            ", expected two tokens and one space"));
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

}  // namespace

Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt,
                                std::size_t vocab_size) {
  if (vocab_json.empty() || merges_txt.empty()) {
    return Error{ErrorCode::kNotFound,
                 Concat(vocab_json.empty() ? "vocab.json" : "merges.txt",
                        " is missing or empty: vocab.json and merges.txt go together")};
  }
  GPT2_ASSIGN(std::vector<std::string> tokens, ReadTokens(vocab_json, vocab_size));
  GPT2_ASSIGN(auto merges, ReadMerges(merges_txt));
  return Tokenizer::Create(tokens, merges);
}

}  // namespace gpt2
