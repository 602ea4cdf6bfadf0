#include "engine/format/vocabulary_files.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/format/json.h"
#include "engine/text/byte_alphabet.h"

namespace gpt2 {
namespace {

constexpr std::int64_t kMostTokens = 1 << 24;

Result<std::vector<std::string>> ReadTokens(std::string_view vocab_json) {
  GPT2_ASSIGN(const Json json, ParseJson(vocab_json, "vocab.json"));
  if (!json.is_object()) return Error{ErrorCode::kCorrupt, "vocab.json is not an object"};
  std::int64_t most = 0;
  for (const auto& [token, id] : json.items()) {
    const auto number = WholeNumber(id, 0, kMostTokens - 1);
    if (!number) {
      return Error{ErrorCode::kCorrupt, "vocab.json: the id of \"" + token + "\" is " +
                                            id.dump(-1, ' ', false, Json::error_handler_t::replace) +
                                            ", expected a whole number below 2^24"};
    }
    most = std::max(most, *number + 1);
  }
  std::vector<std::string> tokens(static_cast<std::size_t>(most));
  std::vector<bool> taken(tokens.size());
  for (const auto& [token, id] : json.items()) {
    const auto index = id.get<std::size_t>();
    if (taken[index]) {
      return Error{ErrorCode::kCorrupt, "vocab.json: id " + std::to_string(index) + " stands twice"};
    }
    taken[index] = true;
    tokens[index] = token;
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
      return Error{ErrorCode::kCorrupt, "merges.txt line " + std::to_string(line_number) + ": \"" +
                                            std::string(line.substr(0, 80)) +
                                            "\", expected two tokens and one space"};
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

}  // namespace

Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt) {
  GPT2_ASSIGN(std::vector<std::string> tokens, ReadTokens(vocab_json));
  GPT2_ASSIGN(auto merges, ReadMerges(merges_txt));
  return Tokenizer::Create(tokens, merges);
}

}  // namespace gpt2
