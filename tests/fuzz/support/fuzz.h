// Shared by the fuzz targets: checks, and pieces of input.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"

namespace gpt2::fuzz {

// Ends the run if `holds` is false, and prints the place and `what`; libFuzzer keeps the input.
void Check(bool holds, std::string_view what,
           const std::source_location& where = std::source_location::current());

// The whole input as text, for targets with a readable corpus.
inline std::string_view AsText(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Mostly `text` itself, sometimes with a few damaged bytes.
std::string MaybeDamaged(FuzzedDataProvider& input, std::string text);

// Every id that `tokenizer` gives for `text` can be decoded. A text that it refuses is no error.
void CheckRoundTrip(const Tokenizer& tokenizer, std::string_view text, TextEnds ends);

// The ids of `text`, which `tokenizer` takes, in portions of `size`.
std::vector<std::int32_t> EncodeInPortions(const Tokenizer& tokenizer, std::string_view text,
                                           SpecialTokens special, TextEnds ends, std::size_t size);

// Whether `text` is UTF-8. Unlike engine/text/utf8.cc, this decodes each character and compares it
// with its shortest form.
bool IsUtf8(std::string_view text);

// The size of the UTF-8 character that non-empty `text` begins with, or 0 if it begins with none.
std::size_t Utf8Size(std::string_view text);

// Bytes from `seed`, for data that is too long to come from the input.
std::string RandomBytes(std::uint64_t seed, std::size_t size);

}  // namespace gpt2::fuzz
