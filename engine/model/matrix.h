// A weight matrix in the layout that the matmul kernels read, filled row by row or input by input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/kernels/layout.h"

namespace gpt2 {

enum class WeightFormat { kF32, kQ8 };

// Quantizes one group of up to kGroup weights: the scale is peak / 127 rounded up to bfloat16, so
// that no code leaves -127..127; codes are rounded half away from zero. Returns the scale.
BFloat16 QuantizeWeights(std::span<const float> weights, std::int8_t* codes);

// [rows, cols] weights, rows = outputs, cols = inputs. Owns its memory. Filling one matrix from two
// threads is not allowed; reading is.
class Matrix {
 public:
  Matrix() = default;

  // All zeros. `name` is for the error when there is no memory.
  static Result<Matrix> Create(WeightFormat format, std::size_t rows, std::size_t cols,
                               const char* name);

  WeightFormat format() const { return format_; }
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t tiles() const { return CeilDiv(rows_, kTileRows); }
  std::size_t groups() const { return CeilDiv(cols_, kGroup); }
  std::size_t bytes() const { return values_.bytes() + codes_.bytes() + scales_.bytes(); }

  // Sets row `row` from weights [cols], quantizing them if the format says so.
  void SetRow(std::size_t row, std::span<const float> weights);

  // Sets inputs [first_input, first_input + count) of all rows from weights [count, rows].
  // first_input is a multiple of kGroup, and count is kGroup except at the end.
  void SetInputs(std::size_t first_input, std::size_t count, const float* weights);

  // Sets the codes [cols] or the scales [groups] of row `row`. Only for kQ8.
  void SetCodes(std::size_t row, std::span<const std::int8_t> codes);
  void SetScales(std::size_t row, std::span<const BFloat16> scales);

  // Writes row `row` as floats [cols].
  void ReadRow(std::size_t row, std::span<float> weights) const;

  // Writes the codes [cols] and the scales [groups] of row `row`. Only for kQ8.
  void ReadCodes(std::size_t row, std::span<std::int8_t> codes) const;
  void ReadScales(std::size_t row, std::span<BFloat16> scales) const;

  // What the kernels read; `bias` [tiles * kTileRows] is the caller's.
  TiledF32 AsF32(const float* bias) const { return {values_.data(), bias, cols_}; }
  TiledQ8 AsQ8(const float* bias) const { return {codes_.data(), scales_.data(), bias, groups()}; }

 private:
  std::size_t ValueIndex(std::size_t row, std::size_t col) const;
  std::size_t CodeIndex(std::size_t row, std::size_t col) const;
  std::size_t ScaleIndex(std::size_t row, std::size_t group) const;
  void SetGroup(std::size_t row, std::size_t group, std::span<const float> weights);

  WeightFormat format_ = WeightFormat::kF32;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  AlignedBuffer<float> values_;       // kF32: see TiledF32
  AlignedBuffer<std::int8_t> codes_;  // kQ8: see TiledQ8
  AlignedBuffer<BFloat16> scales_;    // kQ8
};

}  // namespace gpt2
