#include "engine/format/code_rows.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"

namespace gpt2 {

std::size_t CodeRowBytes(WeightFormat format, std::size_t cols) {
  const WeightFormatInfo& info = InfoOf(format);
  return info.has_whole_groups ? CeilDiv(cols, info.group) * info.GroupBytes()
                               : cols * info.bits / 8;
}

void SetScales(Matrix& matrix, std::size_t row, std::span<const BFloat16> scales) {
  assert(scales.size() == matrix.groups());
  const MatView<BFloat16> target = matrix.Scales(row);
  for (std::size_t g = 0; g < scales.size(); ++g) target.Row(g)[0] = scales[g];
}

void ReadCodes(const Matrix& matrix, std::size_t row, std::span<std::uint8_t> codes) {
  assert(codes.size() == CodeRowBytes(matrix.format(), matrix.cols()));
  for (std::size_t group = 0; group < matrix.groups(); ++group) {
    const MatView<const std::uint8_t> words = matrix.CodeWords(row, group);
    for (std::size_t word = 0; word < words.rows; ++word) {
      const std::size_t count = std::min(codes.size(), kWordBytes);
      std::memcpy(codes.data(), words.Row(word).data(), count);
      codes = codes.subspan(count);
    }
  }
}

void ReadScales(const Matrix& matrix, std::size_t row, std::span<BFloat16> scales) {
  assert(scales.size() == matrix.groups());
  const MatView<const BFloat16> source = matrix.Scales(row);
  for (std::size_t g = 0; g < scales.size(); ++g) scales[g] = source.Row(g)[0];
}

}  // namespace gpt2
