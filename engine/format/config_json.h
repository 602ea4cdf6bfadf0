// config.json of a Hugging Face folder of a GPT-2 or a GPT-BigCode.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/stored_weights.h"
#include "engine/model/config.h"

namespace gpt2 {

// The keys that this project adds to config.json, see weights_tools/FORMAT.md.
inline constexpr std::string_view kQuantizationConfigKey = "quantization_config";
inline constexpr const char* kQuantMethodKey = "quant_method";  // it is kFormatName
inline constexpr const char* kWeightsKey = "weights";           // a StoredWeightsName
inline constexpr const char* kGroupSizeKey = "group_size";
inline constexpr const char* kOtherHeadsKey = "other_heads";  // ModelConfig::other_heads

// What "model_type" says of a GPT-BigCode.
inline constexpr const char* kBigCodeType = "gpt_bigcode";

// What this project's files call their format.
inline constexpr const char* kFormatName = "gpt2-wasm";

// As `activation_function` has it.
std::string_view ActivationName(Activation activation);

// Tokens of the largest vocabulary that a config.json may have.
inline constexpr std::size_t kMostVocabulary = std::size_t{1} << 24;

struct ModelConfig {
  Config config;
  StoredWeights weights = StoredWeights::kHub;
  std::vector<std::string> other_heads;  // of the original, that a converted model lacks
  std::vector<std::string> warnings;     // a sentence for each ignored part of the file
};

// Reads the text of a config.json. Fails where a needed number is missing or impossible, and where
// the file asks for something that this engine does not compute (see CheckConfigKeys).
Result<ModelConfig> ReadConfigJson(std::string_view text);

}  // namespace gpt2
