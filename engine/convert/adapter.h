// A LoRA adapter: what it adds to a model's matrices, and which tensors it replaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/adapter_config.h"

namespace gpt2 {

// The change of a matrix [out, in]: scale * B A.
struct LowRank {
  std::size_t rank = 0;
  std::size_t in = 0;
  std::size_t out = 0;
  float scale = 0;                  // the scale in the config, times the adapter's weight
  std::vector<float> a;             // A [rank, in]
  std::vector<float> b_transposed;  // [rank, out]: B as PEFT stores it is [out, rank]
};

// A tensor that replaces the base's.
struct SavedTensor {
  std::vector<std::uint64_t> shape;  // as stored: a Conv1D's weight is [in, out]
  std::vector<float> values;
};

struct Adapter {
  // Reads the text of adapter_config.json and all bytes of adapter_model.safetensors. `weight`,
  // which is finite, scales the adapter's contribution. Fails, naming the file and the field or
  // tensor, if they are not a LoRA adapter for a GPT-2. MergePlan checks what depends on the model.
  static Result<Adapter> Read(std::string_view config, std::span<const std::byte> file,
                              double weight);

  // The entry for a module or a tensor, null if there is none.
  const LowRank* FindAdded(std::string_view module) const;
  const SavedTensor* FindSaved(std::string_view name) const;

  AdapterConfig config;
  double weight = 1;
  std::map<std::string, LowRank, std::less<>> added;      // by module: "h.0.attn.c_attn"
  std::map<std::string, SavedTensor, std::less<>> saved;  // by TensorSpec::name
};

}  // namespace gpt2
