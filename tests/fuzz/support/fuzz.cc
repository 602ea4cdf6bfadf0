#include "tests/fuzz/support/fuzz.h"

#include <cstdio>
#include <cstdlib>

#include "engine/base/random.h"
#include "engine/text/encoding.h"

namespace gpt2::fuzz {

void Check(bool holds, std::string_view what, const std::source_location& where) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: %.*s\n", where.file_name(), static_cast<unsigned>(where.line()),
               static_cast<int>(what.size()), what.data());
  std::abort();
}

std::string MaybeDamaged(FuzzedDataProvider& input, std::string text) {
  if (input.ConsumeIntegralInRange<int>(0, 7) != 7 || text.empty()) return text;
  const auto at = input.ConsumeIntegralInRange<std::size_t>(0, text.size() - 1);
  const auto count = input.ConsumeIntegralInRange<std::size_t>(0, 8);
  return text.replace(at, count, input.ConsumeRandomLengthString(16));
}

std::size_t Utf8Size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t size = 1;
  std::uint32_t value = byte(0);
  if (value >= 0xf0) {
    size = 4;
    value &= 0x07;
    if (byte(0) > 0xf7) return 0;
  } else if (value >= 0xe0) {
    size = 3;
    value &= 0x0f;
  } else if (value >= 0xc0) {
    size = 2;
    value &= 0x1f;
  } else if (value >= 0x80) {
    return 0;
  }
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (byte(i) / 0x40 != 2) return 0;
    value = value * 0x40 + byte(i) % 0x40;
  }
  const std::size_t shortest = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
  const bool is_surrogate = value / 0x800 == 0xd800 / 0x800;
  return size == shortest && !is_surrogate && value <= 0x10ffff ? size : 0;
}

void CheckRoundTrip(const Tokenizer& tokenizer, std::string_view text, TextEnds ends) {
  for (const SpecialTokens special : {SpecialTokens::kAsText, SpecialTokens::kAllowed}) {
    const auto ids = tokenizer.Encode(text, special, ends);
    if (ids.ok()) Check(tokenizer.Decode(ids.value()).ok(), "an id outside the vocabulary");
  }
}

std::vector<std::int32_t> EncodeInPortions(const Tokenizer& tokenizer, std::string_view text,
                                           SpecialTokens special, TextEnds ends, std::size_t size) {
  std::vector<std::int32_t> ids, some(size);
  for (Encoding encoding(tokenizer, text, special, ends); !encoding.is_done();) {
    const auto count = encoding.Next(some);
    Check(count.ok(), "refused in portions");
    Check(count.value() == size || encoding.is_done(), "a portion of less");
    ids.insert(ids.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count.value()));
  }
  return ids;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = Utf8Size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string RandomBytes(std::uint64_t seed, std::size_t size) {
  Random random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Next());
  return bytes;
}

}  // namespace gpt2::fuzz
