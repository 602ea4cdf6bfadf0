// Rows of quantized matrices as files hold them (weights_tools/FORMAT.md), to and from the layout
// in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/model/matrix.h"

namespace gpt2 {

// Bytes of the codes of a row of `cols` inputs. kQ8: a byte each. kQ4: whole groups of kGroup / 2
// bytes, in the order of TiledQ4, whose words of four bytes lie side by side here.
std::size_t CodeRowBytes(WeightFormat format, std::size_t cols);

// Sets the codes [CodeRowBytes] or the scales [groups] of row `row`. Not for kF32.
void SetCodes(Matrix& matrix, std::size_t row, std::span<const std::uint8_t> codes);
void SetScales(Matrix& matrix, std::size_t row, std::span<const BFloat16> scales);

// Writes what SetCodes and SetScales set.
void ReadCodes(const Matrix& matrix, std::size_t row, std::span<std::uint8_t> codes);
void ReadScales(const Matrix& matrix, std::size_t row, std::span<BFloat16> scales);

}  // namespace gpt2
