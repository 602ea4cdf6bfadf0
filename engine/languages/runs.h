// Reads tables that engine/text/unicode/generate.mjs wrote.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

namespace gpt2 {

// Numbers with seven bits per byte, the lowest first.
class Numbers {
 public:
  explicit Numbers(std::span<const unsigned char> bytes) : bytes_(bytes) {}
  bool is_done() const { return bytes_.empty(); }
  char32_t Next() {
    char32_t number = 0;
    for (int shift = 0;; shift += 7) {
      const unsigned char byte = bytes_.front();
      bytes_ = bytes_.subspan(1);
      number |= static_cast<char32_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
  }

 private:
  std::span<const unsigned char> bytes_;
};

// Consecutive characters with the same value.
struct Run {
  char32_t first;
  char32_t last;  // inclusive
  unsigned value;
};

inline std::vector<Run> ReadRuns(std::span<const unsigned char> bytes) {
  std::vector<Run> runs;
  char32_t end = 0;
  for (Numbers numbers(bytes); !numbers.is_done();) {
    const char32_t first = end + numbers.Next();
    end = first + numbers.Next();
    runs.push_back({first, end, static_cast<unsigned>(numbers.Next())});
  }
  return runs;
}

// The value of the run that contains `character`; 0 if there is none.
inline unsigned ValueIn(const std::vector<Run>& runs, char32_t character) {
  const auto after =
      std::upper_bound(runs.begin(), runs.end(), character,
                       [](char32_t value, const Run& run) { return value < run.first; });
  if (after == runs.begin() || character > std::prev(after)->last) return 0;
  return std::prev(after)->value;
}

}  // namespace gpt2
