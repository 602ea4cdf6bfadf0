#include "engine/languages/unicode_forms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/languages/characters.h"
#include "engine/languages/runs.h"

namespace gpt2 {
namespace {

#include "engine/languages/unicode_tables.inc"

// 0 for a starter; otherwise the order of its combining class.
unsigned CombiningClass(char32_t character) {
  static const std::vector<Run> runs = ReadRuns(kCombining);
  return ValueIn(runs, character);
}

// A formula composes the syllables of Hangul (The Unicode Standard, section 3.12).
constexpr char32_t kSyllables = 0xac00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11a7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

struct Forms {
  enum Kind { kCompatible, kCanonical, kCanonicalOnly };  // kCanonicalOnly is never composed again
  struct Decomposition {
    char32_t character;
    Kind kind;
    std::uint32_t at;  // in `parts`
    std::uint32_t size;
  };
  std::vector<Decomposition> decompositions;  // by character
  std::u32string parts;
  std::map<std::pair<char32_t, char32_t>, char32_t> compositions;

  const Decomposition* Find(char32_t character) const {
    const auto found = std::lower_bound(
        decompositions.begin(), decompositions.end(), character,
        [](const Decomposition& one, char32_t value) { return one.character < value; });
    return found == decompositions.end() || found->character != character ? nullptr : &*found;
  }
  std::u32string_view PartsOf(const Decomposition& one) const {
    return std::u32string_view(parts).substr(one.at, one.size);
  }
};

// 0 if they do not compose to a character.
char32_t Compose(const Forms& forms, char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0 &&
      second - kTails - 1 < kTailCount - 1) {
    return first + (second - kTails);
  }
  const auto found = forms.compositions.find({first, second});
  return found == forms.compositions.end() ? 0 : found->second;
}

Forms ReadForms() {
  Forms forms;
  char32_t character = 0;
  for (Numbers numbers(kDecompositions); !numbers.is_done();) {
    character += numbers.Next();
    const char32_t size_and_kind = numbers.Next();
    Forms::Decomposition one = {character, static_cast<Forms::Kind>(size_and_kind % 3),
                                static_cast<std::uint32_t>(forms.parts.size()), size_and_kind / 3};
    for (std::uint32_t i = 0; i < one.size; ++i) forms.parts += numbers.Next();
    forms.decompositions.push_back(one);
  }
  // A character of more parts is composed from one of fewer parts and its last part.
  std::vector<const Forms::Decomposition*> composed;
  for (const Forms::Decomposition& one : forms.decompositions) {
    if (one.kind == Forms::kCanonical) composed.push_back(&one);
  }
  std::sort(composed.begin(), composed.end(), [](const auto* a, const auto* b) {
    return std::tie(a->size, a->character) < std::tie(b->size, b->character);
  });
  for (const Forms::Decomposition* one : composed) {
    const std::u32string_view all = forms.PartsOf(*one);
    char32_t first = all[0];
    for (const char32_t part : all.substr(1, all.size() - 2)) first = Compose(forms, first, part);
    forms.compositions.emplace(std::pair(first, all.back()), one->character);
  }
  return forms;
}

const Forms& AllForms() {
  static const Forms forms = ReadForms();
  return forms;
}

std::u32string Decomposed(const Forms& forms, std::u32string_view text, bool is_compatible) {
  std::u32string result;
  // Marks of the same class stay in order.
  std::vector<std::tuple<unsigned, std::size_t, char32_t>> marks;
  const auto end_marks = [&] {
    std::sort(marks.begin(), marks.end());
    for (const auto& [order, index, mark] : marks) result += mark;
    marks.clear();
  };
  const auto add = [&](char32_t character) {
    const unsigned order = CombiningClass(character);
    if (order > 0) return void(marks.emplace_back(order, marks.size(), character));
    end_marks();
    result += character;
  };
  const auto add_whole = [&](char32_t character) {
    const Forms::Decomposition* const found = forms.Find(character);
    if (found == nullptr || (found->kind == Forms::kCompatible && !is_compatible)) {
      return add(character);
    }
    for (const char32_t part : forms.PartsOf(*found)) add(part);
  };
  for (const char32_t character : text) {
    if (const char32_t index = character - kSyllables; index < kSyllableCount) {
      add(kLeads + index / (kVowelCount * kTailCount));
      add(kVowels + index / kTailCount % kVowelCount);
      if (index % kTailCount != 0) add(kTails + index % kTailCount);
      continue;
    }
    const Forms::Decomposition* const found = forms.Find(character);
    if (found == nullptr || found->kind == Forms::kCompatible) {
      add_whole(character);
    } else {
      // Its parts may have compatibility decompositions.
      for (const char32_t part : forms.PartsOf(*found)) add_whole(part);
    }
  }
  end_marks();
  return result;
}

std::u32string Composed(const Forms& forms, std::u32string_view text) {
  std::u32string result;
  std::size_t starter = std::u32string::npos;  // in `result`
  unsigned last = 0;                           // class of the previous character
  for (const char32_t character : text) {
    const unsigned order = CombiningClass(character);
    if (starter < result.size() && (starter + 1 == result.size() || last < order)) {
      if (const char32_t composed = Compose(forms, result[starter], character)) {
        result[starter] = composed;
        continue;
      }
    }
    if (order == 0) starter = result.size();
    last = order;
    result += character;
  }
  return result;
}

constexpr char32_t kDottedCapitalI = 0x130;

std::vector<std::pair<char32_t, char32_t>> ReadLowercase() {
  std::vector<std::pair<char32_t, char32_t>> pairs;
  char32_t character = 0;
  for (Numbers numbers(kLowercase); !numbers.is_done();) {
    character += numbers.Next();
    const char32_t distance = numbers.Next();
    pairs.emplace_back(character,
                       distance % 2 == 0 ? character + distance / 2 : character - distance / 2);
  }
  return pairs;
}

}  // namespace

std::string InForm(UnicodeForm form, std::string_view text) {
  const Forms& forms = AllForms();
  const bool is_compatible = form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd;
  const bool is_composed = form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc;
  const std::u32string decomposed = Decomposed(forms, Characters(text), is_compatible);
  return BytesOf(is_composed ? Composed(forms, decomposed) : decomposed);
}

std::string Lowercased(std::string_view text) {
  static const auto pairs = ReadLowercase();
  std::string result;
  for (const char32_t character : Characters(text)) {
    const auto found =
        std::lower_bound(pairs.begin(), pairs.end(), character,
                         [](const auto& pair, char32_t value) { return pair.first < value; });
    const bool is_found = found != pairs.end() && found->first == character;
    if (character == kDottedCapitalI) {
      result += "i\xcc\x87";  // with a dot above
    } else {
      AppendCharacter(is_found ? found->second : character, result);
    }
  }
  return result;
}

unsigned TraitsOf(char32_t character) {
  static const std::vector<Run> runs = ReadRuns(kTraits);
  return ValueIn(runs, character);
}

}  // namespace gpt2
