// Moves one tensor from its file into a model's weights.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/weight_plan.h"
#include "engine/model/weights.h"

namespace gpt2 {

// Reads the tensor of a plan band by band, checks its values and stores them in `weights`. Borrows
// `weights` and the plan's tensor. Not thread-safe.
class TensorStream {
 public:
  TensorStream(const TensorPlan& plan, Weights& weights);

  const TensorPlan& plan() const { return plan_; }
  std::size_t next_row() const { return next_row_; }
  bool is_done() const { return next_row_ == plan_.rows; }

  // Whether Allocate is necessary. Scales need no memory of their own, because they share that of
  // their codes.
  bool owns_memory() const;

  // Allocates the parameter's memory. Call this before the first band, if owns_memory().
  Status Allocate();

  // The size of the next band in bytes.
  std::size_t BandBytes() const;

  // Takes the next band, BandBytes() bytes. Fails, naming tensor and row, on a value that no
  // converter writes.
  Status Take(const std::byte* bytes);

  // Frees the memory that only Take needs.
  void Close() { std::vector<float>().swap(floats_); }  // floats_ = {} would keep the memory

 private:
  Error Bad(std::size_t row, const char* what) const;
  Status TakeCodes(std::size_t row, const std::byte* bytes);
  Status TakeScales(std::size_t row, const std::byte* bytes);
  Status TakeFloats(std::size_t row, std::size_t rows, const std::byte* bytes);

  TensorPlan plan_;
  Weights* weights_;
  TensorRef target_;  // the place of the plan's spec in the weights
  std::size_t next_row_ = 0;
  std::vector<float> floats_;  // one band, widened
};

}  // namespace gpt2
