// A weight matrix in the layout of the matmul kernels, filled row by row or input by input.
// engine/format/code_rows.h has the layout in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/kernels/layout.h"
#include "engine/model/weight_format.h"

namespace gpt2 {

// Quantizes one group of up to kGroup weights. The scale is absmax / 127 rounded up to bfloat16, so
// that every code is in -127..127. Codes are rounded half away from zero. Returns the scale.
BFloat16 QuantizeWeights(std::span<const float> weights, std::int8_t* codes);

// A word of codes holds one row's codes of a step (kQ8), or of a step pair (kQ4, see TiledQ4). It
// fills one 32-bit lane of a vector.
inline constexpr std::size_t kWordBytes = kStepInputs;

// [rows, cols] weights, rows = outputs, cols = inputs. Owns its memory. Two threads may read one
// matrix, but not fill it.
class Matrix {
 public:
  Matrix() = default;

  // The padding is zero; the caller must set all weights. `name` is for the error if there is no
  // memory.
  static Result<Matrix> Create(WeightFormat format, std::size_t rows, std::size_t cols,
                               const char* name);

  WeightFormat format() const { return format_; }
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t tiles() const { return CeilDiv(rows_, kTileRows); }
  std::size_t groups() const { return CeilDiv(cols_, kGroup); }
  // Whether two matrices have the same shape, format and bits.
  bool operator==(const Matrix& other) const;

  std::size_t bytes() const { return values_.bytes() + blocks_.bytes(); }

  // Sets row `row` from weights [cols], quantizing them if the format is kQ8. Not for kQ4, whose
  // codes need a calibration (weights_tools/quantizer.h).
  void SetRow(std::size_t row, std::span<const float> weights);

  // Sets one group of row `row`, weight = scale * code: codes -127..127 for kQ8, -8..7 for kQ4, at
  // most kGroup of them.
  void SetGroup(std::size_t row, std::size_t group, std::span<const std::int8_t> codes,
                BFloat16 scale);

  // Writes row `row` as floats [cols].
  void ReadRow(std::size_t row, std::span<float> weights) const;

  // Sets the codes of row `row` from bytes in order of input, with zeros to the end of the last
  // group. Not for kF32.
  void SetCodes(std::size_t row, std::span<const std::uint8_t> codes);

  // The codes of a group of row `row` in place, in order of input: [words, kWordBytes]. Not for
  // kF32.
  MatView<const std::uint8_t> CodeWords(std::size_t row, std::size_t group) const;

  // The scales of row `row` in place, [groups, 1]. Not for kF32.
  MatView<BFloat16> Scales(std::size_t row);
  MatView<const BFloat16> Scales(std::size_t row) const;

  // The form that the kernels read; the caller owns `bias` [tiles * kTileRows].
  TiledF32 AsF32(const float* bias) const { return {values_.data(), bias, cols_}; }
  TiledQ8 AsQ8(const float* bias) const {
    return {reinterpret_cast<const Q8Block*>(blocks_.data()), bias, groups()};
  }
  TiledQ4 AsQ4(const float* bias) const {
    return {reinterpret_cast<const Q4Block*>(blocks_.data()), bias, groups()};
  }

 private:
  std::size_t ValueIndex(std::size_t row, std::size_t col) const;
  std::size_t words_per_group() const;
  std::size_t block_bytes() const;
  std::size_t BlockStart(std::size_t row, std::size_t group) const;
  std::size_t FirstScale(std::size_t row) const;
  MatView<std::uint8_t> MutableCodeWords(std::size_t row, std::size_t group);
  void SumGroup(std::size_t row, std::size_t group);
  void ZeroLastTile();

  WeightFormat format_ = WeightFormat::kF32;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  AlignedBuffer<float> values_;         // kF32: see TiledF32
  AlignedBuffer<std::uint8_t> blocks_;  // kQ8, kQ4: see TiledQ8, TiledQ4
};

}  // namespace gpt2
