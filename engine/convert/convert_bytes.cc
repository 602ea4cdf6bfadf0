// The conversion itself: bytes in, bytes out.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/aligned_buffer.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/block_types.h"
#include "engine/convert/converter.h"
#include "engine/convert/source_tensor.h"
#include "engine/convert/stored_tensor.h"
#include "engine/format/safetensors.h"
#include "engine/format/weight_plan.h"
#include "engine/kernels/layout.h"
#include "engine/model/weights.h"

namespace gpt2 {
namespace {

constexpr std::size_t kPortion = std::size_t{1} << 20;  // approximate size of an output portion

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

Result<std::span<const std::byte>> Converter::Take(std::span<const std::byte>& bytes) {
  if (failure_) return *failure_;
  auto next = torch_ ? NextOfTorch(bytes) : Next(bytes);
  if (next.ok()) return next;
  failure_ = Named(next.error());
  folder_.reset();
  return *failure_;
}

// For torch.save files, converts the safetensors bytes that they become.
Result<std::span<const std::byte>> Converter::NextOfTorch(std::span<const std::byte>& bytes) {
  while (true) {
    GPT2_ASSIGN(const std::span<const std::byte> next, Next(of_torch_));
    if (!next.empty()) return next;
    GPT2_ASSIGN(of_torch_, torch_->Take(bytes));
    if (of_torch_.empty()) return of_torch_;
  }
}

Result<std::span<const std::byte>> Converter::Next(std::span<const std::byte>& bytes) {
  out_.clear();
  while (out_.size() < kPortion) {
    out_ += std::exchange(start_, {});
    // Held output is returned separately, after what precedes it.
    const bool goes_out =
        stage_ == Stage::kCodes ? held_.size() > 0 : stage_ == Stage::kScales && scales_.size() > 0;
    if (goes_out && !out_.empty()) break;
    switch (stage_) {
      case Stage::kBands:
        if (is_whole()) {
          stage_ = Stage::kCodes;
        } else if (bytes.empty() && !needs_no_bytes()) {
          return BytesOf(out_);
        } else {
          GPT2_TRY(TakeSome(bytes));
        }
        break;
      case Stage::kCodes:
        stage_ = Stage::kScales;
        if (goes_out) return std::as_bytes(std::span(held_.data(), held_.size()));
        break;
      case Stage::kScales:
        held_ = {};
        stage_ = Stage::kNext;
        if (goes_out) return std::as_bytes(std::span(scales_.data(), scales_.size()));
        break;
      case Stage::kNext:
        scales_ = {};
        has_begun_ = false;
        next_row_ = 0;
        ++current_;
        stage_ = Stage::kBands;
    }
  }
  return BytesOf(out_);
}

// Whether the current tensor is next, and an adapter supplies it.
bool Converter::needs_no_bytes() const {
  return file_ < file_count() && heads_taken_ == head_ends_[file_] && current_ < tensors_.size() &&
         tensor().file == file_ && tensor().row_bytes == 0;
}

Status Converter::TakeSome(std::span<const std::byte>& bytes) {
  if (file_ == file_count()) return is_gguf_ ? GatherGguf(bytes) : GatherHead(bytes);
  if (heads_taken_ < head_ends_[file_]) return CompareHead(bytes);
  if (current_ < tensors_.size() && tensor().file == file_) return TakeBand(bytes);
  if (file_ + 1 < file_count()) {
    ++file_;
    return Done{};
  }
  if (bytes.size() <= spare_) {
    spare_ -= bytes.size();
    bytes = {};
    return Done{};
  }
  return Error{ErrorCode::kCorrupt,
               Concat(FileName(), bytes.size(), " bytes follow the last tensor")};
}

// For a single file.
Status Converter::GatherHead(std::span<const std::byte>& bytes) {
  std::size_t wanted = kSafetensorsPrefix;
  if (heads_.size() >= wanted) {
    const std::size_t most_tensors = MostSourceTensors(specs_, config_.config);
    GPT2_ASSIGN(const std::size_t length,
                ReadSafetensorsPrefix(heads_, MostHeaderBytes(most_tensors)));
    wanted += length;
  }
  const std::size_t take = std::min(wanted - heads_taken_, bytes.size());
  heads_.append(reinterpret_cast<const char*>(bytes.data()), take);
  bytes = bytes.subspan(take);
  heads_taken_ += take;
  if (heads_taken_ < wanted || wanted == kSafetensorsPrefix) return Done{};
  head_ends_.push_back(wanted);
  return PlanSafetensors();
}

Status Converter::GatherGguf(std::span<const std::byte>& bytes) {
  GPT2_TRY(gguf_->Take(bytes));
  heads_taken_ = static_cast<std::size_t>(gguf_->header().size);
  return gguf_->is_done() ? PlanGguf() : Status(Done{});
}

// For several files, whose headers are known.
Status Converter::CompareHead(std::span<const std::byte>& bytes) {
  const std::size_t take = std::min(head_ends_[file_] - heads_taken_, bytes.size());
  if (std::memcmp(heads_.data() + heads_taken_, bytes.data(), take) != 0) {
    return Error{ErrorCode::kCorrupt, Concat(FileName(), "file ", file_ + 1, " of ", file_count(),
                                             " has changed since its header was read")};
  }
  bytes = bytes.subspan(take);
  heads_taken_ += take;
  return Done{};
}

// Takes a whole band directly from `bytes`, or a part of a split one.
Status Converter::TakeBand(std::span<const std::byte>& bytes) {
  if (!has_begun_) GPT2_TRY(BeginTensor());
  const std::size_t band =
      std::min(tensor().band_rows, tensor().rows - next_row_) * tensor().row_bytes;
  if (pending_.empty() && bytes.size() >= band) {
    GPT2_TRY(StoreBand(bytes.data()));
    bytes = bytes.subspan(band);
    return Done{};
  }
  const std::size_t take = std::min(band - pending_.size(), bytes.size());
  pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
  bytes = bytes.subspan(take);
  if (pending_.size() == band) {
    GPT2_TRY(StoreBand(BytesOf(pending_).data()));
    pending_.clear();
  }
  return Done{};
}

// Allocates memory for the current tensor.
Status Converter::BeginTensor() {
  has_begun_ = true;
  if (tensor().spec == nullptr) return Done{};
  const char* const name = tensor().spec->name.c_str();
  stored_ = StoreTensor(*tensor().spec, weights_);
  if (stored_.has_codes()) {
    stored_scales_ = ScalesOf(stored_);
    const std::size_t scales = stored_scales_.rows * stored_scales_.cols;
    GPT2_ASSIGN(scales_, AlignedBuffer<BFloat16>::CreateUnset(scales, name));
  }
  if (tensor().is_transposed) {
    const std::size_t size = stored_.rows * stored_.RowBytes();
    GPT2_ASSIGN(held_, AlignedBuffer<std::uint8_t>::CreateUnset(size, name));
  }
  return Done{};
}

Status Converter::StoreBand(const std::byte* bytes) {
  const std::size_t rows = std::min(tensor().band_rows, tensor().rows - next_row_);
  const std::size_t row = std::exchange(next_row_, next_row_ + rows);
  if (tensor().spec == nullptr) return Done{};
  const std::size_t columns = tensor().is_transposed ? stored_.rows : tensor().spec->cols;
  floats_.resize(rows * columns);
  const auto not_finite = [&](std::string_view why) {
    return Error{ErrorCode::kCorrupt, Concat(FileName(), "tensor \"", TensorName(), "\" row ", row,
                                             ": a value that is not finite", why)};
  };
  const bool has_bytes = tensor().row_bytes > 0;
  if (has_bytes && !WidenBlocks(tensor().type, bytes, floats_.size(), floats_.data())) {
    return not_finite("");
  }
  if (!merge_.Apply(*tensor().spec, tensor().is_transposed, row, floats_)) {
    return not_finite(" once the adapter is merged");
  }
  const std::size_t row_bytes = stored_.RowBytes();
  if (!tensor().is_transposed) {
    const std::size_t at = out_.size();
    out_.resize(at + row_bytes);
    return StoreRow(row, 0, floats_, reinterpret_cast<std::byte*>(out_.data()) + at);
  }
  std::array<float, kGroup> group;
  for (std::size_t output = 0; output < columns; ++output) {
    for (std::size_t i = 0; i < rows; ++i) group[i] = floats_[i * columns + output];
    GPT2_TRY(StoreRow(output, row, {group.data(), rows},
                      reinterpret_cast<std::byte*>(held_.data()) + output * row_bytes));
  }
  return Done{};
}

// Stores inputs [first_input, first_input + values.size()) of row `row` in the row's `bytes` and in
// scales_.
Status Converter::StoreRow(std::size_t row, std::size_t first_input, std::span<const float> values,
                           std::byte* bytes) {
  if (!stored_.has_codes()) {
    return StoreFloats(stored_, values, bytes + first_input * DTypeSize(stored_.dtype));
  }
  const std::size_t group_bytes = stored_.codes->GroupBytes();
  for (std::size_t i = 0; i < values.size(); i += kGroup) {
    const std::size_t group = (first_input + i) / kGroup;
    GPT2_ASSIGN(scales_.data()[row * stored_scales_.cols + group],
                StoreGroup(stored_, row, values.subspan(i, std::min(kGroup, values.size() - i)),
                           bytes + group * group_bytes));
  }
  return Done{};
}

Status Converter::CheckWhole() const {
  const bool has_heads = file_count() > 0 && heads_taken_ == heads_.size();
  if (has_heads && current_ == tensors_.size()) return Done{};
  const std::string file =
      file_count() > 1 ? Concat("file ", file_ + 1, " of ", file_count(), ": ") : std::string();
  const bool has_tensor = has_heads && tensor().file == file_ && tensor().spec != nullptr;
  const std::string where = has_tensor ? Concat("inside tensor \"", TensorName(), "\", row ",
                                                next_row_, " of ", tensor().rows)
                                       : Concat("after ", heads_taken_, " bytes of its header");
  return Error{ErrorCode::kCorrupt, Concat(FileName(), file, "it ends ", where)};
}

Status Converter::Finish() {
  if (failure_) return *failure_;
  Status whole = CheckWhole();
  if (!whole.ok()) failure_ = whole.error();
  return whole;
}

}  // namespace gpt2
