// generation_config.json: the generation options that a model's author recommends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/json_writer.h"
#include "engine/generate/options.h"

namespace gpt2 {

// The options in the file `text`; others keep GenerateOptions' own defaults. Its names are those of
// Hugging Face transformers (NumberOption::hub_name); null and unknown keys are ignored.
// `do_sample: false` means temperature 0. Without `max_new_tokens`, `max_length` applies, which
// also counts the prompt unless it is 20, as in transformers. `eos_token_id` is a token or an array
// of tokens. An error names the file, the key and the range.
Result<GenerateOptions> ReadGenerationConfig(std::string_view text);

// A sentence for each setting of the file `text` that changes what transformers writes, and that
// this engine lacks or reads differently. ReadGenerationConfig must have accepted the file.
std::vector<std::string> IgnoredSettings(std::string_view text);

// Writes the options that the file can set, by their names in the web API.
void WriteDefaults(const GenerateOptions& defaults, JsonWriter& out);

}  // namespace gpt2
