#include "engine/format/tensor_stream.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
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
bool ToFloats(DType dtype, const std::byte* bytes, std::size_t count, float* floats) {
  if (dtype == DType::kF32) {
    std::memcpy(floats, bytes, count * sizeof(float));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t bits;
      std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
      floats[i] = dtype == DType::kF16 ? WidenFloat16(bits) : WidenBFloat16(bits);
    }
  }
  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) {
    finite &= std::fabs(floats[i]) <= std::numeric_limits<float>::max();
  }
  return finite;
}

// Rounds each value to the nearest float16; returns false if one is too large for that.
bool RoundToHalf(std::span<float> values) {
  for (float& value : values) {
    const auto half = NarrowFloat16(value);
    if (!half) return false;
    value = WidenFloat16(*half);
  }
  return true;
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

}  // namespace

TensorStream::TensorStream(const TensorPlan& plan, Weights& weights)
    : plan_(plan), weights_(&weights) {
  if (plan.spec != nullptr) target_ = Bind(*plan.spec, weights);
}

bool TensorStream::owns_memory() const {
  return plan_.kind != TensorPlan::Kind::kSkip && plan_.kind != TensorPlan::Kind::kScales;
}

Status TensorStream::Allocate() {
  return gpt2::Allocate(*plan_.spec, plan_.memory_format, *weights_);
}

std::size_t TensorStream::BandBytes() const {
  return std::min(plan_.band_rows, plan_.rows - next_row_) * plan_.row_bytes;
}

Status TensorStream::Take(const std::byte* bytes) {
  const std::size_t rows = std::min(plan_.band_rows, plan_.rows - next_row_);
  const std::size_t row = std::exchange(next_row_, next_row_ + rows);
  switch (plan_.kind) {
    case TensorPlan::Kind::kSkip:
      return Done{};
    case TensorPlan::Kind::kCodes:
      return TakeCodes(row, bytes);
    case TensorPlan::Kind::kScales:
      return TakeScales(row, bytes);
    default:
      return TakeFloats(row, rows, bytes);
  }
}

Error TensorStream::Bad(std::size_t row, const char* what) const {
  return CorruptWeights(Concat("tensor ", Quoted(plan_.tensor->name), " row ", row, ": ", what));
}

Status TensorStream::TakeCodes(std::size_t row, const std::byte* bytes) {
  const std::span codes(reinterpret_cast<const std::uint8_t*>(bytes), plan_.row_bytes);
  if (target_.matrix->format() == WeightFormat::kQ8 && HasMinus128(codes)) {
    return Bad(row, "code -128, expected -127 to 127");
  }
  assert(codes.size() == CodeRowBytes(target_.matrix->format(), target_.matrix->cols()));
  target_.matrix->SetCodes(row, codes);
  return Done{};
}

Status TensorStream::TakeScales(std::size_t row, const std::byte* bytes) {
  std::vector<BFloat16> scales(plan_.row_bytes / sizeof(BFloat16));
  std::memcpy(scales.data(), bytes, plan_.row_bytes);
  const bool may_be_negative = InfoOf(target_.matrix->format()).has_negative_scales;
  for (const BFloat16 scale : scales) {
    const float value = WidenBFloat16(scale);
    if (!std::isfinite(value)) return Bad(row, "a scale that is not finite");
    if (value < 0.0f && !may_be_negative) return Bad(row, "a scale that is negative");
  }
  SetScales(*target_.matrix, row, scales);
  return Done{};
}

Status TensorStream::TakeFloats(std::size_t row, std::size_t rows, const std::byte* bytes) {
  const DType dtype = plan_.tensor->dtype;
  const std::size_t values = rows * plan_.row_bytes / DTypeSize(dtype);
  floats_.resize(values);
  if (!ToFloats(dtype, bytes, values, floats_.data())) {
    return Bad(row, "a value that is not finite");
  }
  if (plan_.is_half && !RoundToHalf(floats_)) {
    return Error{ErrorCode::kUnsupported,
                 Bad(row, "a value that is too large for float16: use weights \"f32\"").message};
  }
  switch (plan_.kind) {
    case TensorPlan::Kind::kMatrixRows:
      target_.matrix->SetRow(row, floats_);
      break;
    case TensorPlan::Kind::kMatrixInputs:
      target_.matrix->SetInputs(row, rows, floats_.data());
      break;
    default:
      std::copy(floats_.begin(), floats_.end(), target_.floats->data() + row * plan_.spec->cols);
  }
  return Done{};
}

}  // namespace gpt2
