// GPT-2 in float64, as plain as possible: the reference for the engine where a test
// changes a model's weights.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
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

using ReferenceRow = std::vector<double>;
// The weights [n_layer, n_head, ids] that each token gives to the tokens up to itself.
using ReferenceAttention = std::vector<std::vector<std::vector<ReferenceRow>>>;

// The bound of float32 against float64 over at most 3 layers of width 96. Sums of some hundred
// products of order 1, each rounded to 2^-24, stay far below it.
inline constexpr double kF32Tolerance = 1e-4;

// Fails unless each value is within kF32Tolerance of the expected one.
template <typename Expected>
void ExpectNear(const std::vector<std::vector<float>>& found,
                const std::vector<std::vector<Expected>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t row = 0; row < found.size(); ++row) {
    ASSERT_EQ(found[row].size(), expected[row].size());
    for (std::size_t i = 0; i < found[row].size(); ++i) {
      ASSERT_NEAR(found[row][i], expected[row][i], kF32Tolerance) << "row " << row;
    }
  }
}

// Sees, and may change, the rows of all tokens at each place of the pass, named as in
// TransformerLens. Of a place with heads, it sees one after the other.
using ReferenceHook = std::function<void(const std::string& place, std::size_t head,
                                         std::vector<ReferenceRow>& rows)>;

// Logits [ids, vocab_size]; also sets `attention`, unless it is null.
std::vector<ReferenceRow> ReferenceLogits(const Config& config, const ReferenceWeights& weights,
                                          std::span<const std::int32_t> ids,
                                          ReferenceAttention* attention = nullptr,
                                          const ReferenceHook& hook = nullptr);

// The logits of a residual stream `x`, as if it came from the last layer.
ReferenceRow ReferenceHead(const Config& config, const ReferenceWeights& weights,
                           const ReferenceRow& x);

}  // namespace gpt2::testing
