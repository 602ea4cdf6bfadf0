#include "engine/format/weight_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/text/quoted.h"

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

}  // namespace

struct WeightReader::Stream : TensorPlan {
  explicit Stream(const TensorPlan& plan) : TensorPlan(plan) {}

  std::size_t next_row = 0;
  std::vector<float> floats;  // one unit, widened

  std::size_t UnitBytes() const { return std::min(unit_rows, rows - next_row) * row_bytes; }
  bool IsDone() const { return next_row == rows; }
  bool OwnsMemory() const { return kind != Kind::kSkip && kind != Kind::kScales; }

  // Takes UnitBytes() bytes.
  Status Take(const std::byte* bytes);
};

Status WeightReader::Stream::Take(const std::byte* bytes) {
  const std::size_t count = std::min(unit_rows, rows - next_row);
  const std::size_t row = std::exchange(next_row, next_row + count);
  const auto bad = [&](const char* what) {
    return Corrupt("tensor " + Quoted(tensor->name) + " row " + std::to_string(row) + ": " + what);
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

WeightReader::WeightReader(ModelConfig config, WeightFormat float_format)
    : config_(std::move(config)),
      float_format_(float_format),
      weights_(std::make_unique<Weights>()) {
  weights_->config = config_.config;
  slots_ = TensorSlots(*weights_);
}

WeightReader::~WeightReader() = default;
WeightReader::WeightReader(WeightReader&&) noexcept = default;
WeightReader& WeightReader::operator=(WeightReader&&) noexcept = default;

Status WeightReader::Feed(std::span<const std::byte> bytes) {
  if (failure_) return *failure_;
  const Status taken = Take(bytes);
  if (!taken.ok()) return Fail(taken.error());
  return Done{};
}

Error WeightReader::Fail(const Error& error) {
  failure_ = error;
  streams_ = {};
  slots_ = {};
  weights_.reset();
  header_ = {};
  pending_ = {};
  return error;
}

Status WeightReader::Take(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (!has_header_) {
      GPT2_TRY(TakeHeader(bytes));
    } else if (current_ < streams_.size()) {
      GPT2_TRY(TakeTensor(bytes));
    } else {
      return Corrupt(std::to_string(bytes.size()) + " bytes follow the last tensor");
    }
  }
  return Done{};
}

Status WeightReader::TakeHeader(std::span<const std::byte>& bytes) {
  const std::size_t wanted = kSafetensorsPrefix + header_length_;
  const std::size_t take = std::min(wanted - pending_.size(), bytes.size());
  pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
  bytes = bytes.subspan(take);
  if (pending_.size() < wanted) return Done{};
  const std::size_t most_tensors = MostTensors(slots_, config_.config);
  if (header_length_ == 0) {
    GPT2_ASSIGN(header_length_, ReadSafetensorsPrefix(pending_, MostHeaderBytes(most_tensors)));
    return Done{};
  }
  const std::string_view json = std::string_view(pending_).substr(kSafetensorsPrefix);
  GPT2_ASSIGN(header_, ReadSafetensorsHeader(json, most_tensors));
  GPT2_ASSIGN(const auto plans, PlanTensors(header_, config_, slots_, float_format_));
  for (const TensorPlan& plan : plans) streams_.emplace_back(plan);
  has_header_ = true;
  pending_ = {};
  SkipDoneStreams();
  return Done{};
}

// Takes whole units straight from `bytes`; only a unit that is cut in two is put together first.
Status WeightReader::TakeTensor(std::span<const std::byte>& bytes) {
  Stream& stream = streams_[current_];
  if (stream.OwnsMemory() && stream.next_row == 0 && pending_.empty()) {
    GPT2_TRY(AllocateSlot(*stream.slot, stream.memory_format));
  }
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

Status WeightReader::CheckWhole() {
  if (!has_header_) {
    return Corrupt("the file ends inside its header, after " + std::to_string(pending_.size()) +
                   " bytes");
  }
  if (current_ == streams_.size()) return Done{};
  const Stream& stream = streams_[current_];
  return Corrupt("the file ends inside tensor " + Quoted(stream.tensor->name) + ", row " +
                 std::to_string(stream.next_row) + " of " + std::to_string(stream.rows));
}

// What the checkpoint may lack is zero.
Status WeightReader::CompleteWeights() {
  for (const Stream& stream : streams_) {
    if (stream.OwnsMemory()) weights_->parameter_count += stream.slot->rows * stream.slot->cols;
  }
  for (const TensorSlot& slot : slots_) {
    if (slot.floats != nullptr && slot.floats->size() == 0) {
      GPT2_TRY(AllocateSlot(slot, WeightFormat::kF32));
    }
    weights_->bytes += slot.matrix != nullptr ? slot.matrix->bytes() : slot.floats->bytes();
  }
  return Done{};
}

Result<std::unique_ptr<Weights>> WeightReader::Finish() {
  if (failure_) return *failure_;
  const Status whole = CheckWhole();
  if (!whole.ok()) return Fail(whole.error());
  const Status complete = CompleteWeights();
  if (!complete.ok()) return Fail(complete.error());
  failure_ = Error{ErrorCode::kInvalidArgument, "the weights have been taken already"};
  return std::move(weights_);
}

}  // namespace gpt2
