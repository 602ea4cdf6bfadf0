// Small vocabularies with merges, in which words have more than one cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/base/random.h"
#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer.h"

namespace gpt2::testing {

// The characters of `alphabet` (of GPT-2's byte alphabet, one byte each), "<|endoftext|>", and
// random merges up to `size` tokens.
inline Tokenizer RandomTokenizer(const std::vector<std::string>& alphabet, std::size_t size,
                                 std::uint64_t seed) {
  Random random(seed);
  std::vector<std::string> tokens = alphabet;
  Json vocab;
  for (const std::string& token : tokens) vocab[token] = vocab.size();
  vocab["<|endoftext|>"] = vocab.size();
  std::string merges = "#version: 0.2\n";
  while (vocab.size() < size) {
    const std::string& left = tokens[static_cast<std::size_t>(random.Next() % tokens.size())];
    const std::string& right = tokens[static_cast<std::size_t>(random.Next() % tokens.size())];
    const std::string whole = left + right;
    if (whole.size() > 12 || vocab.contains(whole)) continue;
    merges += left + " " + right + "\n";
    vocab[whole] = vocab.size();
    tokens.push_back(whole);
  }
  return std::move(ReadTokenizer(vocab.dump(), merges, size).value());
}

}  // namespace gpt2::testing
