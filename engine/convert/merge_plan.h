// Merges LoRA adapters into a model's tensors as they stream.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"

namespace gpt2 {

// How adapters change each tensor of a model. A weight W [out, in] becomes W + s_1 (B_1 A_1) + s_2
// (B_2 A_2) + ... one adapter after the other, in their order. Each entry of B A is summed from 0
// on in the order of the rank, and s is weight * lora_alpha / r, rounded once. Everything is
// float32, and each product and each sum is rounded, so that the bits are the same everywhere.
class MergePlan {
 public:
  MergePlan() = default;  // a plan without adapters

  // For the model of `config`, whose tensors are `specs`. Fails, naming module or tensor, if an
  // adapter does not fit the model, needs something unimplemented, or lacks something that its
  // config names.
  static Result<MergePlan> Make(std::vector<Adapter> adapters, const Config& config,
                                std::span<const TensorSpec> specs);

  // Whether an adapter gives a separate head to a model whose head is tied to its embedding.
  bool unties_head() const { return unties_head_; }
  // Whether an adapter changes `spec`.
  bool Changes(const TensorSpec& spec) const;
  // Whether an adapter supplies all values of `spec`, even if the model has no such tensor.
  bool Adds(const TensorSpec& spec) const;

  // Merges into `values` [rows, columns]: whole rows of the tensor of `spec`, from `first_row` on,
  // as they are stored. They are inputs of a matrix that is `is_transposed` ([in, out]). False if a
  // value becomes infinite.
  bool Apply(const TensorSpec& spec, bool is_transposed, std::size_t first_row,
             std::span<float> values);

 private:
  Status Add(const Adapter& adapter, const Config& config, std::span<const TensorSpec> specs);
  Status CheckShared() const;
  const SavedTensor* FindSaved(const TensorSpec& spec) const;

  std::vector<Adapter> adapters_;
  bool unties_head_ = false;
  bool ties_head_ = false;   // whether the head is tied to an embedding that an adapter saves
  std::vector<float> sums_;  // the sums of one row
};

// The spec of the separate head of a model of `config`, whose head is tied.
TensorSpec HeadSpec(Config config);

}  // namespace gpt2
