#include "engine/convert/stored_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/quantize_q4.h"
#include "engine/format/code_rows.h"
#include "engine/format/config_json.h"
#include "engine/format/float16.h"
#include "engine/format/json_writer.h"
#include "engine/format/number_text.h"
#include "engine/format/safetensors.h"
#include "engine/format/stored_weights.h"
#include "engine/format/weight_plan.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"

namespace gpt2 {
namespace {

// Packs the 4-bit codes of a group, -8..7, two per byte: see TiledQ4.
void PackQ4(const std::array<std::int8_t, kGroup>& codes, std::byte* bytes) {
  for (std::size_t i = 0; i < kGroup / 2; ++i) {
    const std::size_t low = i / kStepInputs * 2 * kStepInputs + i % kStepInputs;
    const int both = (codes[low] + kQ4Zero) | (codes[low + kStepInputs] + kQ4Zero) << 4;
    bytes[i] = static_cast<std::byte>(both);
  }
}

BFloat16 QuantizeGroupToQ4(std::span<const float> weights, std::byte* bytes) {
  std::array<float, kGroup> targets{}, importance{};
  std::copy(weights.begin(), weights.end(), targets.begin());
  std::fill_n(importance.begin(), weights.size(), 1.0f);
  const BFloat16 scale = SearchQ4Scale(targets, importance);
  const float step = WidenBFloat16(scale);
  std::array<std::int8_t, kGroup> codes{};
  for (std::size_t i = 0; i < weights.size() && step != 0.0f; ++i) {
    codes[i] = static_cast<std::int8_t>(RoundToQ4(weights[i], 1.0f / step));
  }
  PackQ4(codes, bytes);
  return scale;
}

}  // namespace

std::string StoredTensor::Name() const {
  return dtype == DType::kBF16 ? spec->name + kScaleSuffix : spec->name;
}

StoredTensor StoreTensor(const TensorSpec& spec, StoredWeights weights) {
  StoredTensor tensor{&spec, StoredDType(weights, spec), spec.rows, spec.cols};
  tensor.codes = FormatOfCodes(tensor.dtype);
  if (tensor.has_codes()) tensor.cols = CodeRowBytes(tensor.codes->format, spec.cols);
  return tensor;
}

StoredTensor ScalesOf(const StoredTensor& codes) {
  return {codes.spec, DType::kBF16, codes.rows, CeilDiv(codes.spec->cols, kGroup)};
}

void StoreTensor(const TensorSpec& spec, StoredWeights weights, std::vector<StoredTensor>& out) {
  out.push_back(StoreTensor(spec, weights));
  if (out.back().has_codes()) out.push_back(ScalesOf(out.back()));
}

std::string StoredHeader(std::span<const StoredTensor> tensors, StoredWeights weights) {
  std::string text(kSafetensorsPrefix, '\0');
  JsonWriter json(text);
  json.Open('{').Key("__metadata__").Open('{').Member(kFormatKey, kFormatName);
  json.Member(kVersionKey, InfoOf(weights).version);
  json.Close('}');
  std::uint64_t offset = 0;
  for (const StoredTensor& tensor : tensors) {
    json.Key(tensor.Name()).Open('{').Member("dtype", DTypeName(tensor.dtype));
    json.Key("shape").Open('[');
    if (!tensor.spec->is_vector()) json.Value(tensor.rows);
    json.Value(tensor.cols).Close(']').Key("data_offsets").Open('[').Value(offset);
    json.Value(offset += tensor.Bytes()).Close(']').Close('}');
  }
  json.Close('}');
  text.resize(RoundUp(text.size(), 8), ' ');  // so that the data is aligned
  const std::uint64_t length = text.size() - kSafetensorsPrefix;
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    text[i] = static_cast<char>(length >> (8 * i) & 0xff);
  }
  return text;
}

Status StoreFloats(const StoredTensor& tensor, std::span<const float> values, std::byte* bytes) {
  if (tensor.dtype == DType::kF32) {
    std::memcpy(bytes, values.data(), values.size_bytes());
    return Done{};
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto half = NarrowFloat16(values[i]);
    if (!half) {
      return Error{ErrorCode::kUnsupported, Concat("tensor \"", tensor.Name(), "\" has the value ",
                                                   NumberText(static_cast<double>(values[i])),
                                                   ", too large for float16: use --weights f32")};
    }
    std::memcpy(bytes + 2 * i, &*half, 2);
  }
  return Done{};
}

Result<BFloat16> StoreGroup(const StoredTensor& tensor, std::size_t row,
                            std::span<const float> weights, std::byte* bytes) {
  const BFloat16 scale = tensor.codes->format == WeightFormat::kQ4
                             ? QuantizeGroupToQ4(weights, bytes)
                             : QuantizeWeights(weights, reinterpret_cast<std::int8_t*>(bytes));
  if (!std::isfinite(WidenBFloat16(scale))) return ScaleNotFinite(tensor, row);
  return scale;
}

Error ScaleNotFinite(const StoredTensor& tensor, std::size_t row) {
  return Error{ErrorCode::kUnsupported,
               Concat("tensor \"", tensor.spec->name, "\" row ", row,
                      ": a scale is not finite, its values are too large")};
}

std::string QuantizationConfig(StoredWeights weights, std::span<const std::string> other_heads) {
  std::string text;
  JsonWriter json(text);
  json.Open('{').Member(kQuantMethodKey, kFormatName);
  json.Member(kWeightsKey, StoredWeightsName(weights));
  if (InfoOf(weights).has_codes()) json.Member(kGroupSizeKey, kGroup);
  if (!other_heads.empty()) {
    json.Key(kOtherHeadsKey).Open('[');
    for (const std::string& head : other_heads) json.Value(head);
    json.Close(']');
  }
  json.Close('}');
  return text;
}

}  // namespace gpt2
