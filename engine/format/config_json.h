// config.json of a Hugging Face folder of a GPT-2 or a GPT-BigCode.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/stored_weights.h"
#include "engine/model/config.h"

namespace gpt2 {

// The keys that this project adds to config.json, see weights_tools/FORMAT.md.
inline constexpr std::string_view kQuantizationConfigKey = "quantization_config";
inline constexpr const char* kQuantMethodKey = "quant_method";  // its value is kFormatName
inline constexpr const char* kWeightsKey = "weights";           // its value is a StoredWeightsName
inline constexpr const char* kGroupSizeKey = "group_size";
inline constexpr const char* kOtherHeadsKey = "other_heads";  // ModelConfig::other_heads

// The "model_type" of a GPT-BigCode.
inline constexpr const char* kBigCodeType = "gpt_bigcode";

// The name of this project's format in its files.
inline constexpr const char* kFormatName = "gpt2-wasm";

// The name in `activation_function`.
std::string_view ActivationName(Activation activation);

// The most layers that a config.json may have. GPT-2 1.5B has 48.
inline constexpr std::size_t kMostLayers = std::size_t{1} << 10;

// The largest vocabulary that a config.json may have, in tokens.
inline constexpr std::size_t kMostVocabulary = std::size_t{1} << 24;

struct ModelConfig {
  Config config;
  std::optional<StoredWeights> weights;  // nothing: the model is not converted
  std::vector<std::string> other_heads;  // heads of the original that a converted model lacks
  std::vector<std::string> warnings;     // a sentence for each ignored part of the model
};

// Reads the text of a config.json. Fails if a required number is missing or invalid, or if the file
// requests something that this engine does not support (see CheckConfigKeys).
Result<ModelConfig> ReadConfigJson(std::string_view text);

}  // namespace gpt2
