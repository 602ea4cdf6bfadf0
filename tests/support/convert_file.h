// Feeds a whole file to a streaming converter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/convert/converter.h"

namespace gpt2::testing {

// The output of `taker` for `file`, fed in chunks of up to `most` bytes, whose sizes look random
// and are the same each time. A taker is a Converter or a TorchStream.
template <typename Taker>
Result<std::string> Fed(Taker& taker, const std::string& file, std::size_t most) {
  std::string made;
  std::size_t state = 1;
  for (std::size_t at = 0; at < file.size();) {
    state = state * 48271 % 2147483647;  // Lehmer's generator, as std::minstd_rand
    const std::size_t size = std::min(1 + state % most, file.size() - at);
    std::span<const std::byte> chunk = std::as_bytes(std::span(file)).subspan(at, size);
    at += size;
    while (true) {
      GPT2_ASSIGN(const std::span<const std::byte> out, taker.Take(chunk));
      if (out.empty()) break;
      made.append(reinterpret_cast<const char*>(out.data()), out.size());
    }
    EXPECT_TRUE(chunk.empty());
  }
  return made;
}

struct Converted {
  std::string file;  // model.safetensors
  ConvertedFolder folder;
};

// The output of `converter` for `file`.
inline Result<Converted> ConvertFile(Converter& converter, const std::string& file,
                                     std::size_t most = 1 << 20) {
  Converted converted;
  GPT2_ASSIGN(converted.file, Fed(converter, file, most));
  GPT2_TRY(converter.Finish());
  converted.folder = *converter.folder();
  EXPECT_EQ(converted.folder.weight_bytes, converted.file.size());
  return converted;
}

}  // namespace gpt2::testing
