#include "engine/convert/gguf_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/block_types.h"
#include "engine/convert/gguf_cursor.h"
#include "engine/convert/source_tensor.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Limits on what a file may claim, far above what a GPT-2 needs.
constexpr std::uint64_t kMostDimensions = 4;  // GGML_MAX_DIMS
constexpr std::uint64_t kMostPairs = 1 << 12;
constexpr std::uint64_t kMostBytesBeforeTensors = 1 << 28;
// No tensor of an accepted config has a longer side.
constexpr std::uint64_t kMostSide = std::uint64_t{1} << 24;
constexpr std::size_t kGathered = 1 << 16;  // bytes that are examined at a time

}  // namespace

GgufHeader::GgufHeader() {
  numbers.fill(NAN);
}

std::string GgufTensor::Describe() const {
  return std::string(ShapeOf(type).name) + " [" + std::to_string(cols) + ", " +
         std::to_string(rows) + "]";
}

Error GgufReader::Bad(std::string_view what) const {
  return Error{ErrorCode::kCorrupt, Concat("the GGUF file: ", what, ", at byte ", header_.size)};
}

Status GgufReader::Take(std::span<const std::byte>& bytes) {
  while (!bytes.empty() && !is_done()) {
    const std::size_t take = std::min(bytes.size(), kGathered);
    pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
    GPT2_TRY(TakeItems());
    // The bytes after the header have just arrived.
    bytes = bytes.subspan(take - (is_done() ? pending_.size() : 0));
  }
  return Done{};
}

// Reads the complete items.
Status GgufReader::TakeItems() {
  std::size_t taken = 0;
  while (!is_done()) {
    const std::string_view rest = std::string_view(pending_).substr(taken);
    Cursor at(rest);
    GPT2_TRY(TakeItem(at));
    if (const auto& text = at.too_long()) {
      return Bad(Concat("the text ", Quoted(text->field), " has ", text->size,
                        " bytes, expected at most ", text->most));
    }
    if (at.is_short()) break;
    taken += rest.size() - at.size();
    header_.size += rest.size() - at.size();
    if (header_.size > kMostBytesBeforeTensors) {
      return Bad(Concat("the metadata and the list of tensors take more than ",
                        kMostBytesBeforeTensors, " bytes"));
    }
    NextStage();
  }
  pending_.erase(0, taken);
  return Done{};
}

// Continues with the next stage.
void GgufReader::NextStage() {
  if (elements_left_ > 0) {
    stage_ = Stage::kArray;
  } else if (pairs_left_ > 0) {
    stage_ = Stage::kPairs;
  } else {
    stage_ = tensors_left_ > 0 ? Stage::kTensors : Stage::kDone;
  }
}

// Changes nothing if `at` is too short.
Status GgufReader::TakeItem(Cursor& at) {
  switch (stage_) {
    case Stage::kStart:
      return TakeStart(at);
    case Stage::kPairs:
      return TakePair(at);
    case Stage::kArray:
      return TakeElement(at);
    default:
      return TakeTensor(at);
  }
}

Status GgufReader::TakeStart(Cursor& at) {
  constexpr std::uint64_t kMagic = 0x46554747;  // "GGUF"
  const std::uint64_t magic = at.Whole(4), version = at.Whole(4);
  const std::uint64_t tensors = at.Whole(8), pairs = at.Whole(8);
  if (at.is_short()) return Done{};
  if (magic != kMagic) return Bad("it does not begin with \"GGUF\"");
  if (version != 2 && version != 3) {
    return Error{ErrorCode::kUnsupported,
                 Concat("the GGUF file: version ", version, ", expected 2 or 3, little-endian")};
  }
  if (tensors > kMostTensors) {
    return Error{ErrorCode::kUnsupported,
                 Concat("the GGUF file: ", tensors, " tensors, expected at most ", kMostTensors)};
  }
  if (pairs > kMostPairs) {
    return Bad(Concat(pairs, " entries of metadata, expected at most ", kMostPairs));
  }
  tensors_left_ = tensors;
  pairs_left_ = pairs;
  return Done{};
}

Status GgufReader::TakeTensor(Cursor& at) {
  GgufTensor tensor;
  tensor.name = at.Text("tensor name", kMostNameBytes);
  const std::uint64_t dimensions = at.Whole(4);
  if (dimensions > kMostDimensions) {
    return Bad(Concat("tensor ", Quoted(tensor.name), " has ", dimensions,
                      " dimensions, expected at most ", kMostDimensions));
  }
  for (std::uint64_t i = 0; i < dimensions && !at.is_short(); ++i) {
    const std::uint64_t side = at.Whole(8);
    if (at.is_short()) break;
    if (side == 0 || side > kMostSide || (i > 1 && side != 1)) {
      return Bad(Concat("tensor ", Quoted(tensor.name), " has a dimension of ", side,
                        ", which no GPT-2 has"));
    }
    if (i == 0) tensor.cols = side;
    if (i == 1) tensor.rows = side;
  }
  const auto type = static_cast<std::uint32_t>(at.Whole(4));
  tensor.offset = at.Whole(8);
  if (at.is_short()) return Done{};
  const Result<BlockType> known = BlockTypeOf(type);
  if (!known.ok()) {
    return Error{ErrorCode::kUnsupported, Concat("the GGUF file: tensor ", Quoted(tensor.name),
                                                 " is of ", known.error().message)};
  }
  tensor.type = known.value();
  if (tensor.cols % ShapeOf(tensor.type).values != 0) {
    return Bad(Concat("tensor ", Quoted(tensor.name), " is ", tensor.Describe(),
                      ", but its rows are not whole blocks"));
  }
  --tensors_left_;
  header_.tensors.push_back(std::move(tensor));
  return Done{};
}

}  // namespace gpt2
