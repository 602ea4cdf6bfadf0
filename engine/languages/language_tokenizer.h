// A tokenizer of any rules and any model. It is slower than the engine's own for GPT-2's rules
// (text/encoding.h), and holds all ids of a text in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/languages/text_decoder.h"
#include "engine/languages/text_models.h"
#include "engine/languages/text_steps.h"
#include "engine/text/added_tokens.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// The parts of a tokenizer, in the order in which they are applied.
struct LanguageParts {
  std::vector<AddedToken> added;  // found in the text before normalization
  TextSteps normalizers;
  TextCutters cutters;
  std::unique_ptr<const TextModel> model;
  std::vector<std::string> tokens;  // by id; "" for an id without a token
  DecoderSteps decoders;
  bool joins_with_space = false;        // whether a space separates decoded tokens
  std::vector<std::int32_t> beginning;  // the tokens before every text
  std::vector<std::int32_t> end;
};

// Fails if a normalizer cannot be applied to an added token.
Result<Tokenizer> MakeLanguageTokenizer(LanguageParts parts);

}  // namespace gpt2
