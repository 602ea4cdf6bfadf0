#include "engine/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/encoding.h"
#include "engine/text/quoted.h"

namespace gpt2 {

Result<Tokenizer> Tokenizer::Create(std::span<const std::string> tokens,
                                    std::span<const std::pair<std::string, std::string>> merges) {
  Tokenizer tokenizer;
  tokenizer.byte_tokens_.fill(-1);
  std::unordered_map<std::string_view, std::int32_t> ids;
  ids.reserve(tokens.size());
  tokenizer.merges_.reserve(merges.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto index = static_cast<std::int32_t>(id);
    // A token outside the alphabet is a special one and stands for its own spelling.
    std::string bytes = BytesFromAlphabet(tokens[id]).value_or(tokens[id]);
    if (tokens[id] == kEndOfText) tokenizer.end_of_text_ = index;
    if (!tokens[id].empty() && !ids.emplace(tokens[id], index).second) {
      return Error{ErrorCode::kCorrupt,
                   Concat("vocab.json: the token ", Quoted(tokens[id]), " is listed twice")};
    }
    if (bytes.size() == 1) tokenizer.byte_tokens_[static_cast<unsigned char>(bytes[0])] = index;
    tokenizer.bytes_.push_back(std::move(bytes));
    // Characters of the spelling: each is a byte, and a merge puts two spellings together.
    const auto symbols = std::count_if(tokens[id].begin(), tokens[id].end(),
                                       [](char c) { return (c & 0xc0) != 0x80; });
    if (symbols == 0 && !tokens[id].empty()) {
      return Error{ErrorCode::kCorrupt,
                   Concat("vocab.json: the token with id ", id, " is not valid UTF-8")};
    }
    tokenizer.symbols_.push_back(static_cast<std::uint32_t>(symbols));
  }
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const auto find = [&](const std::string& token) { return ids.find(token); };
    const std::string whole = left + right;
    for (const std::string& token : {left, right, whole}) {
      if (find(token) != ids.end()) continue;
      return Error{ErrorCode::kCorrupt,
                   Concat("merges.txt: merge ", rank + 1, " ", Quoted(left + " " + right),
                          " needs the token ", Quoted(token), ", which vocab.json does not have")};
    }
    tokenizer.merges_.emplace(PairKey(find(left)->second, find(right)->second),
                              Merge{static_cast<std::uint32_t>(rank), find(whole)->second});
  }
  return tokenizer;
}

Result<std::vector<std::int32_t>> Tokenizer::Encode(std::string_view text,
                                                    SpecialTokens special) const {
  std::vector<std::int32_t> ids;
  std::array<std::int32_t, 1024> portion;
  for (Encoding encoding(*this, text, special); !encoding.is_done();) {
    GPT2_ASSIGN(const std::size_t count, encoding.Next(portion));
    ids.insert(ids.end(), portion.begin(), portion.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return ids;
}

Result<std::string> Tokenizer::Decode(std::span<const std::int32_t> ids) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocab_size()) {
      return Error{ErrorCode::kInvalidArgument,
                   Concat("token id ", id, ", expected 0 to ", vocab_size() - 1)};
    }
    bytes += TokenBytes(id);
  }
  return bytes;
}

}  // namespace gpt2
