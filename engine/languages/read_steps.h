// Reads the steps before and after the model in a tokenizer.json.
#pragma once

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/languages/language_tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// Each function reads the field of its name, which is null if missing. An error names the
// unsupported step.
Status ReadNormalizers(const Json* normalizer, LanguageParts& parts);
Status ReadCutters(const Json* pre_tokenizer, bool is_byte_pairs, LanguageParts& parts);
Status ReadEnds(const Json& post_processor, TokenizerRules& rules);
Status ReadDecoders(const Json* decoder, bool is_byte_pairs, LanguageParts& parts);

}  // namespace gpt2
