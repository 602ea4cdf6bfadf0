// Converts rows of quantized matrices between files (weights_tools/FORMAT.md) and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/model/matrix.h"

namespace gpt2 {

// The size in bytes of the codes of a row of `cols` inputs. kQ8: one byte for each input. kQ4:
// whole groups of kGroup / 2 bytes, with the four-byte words of TiledQ4 one after the other.
std::size_t CodeRowBytes(WeightFormat format, std::size_t cols);

// Sets the scales [groups] of row `row`; Matrix::SetCodes takes its codes [CodeRowBytes]. Not for
// kF32.
void SetScales(Matrix& matrix, std::size_t row, std::span<const BFloat16> scales);

// Writes the values in the form that Matrix::SetCodes and SetScales accept.
void ReadCodes(const Matrix& matrix, std::size_t row, std::span<std::uint8_t> codes);
void ReadScales(const Matrix& matrix, std::size_t row, std::span<BFloat16> scales);

}  // namespace gpt2
