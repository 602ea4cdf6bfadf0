// GPT-2 in float64, as plain as possible: the reference for the engine where a test
// changes a model's weights.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/model/config.h"
#include "tests/support/safetensors_file.h"

namespace gpt2::testing {

// Weights by name, without "transformer.". Conv1D weights are [in, out], as on the Hub. Missing
// biases are zero, and without "lm_head.weight" the head is "wte.weight".
using ReferenceWeights = std::map<std::string, std::vector<double>>;

ReferenceWeights Widen(const FileTensors& tensors);

// Logits [ids, vocab_size].
std::vector<std::vector<double>> ReferenceLogits(const Config& config,
                                                 const ReferenceWeights& weights,
                                                 std::span<const std::int32_t> ids);

}  // namespace gpt2::testing
