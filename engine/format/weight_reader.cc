#include "engine/format/weight_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

namespace gpt2 {
namespace {

Error Corrupt(const std::string& what) {
  return Error{ErrorCode::kCorrupt, "model.safetensors: " + what};
}

float WidenFloat16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  // Re-bias from 15 to 127; the all-ones exponent (infinity, NaN) stays all ones.
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

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
  for (std::size_t i = 0; i < count; ++i) finite &= std::fabs(floats[i]) <= 3.4028235e38f;
  return finite;
}

// Buffers that a checkpoint may carry and that are not parameters: the causal masks, and a copy of
// a tied head.
bool IsIgnored(const std::string& name, const Config& config) {
  if (name == "lm_head.weight") return config.tie_word_embeddings;
  return name.starts_with("h.") &&
         (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias"));
}

// Bytes of a tensor whose shape was checked against config.json, which bounds them.
std::size_t BytesOf(const TensorInfo& tensor) {
  return static_cast<std::size_t>(tensor.end - tensor.begin);
}

std::string ShapeText(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace

// A tensor is consumed in units: a row, or a band of kGroup rows of a transposed matrix.
struct WeightReader::Stream {
  enum class Kind { kSkip, kMatrixRows, kMatrixInputs, kFloats, kCodes, kScales };

  Kind kind = Kind::kSkip;
  const TensorInfo* tensor = nullptr;
  const TensorSlot* slot = nullptr;
  std::size_t rows = 0;  // of the tensor as stored
  std::size_t row_bytes = 0;
  std::size_t unit_rows = 1;
  std::size_t next_row = 0;
  std::vector<float> floats;  // one unit, widened

  std::size_t UnitBytes() const { return std::min(unit_rows, rows - next_row) * row_bytes; }
  bool IsDone() const { return next_row == rows; }

  // Takes UnitBytes() bytes.
  Status Take(const std::byte* bytes);
};

Status WeightReader::Stream::Take(const std::byte* bytes) {
  const std::size_t count = std::min(unit_rows, rows - next_row);
  const std::size_t row = std::exchange(next_row, next_row + count);
  const auto bad = [&](const char* what) {
    return Corrupt("tensor \"" + tensor->name + "\" row " + std::to_string(row) + ": " + what);
  };
  if (kind == Kind::kSkip) return Done{};
  if (kind == Kind::kCodes) {
    const std::span codes(reinterpret_cast<const std::uint8_t*>(bytes), row_bytes);
    constexpr std::uint8_t kMinus128 = 0x80;
    bool has_minus_128 = false;
    for (const std::uint8_t code : codes) has_minus_128 |= code == kMinus128;
    if (has_minus_128 && slot->matrix->format() == WeightFormat::kQ8) {
      return bad("code -128, expected -127 to 127");
    }
    slot->matrix->SetCodes(row, codes);
    return Done{};
  }
  if (kind == Kind::kScales) {
    std::vector<BFloat16> scales(row_bytes / sizeof(BFloat16));
    std::memcpy(scales.data(), bytes, row_bytes);
    const bool may_be_negative = slot->matrix->format() == WeightFormat::kQ4;
    for (const BFloat16 scale : scales) {
      const float value = WidenBFloat16(scale);
      if (!std::isfinite(value)) return bad("a scale that is not finite");
      if (value < 0.0f && !may_be_negative) return bad("a scale that is negative");
    }
    slot->matrix->SetScales(row, scales);
    return Done{};
  }
  const std::size_t values = count * row_bytes / DTypeSize(tensor->dtype);
  floats.resize(values);
  if (!ToFloats(tensor->dtype, bytes, values, floats.data())) {
    return bad("a value that is not finite");
  }
  switch (kind) {
    case Kind::kMatrixRows:
      slot->matrix->SetRow(row, floats);
      break;
    case Kind::kMatrixInputs:
      slot->matrix->SetInputs(row, count, floats.data());
      break;
    default:
      std::copy(floats.begin(), floats.end(), slot->floats->data() + row * slot->cols);
  }
  return Done{};
}

std::string SlotName(const std::string& tensor_name) {
  constexpr std::string_view kPrefix = "transformer.";
  return tensor_name.starts_with(kPrefix) ? tensor_name.substr(kPrefix.size()) : tensor_name;
}

WeightReader::WeightReader(ModelConfig config, WeightFormat float_format)
    : config_(std::move(config)),
      float_format_(float_format),
      weights_(std::make_unique<Weights>()) {}

WeightReader::~WeightReader() = default;
WeightReader::WeightReader(WeightReader&&) noexcept = default;
WeightReader& WeightReader::operator=(WeightReader&&) noexcept = default;

Status WeightReader::Feed(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (!slots_.empty()) {
      if (current_ == streams_.size()) {
        return Corrupt(std::to_string(bytes.size()) + " bytes follow the last tensor");
      }
      GPT2_TRY(FeedTensor(bytes));
      continue;
    }
    const std::size_t wanted = kSafetensorsPrefix + header_length_;
    const std::size_t take = std::min(wanted - pending_.size(), bytes.size());
    pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
    bytes = bytes.subspan(take);
    if (pending_.size() < wanted) break;
    if (header_length_ == 0) {
      GPT2_ASSIGN(header_length_, ReadSafetensorsPrefix(pending_));
    } else {
      GPT2_TRY(ReadHeader(std::string_view(pending_).substr(kSafetensorsPrefix)));
      pending_.clear();
    }
  }
  return Done{};
}

Status WeightReader::ReadHeader(std::string_view json) {
  GPT2_ASSIGN(header_, ReadSafetensorsHeader(json));
  const auto format = header_.metadata.find(kFormatKey);
  is_converted_ = format != header_.metadata.end() && format->second == kFormatName;
  const std::string& version = header_.metadata[kVersionKey];
  if (is_converted_ && version != kFormatVersion && version != kQ4FormatVersion) {
    return Error{ErrorCode::kUnsupported, "model.safetensors: version \"" + version +
                                              "\", this engine reads " + kFormatVersion + " and " +
                                              kQ4FormatVersion};
  }
  if (is_converted_ == config_.weights.empty()) {
    return Corrupt(is_converted_
                       ? "converted weights, but config.json has no quantization_config"
                       : "hub weights, but config.json has a quantization_config: the two files "
                         "belong to different models");
  }
  return PlanTensors();
}

Status WeightReader::PlanTensors() {
  weights_->config = config_.config;
  slots_ = TensorSlots(*weights_);
  std::map<std::string, TensorSlot*, std::less<>> by_name;
  for (TensorSlot& slot : slots_) by_name[slot.name] = &slot;
  std::map<std::string, const TensorInfo*, std::less<>> seen;
  for (const TensorInfo& tensor : header_.tensors) {
    const std::string name = SlotName(tensor.name);
    if (!seen.emplace(name, &tensor).second) {
      return Corrupt("tensor \"" + name + "\" stands twice, with and without \"transformer.\"");
    }
    const std::string owner = name.ends_with(kScaleSuffix)
                                  ? name.substr(0, name.size() - std::strlen(kScaleSuffix))
                                  : name;
    const auto slot = by_name.find(owner);
    if (slot == by_name.end()) {
      if (!IsIgnored(name, config_.config)) {
        return Corrupt("tensor \"" + tensor.name + "\" is no part of a GPT-2");
      }
      if (tensor.end - tensor.begin > std::numeric_limits<std::size_t>::max()) {
        return Corrupt("tensor \"" + tensor.name + "\" is too large");
      }
      Stream skipped;
      skipped.tensor = &tensor;
      skipped.rows = BytesOf(tensor);
      skipped.row_bytes = 1;
      skipped.unit_rows = 1 << 16;
      streams_.push_back(std::move(skipped));
    } else if (owner != name) {
      GPT2_TRY(PlanScales(tensor, *slot->second));
    } else {
      GPT2_TRY(PlanTensor(tensor, *slot->second));
    }
  }
  for (const TensorSlot& slot : slots_) {
    const auto found = seen.find(slot.name);
    if (found == seen.end() && slot.is_required) {
      return Error{ErrorCode::kNotFound,
                   "model.safetensors: tensor \"" + slot.name + "\" is missing, expected [" +
                       std::to_string(slot.rows) + ", " + std::to_string(slot.cols) + "]"};
    }
    if (found == seen.end()) {
      GPT2_TRY(AllocateSlot(slot, WeightFormat::kF32));
    } else if (DTypeSize(found->second->dtype) == 1 && !seen.contains(slot.name + kScaleSuffix)) {
      return Error{ErrorCode::kNotFound,
                   "model.safetensors: tensor \"" + slot.name + kScaleSuffix + "\" is missing"};
    }
    weights_->bytes += slot.matrix != nullptr ? slot.matrix->bytes() : slot.floats->bytes();
  }
  return Done{};
}

Status WeightReader::PlanTensor(const TensorInfo& tensor, TensorSlot& slot) {
  const bool transposed = slot.is_conv1d && !is_converted_;
  std::vector<std::uint64_t> shape = {slot.rows, slot.cols};
  if (transposed) shape = {slot.cols, slot.rows};
  if (slot.is_vector) shape = {slot.cols};
  const bool is_q4 =
      tensor.dtype == DType::kU8 && header_.metadata.at(kVersionKey) == kQ4FormatVersion;
  if (is_q4) shape = {slot.rows, CeilDiv(slot.cols, kGroup) * kGroup / 2};
  if (tensor.shape != shape) {
    return Corrupt("tensor \"" + tensor.name + "\" is " + tensor.Describe() +
                   ", config.json asks for " + ShapeText(shape));
  }
  Stream stream;
  stream.tensor = &tensor;
  stream.slot = &slot;
  stream.rows = slot.is_vector ? 1 : transposed ? slot.cols : slot.rows;
  const bool is_codes = is_q4 || tensor.dtype == DType::kI8;
  if (is_codes && slot.matrix != nullptr && is_converted_) {
    stream.kind = Stream::Kind::kCodes;
  } else if (DTypeSize(tensor.dtype) < 2) {
    return Error{ErrorCode::kUnsupported, "model.safetensors: tensor \"" + tensor.name + "\" is " +
                                              tensor.Describe() + ", expected F32, F16 or BF16"};
  } else if (slot.matrix == nullptr) {
    stream.kind = Stream::Kind::kFloats;
  } else {
    stream.kind = transposed ? Stream::Kind::kMatrixInputs : Stream::Kind::kMatrixRows;
    if (transposed) stream.unit_rows = kGroup;
  }
  stream.row_bytes = BytesOf(tensor) / stream.rows;
  const WeightFormat codes_format = is_q4 ? WeightFormat::kQ4 : WeightFormat::kQ8;
  GPT2_TRY(AllocateSlot(slot, is_codes ? codes_format : float_format_));
  if (is_codes && slot.matrix->format() != codes_format) {
    return Corrupt("tensor \"" + tensor.name + "\": codes need at least " + std::to_string(kGroup) +
                   " inputs, this one has " + std::to_string(slot.cols));
  }
  weights_->parameter_count += slot.rows * slot.cols;
  streams_.push_back(std::move(stream));
  return Done{};
}

Status WeightReader::PlanScales(const TensorInfo& tensor, const TensorSlot& slot) {
  const std::vector<std::uint64_t> shape = {slot.rows, CeilDiv(slot.cols, kGroup)};
  // The codes come first, so that their matrix is there when its scales arrive.
  const bool has_codes = slot.matrix != nullptr && slot.matrix->format() != WeightFormat::kF32 &&
                         slot.matrix->rows() == slot.rows;
  if (!has_codes || tensor.dtype != DType::kBF16 || tensor.shape != shape) {
    return Corrupt("tensor \"" + tensor.name + "\" is " + tensor.Describe() + ", expected BF16 " +
                   ShapeText(shape) + " after the codes \"" + slot.name + "\"");
  }
  Stream stream;
  stream.kind = Stream::Kind::kScales;
  stream.tensor = &tensor;
  stream.slot = &slot;
  stream.rows = slot.rows;
  stream.row_bytes = BytesOf(tensor) / slot.rows;
  streams_.push_back(std::move(stream));
  return Done{};
}

// Takes whole units straight from `bytes`; only a unit that is cut in two is put together first.
Status WeightReader::FeedTensor(std::span<const std::byte>& bytes) {
  Stream& stream = streams_[current_];
  while (!stream.IsDone() && !bytes.empty()) {
    const std::size_t unit = stream.UnitBytes();
    if (pending_.empty() && bytes.size() >= unit) {
      GPT2_TRY(stream.Take(bytes.data()));
      bytes = bytes.subspan(unit);
      continue;
    }
    const std::size_t take = std::min(unit - pending_.size(), bytes.size());
    pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
    bytes = bytes.subspan(take);
    if (pending_.size() == unit) {
      GPT2_TRY(stream.Take(reinterpret_cast<const std::byte*>(pending_.data())));
      pending_.clear();
    }
  }
  SkipDoneStreams();
  return Done{};
}

void WeightReader::SkipDoneStreams() {
  while (current_ < streams_.size() && streams_[current_].IsDone()) {
    streams_[current_].floats = {};
    ++current_;
  }
}

Result<std::unique_ptr<Weights>> WeightReader::Finish() {
  if (slots_.empty()) {
    return Corrupt("the file ends inside its header, after " + std::to_string(pending_.size()) +
                   " bytes");
  }
  SkipDoneStreams();
  if (current_ < streams_.size()) {
    const Stream& stream = streams_[current_];
    return Corrupt("the file ends inside tensor \"" + stream.tensor->name + "\", row " +
                   std::to_string(stream.next_row) + " of " + std::to_string(stream.rows));
  }
  return std::move(weights_);
}

}  // namespace gpt2
