// config.json of a Hugging Face GPT-2 folder.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/model/config.h"

namespace gpt2 {

// The keys that this project adds to config.json, see weights_tools/FORMAT.md.
inline constexpr std::string_view kQuantizationConfigKey = "quantization_config";

struct ModelConfig {
  Config config;
  // "f32", "f16", "q8" or "q4" where quantization_config says so, "" for a hub folder.
  std::string weights;
};

// Reads the text of a config.json. Fails where a needed number is missing or impossible, and where
// the file asks for something that this engine does not compute.
Result<ModelConfig> ReadConfigJson(std::string_view text);

}  // namespace gpt2
