// A tokenizer as the engine of a page gets it: written by the converting module, then read back.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/tokenizer_rules_json.h"
#include "engine/format/vocabulary_files.h"

namespace gpt2::testing {

// The text that WriteTokenizer gives for `files`.
inline Result<std::string> WrittenTokenizer(const TokenizerFiles& files, std::size_t vocab_size) {
  std::string text;
  JsonWriter out(text);
  GPT2_TRY(WriteTokenizer(files, vocab_size, out));
  return text;
}

inline Result<Tokenizer> RewrittenTokenizer(const TokenizerFiles& files, std::size_t vocab_size) {
  GPT2_ASSIGN(const std::string text, WrittenTokenizer(files, vocab_size));
  const Json written = Json::parse(text);
  return ReadTokenizer(written["vocab"].get_ref<const std::string&>(),
                       written["merges"].get_ref<const std::string&>(), vocab_size,
                       &written["rules"]);
}

}  // namespace gpt2::testing
