#include "engine/format/tensor_row.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/code_rows.h"
#include "engine/format/float16.h"
#include "engine/format/safetensors.h"
#include "engine/format/weight_plan.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Values as floats; false if one of them is not finite.
bool ToFloats(DType dtype, const std::byte* bytes, std::span<float> floats) {
  if (dtype == DType::kF32) {
    std::memcpy(floats.data(), bytes, floats.size_bytes());
  } else {
    for (std::size_t i = 0; i < floats.size(); ++i) {
      std::uint16_t bits;
      std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
      floats[i] = WidenFloat16(bits);
    }
  }
  bool finite = true;
  for (const float value : floats) finite &= std::fabs(value) <= std::numeric_limits<float>::max();
  return finite;
}

// Whether one of `codes` is -128. It reads nearly every byte of a model, so it tests eight bytes at
// a time. The test resembles that for a zero byte in Warren, "Hacker's Delight", 6-1.
bool HasMinus128(std::span<const std::uint8_t> codes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kMinus128 = 0x80 * kOnes;
  std::uint64_t found = 0;
  for (; codes.size() >= sizeof found; codes = codes.subspan(sizeof found)) {
    std::uint64_t eight;
    std::memcpy(&eight, codes.data(), sizeof eight);
    const std::uint64_t zero_where_so = eight ^ kMinus128;
    found |= (zero_where_so - kOnes) & ~zero_where_so & kMinus128;
  }
  for (const std::uint8_t code : codes) found |= code == 0x80 ? 1 : 0;
  return found != 0;
}

Error Bad(const TensorPlan& plan, std::size_t row, const char* what) {
  return CorruptWeights(Concat("tensor ", Quoted(plan.tensor->name), " row ", row, ": ", what));
}

Status TakeCodes(const TensorPlan& plan, std::size_t row, const std::byte* bytes, Matrix& matrix) {
  const std::span codes(reinterpret_cast<const std::uint8_t*>(bytes), plan.row_bytes);
  if (matrix.format() == WeightFormat::kQ8 && HasMinus128(codes)) {
    return Bad(plan, row, "code -128, expected -127 to 127");
  }
  assert(codes.size() == CodeRowBytes(matrix.format(), matrix.cols()));
  matrix.SetCodes(row, codes);
  return Done{};
}

Status TakeScales(const TensorPlan& plan, std::size_t row, const std::byte* bytes, Matrix& matrix) {
  std::vector<BFloat16> scales(plan.row_bytes / sizeof(BFloat16));
  std::memcpy(scales.data(), bytes, plan.row_bytes);
  const bool may_be_negative = InfoOf(matrix.format()).has_negative_scales;
  for (const BFloat16 scale : scales) {
    const float value = WidenBFloat16(scale);
    if (!std::isfinite(value)) return Bad(plan, row, "a scale that is not finite");
    if (value < 0.0f && !may_be_negative) return Bad(plan, row, "a scale that is negative");
  }
  SetScales(matrix, row, scales);
  return Done{};
}

}  // namespace

Status TakeRow(const TensorPlan& plan, std::size_t row, const std::byte* bytes, Weights& weights) {
  const auto [matrix, values] = Bind(*plan.spec, weights);
  if (plan.is_scales) return TakeScales(plan, row, bytes, *matrix);
  if (InfoOf(plan.format).has_codes()) return TakeCodes(plan, row, bytes, *matrix);
  std::vector<float> floats(plan.spec->cols);
  if (!ToFloats(plan.tensor->dtype, bytes, floats)) {
    return Bad(plan, row, "a value that is not finite");
  }
  if (matrix != nullptr) {
    matrix->SetRow(row, floats);
  } else {
    std::copy(floats.begin(), floats.end(), values->data() + row * floats.size());
  }
  return Done{};
}

}  // namespace gpt2
