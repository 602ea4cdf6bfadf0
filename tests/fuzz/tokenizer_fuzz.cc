// The tokenizer on vocabularies and texts of any kind. Byte-pair encoding is compared with its
// plainest version, and the pre-tokenizer with its regular expression, branch by branch.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/byte_alphabet.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {
namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;

struct Vocabulary {
  std::vector<std::string> tokens;  // id -> bytes
  std::map<std::string, int> ids;   // bytes -> id
  Merges merges;                    // by rank, in bytes
};

// Every byte, then merges of existing tokens. They have few letters, so that they apply.
Vocabulary AnyVocabulary(FuzzedDataProvider& input) {
  Vocabulary v;
  for (int byte = 0; byte < 256; ++byte)
    v.tokens.push_back(std::string(1, static_cast<char>(byte)));
  for (std::size_t id = 0; id < v.tokens.size(); ++id) v.ids[v.tokens[id]] = static_cast<int>(id);
  const auto count = input.ConsumeIntegralInRange<std::size_t>(0, 40);
  std::vector<std::string> parts = {" ", "a", "b", "\xc3", "\xa9", "'", "s"};
  for (std::size_t i = 0; i < count && input.remaining_bytes() > 0; ++i) {
    const auto pick = [&] {
      return parts[input.ConsumeIntegralInRange<std::size_t>(0, parts.size() - 1)];
    };
    const std::string left = pick(), right = pick();
    v.merges.emplace_back(left, right);
    if (v.ids.emplace(left + right, static_cast<int>(v.tokens.size())).second) {
      v.tokens.push_back(left + right);
      parts.push_back(left + right);
    }
  }
  // Ranks need not follow the order in which tokens were made.
  if (input.ConsumeBool()) std::reverse(v.merges.begin(), v.merges.end());
  return v;
}

struct Character {
  CharacterClass character_class;
  char32_t code_point;
  std::size_t size;
};

std::vector<Character> Characters(std::string_view text) {
  std::vector<Character> characters;
  while (!text.empty()) {
    const std::size_t size = Utf8Size(text);
    const char32_t code_point = size == 0 ? 0xffffffff : ReadUtf8(text).code_point;
    characters.push_back({size == 0 ? CharacterClass::kOther : ClassOf(code_point), code_point,
                          std::max<std::size_t>(1, size)});
    text.remove_prefix(characters.back().size);
  }
  return characters;
}

// How many characters the pattern's branches, tried in their order, match at `at`.
std::size_t MatchPattern(const std::vector<Character>& text, std::size_t at) {
  const auto run = [&](std::size_t from, auto matches) {
    std::size_t size = 0;
    while (from + size < text.size() && matches(text[from + size].character_class)) ++size;
    return size;
  };
  for (const std::u32string_view ending : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"}) {
    std::size_t same = 0;
    while (same < ending.size() && at + same < text.size() &&
           text[at + same].code_point == ending[same]) {
      ++same;
    }
    if (same == ending.size()) return same;
  }
  for (const CharacterClass wanted :
       {CharacterClass::kLetter, CharacterClass::kNumber, CharacterClass::kOther}) {
    for (const std::size_t space : {1, 0}) {  // " ?" takes a space if possible
      if (space == 1 && text[at].code_point != U' ') continue;
      const std::size_t size = run(at + space, [&](CharacterClass c) { return c == wanted; });
      if (size > 0) return space + size;
    }
  }
  const std::size_t spaces = run(at, [](CharacterClass c) { return c == CharacterClass::kSpace; });
  // \s+(?!\S): as many as leave no non-space behind them.
  for (std::size_t size = spaces; size > 0; --size) {
    if (at + size == text.size() || text[at + size].character_class == CharacterClass::kSpace) {
      return size;
    }
  }
  return spaces;
}

std::vector<std::string> PlainWords(std::string_view text) {
  const std::vector<Character> characters = Characters(text);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < characters.size();) {
    std::size_t size = 0;
    for (std::size_t count = MatchPattern(characters, at); count > 0; --count) {
      size += characters[at++].size;
    }
    words.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

// Merges the pair of lowest rank, the leftmost of equals, until no pair is left that merges.
void PlainEncode(const Vocabulary& v, const std::string& word, std::vector<std::int32_t>& ids) {
  std::vector<std::string> symbols;
  for (const char c : word) symbols.emplace_back(1, c);
  while (true) {
    std::size_t best = v.merges.size(), place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      // Of two equal merges the last counts.
      const auto found =
          std::find(v.merges.rbegin(), v.merges.rend(), std::pair(symbols[i], symbols[i + 1]));
      if (found == v.merges.rend()) continue;
      const auto rank = static_cast<std::size_t>(v.merges.rend() - found) - 1;
      if (rank < best) {
        best = rank;
        place = i;
      }
    }
    if (best == v.merges.size()) break;
    symbols[place] += symbols[place + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  for (const std::string& symbol : symbols) ids.push_back(v.ids.at(symbol));
}

Tokenizer MakeTokenizer(const Vocabulary& v) {
  std::vector<std::string> tokens;
  for (const std::string& token : v.tokens) tokens.push_back(AlphabetFromBytes(token));
  Merges merges;
  for (const auto& [left, right] : v.merges) {
    merges.emplace_back(AlphabetFromBytes(left), AlphabetFromBytes(right));
  }
  auto tokenizer = Tokenizer::Create(tokens, merges);
  Check(tokenizer.ok(), tokenizer.ok() ? "" : tokenizer.error().message);
  return std::move(tokenizer.value());
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  const Vocabulary vocabulary = AnyVocabulary(input);
  const Tokenizer tokenizer = MakeTokenizer(vocabulary);
  // A string's closing NUL would hide a read past the end.
  const std::vector<char> bytes = input.ConsumeRemainingBytes<char>();
  const std::string_view text(bytes.data(), bytes.size());

  std::vector<std::int32_t> plain;
  std::string_view rest = text;
  for (const std::string& word : PlainWords(text)) {
    Check(FirstWordSize(rest) == word.size(), "the pre-tokenizer cuts elsewhere");
    rest.remove_prefix(word.size());
    PlainEncode(vocabulary, word, plain);
  }
  const auto ids = tokenizer.Encode(text, SpecialTokens::kAsText);
  Check(ids.ok(), "refused, though every byte has a token");
  Check(ids.value() == plain, "other ids than the plain version's");
  // Portions of any size give the same ids.
  const auto in_portions =
      EncodeInPortions(tokenizer, text, SpecialTokens::kAsText, TextEnds::kWithout, 1 + size % 7);
  Check(in_portions == plain, "other ids in portions");
  const auto decoded = tokenizer.Decode(ids.value());
  Check(decoded.ok() && decoded.value() == text, "decodes to another text");
  return 0;
}
