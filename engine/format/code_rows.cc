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

namespace gpt2 {

std::size_t CodeRowBytes(WeightFormat format, std::size_t cols) {
  const WeightFormatInfo& info = InfoOf(format);
  return info.has_whole_groups ? CeilDiv(cols, info.group) * info.GroupBytes()
                               : cols * info.bits / 8;
}

void SetCodes(Matrix& matrix, std::size_t row, std::span<const std::uint8_t> codes) {
  assert(codes.size() == CodeRowBytes(matrix.format(), matrix.cols()));
  const MatView<std::uint8_t> words = matrix.CodeWords(row);
  const std::size_t whole_words = codes.size() / kWordBytes;
  for (std::size_t word = 0; word < whole_words; ++word) {
    std::memcpy(words.Row(word).data(), codes.data() + word * kWordBytes, kWordBytes);
  }
  // The rest of the row, then zeros to the end of its last group.
  std::span<const std::uint8_t> rest = codes.subspan(whole_words * kWordBytes);
  for (std::size_t word = whole_words; word < words.rows; ++word) {
    const std::span<std::uint8_t> target = words.Row(word);
    std::fill(target.begin(), target.end(), std::uint8_t{0});
    std::copy(rest.begin(), rest.end(), target.begin());
    rest = {};
  }
}

void SetScales(Matrix& matrix, std::size_t row, std::span<const BFloat16> scales) {
  assert(scales.size() == matrix.groups());
  const MatView<BFloat16> target = matrix.Scales(row);
  for (std::size_t g = 0; g < scales.size(); ++g) target.Row(g)[0] = scales[g];
}

void ReadCodes(const Matrix& matrix, std::size_t row, std::span<std::uint8_t> codes) {
  assert(codes.size() == CodeRowBytes(matrix.format(), matrix.cols()));
  const MatView<const std::uint8_t> words = matrix.CodeWords(row);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = words.Row(i / kWordBytes)[i % kWordBytes];
  }
}

void ReadScales(const Matrix& matrix, std::size_t row, std::span<BFloat16> scales) {
  assert(scales.size() == matrix.groups());
  const MatView<const BFloat16> source = matrix.Scales(row);
  for (std::size_t g = 0; g < scales.size(); ++g) scales[g] = source.Row(g)[0];
}

}  // namespace gpt2
