// A tokenizer of any rules and any model. It is slower than the engine's own for GPT-2's rules
// (text/encoding.h), and it holds all ids of a text.
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

// What it consists of, in the order in which it is applied.
struct LanguageParts {
  std::vector<AddedToken> added;  // as they stand in a text that is not normalized
  TextSteps normalizers;
  TextCutters cutters;
  std::unique_ptr<const TextModel> model;
  std::vector<std::string> tokens;  // by id, "" if there is none
  DecoderSteps decoders;
  bool joins_with_space = false;        // the decoded tokens
  std::vector<std::int32_t> beginning;  // of every text
  std::vector<std::int32_t> end;
};

// Fails where a normalizer cannot be applied to an added token.
Result<Tokenizer> MakeLanguageTokenizer(LanguageParts parts);

}  // namespace gpt2
