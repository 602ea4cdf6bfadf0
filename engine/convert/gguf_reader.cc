#include "engine/convert/gguf_reader.h"

#include <algorithm>
#include <array>
#include <bit>
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
#include "engine/format/config_json.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Far more than any text of the metadata takes: licences and chat templates are kilobytes.
constexpr std::uint64_t kMostTextBytes = 1 << 24;
// More than a GPT-2 of kMostLayers layers (config_json.cc) has.
constexpr std::uint64_t kMostTensors = 1 << 14;
// No tensor of a config that is taken has a side that is longer.
constexpr std::uint64_t kMostSide = std::uint64_t{1} << 24;
constexpr std::size_t kGathered = 1 << 16;  // bytes that are looked through at once

// Types of metadata, and how many bytes their values have; 0: a text or an array.
enum ValueType : std::uint32_t { kFloat = 6, kText = 8, kArray = 9, kInt64 = 11, kDouble = 12 };
constexpr std::array<std::uint8_t, 13> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// By GgufNumber and by GgufText.
constexpr std::array<std::string_view, kGgufNumbers> kNumberKeys = {
    "general.alignment",
    "split.count",
    "gpt2.context_length",
    "gpt2.embedding_length",
    "gpt2.block_count",
    "gpt2.feed_forward_length",
    "gpt2.attention.head_count",
    "gpt2.attention.head_count_kv",
    "gpt2.attention.layer_norm_epsilon",
    "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.eos_token_id",
};
constexpr std::array<std::string_view, kGgufTexts> kTextKeys = {
    "general.architecture", "tokenizer.ggml.model", "tokenizer.ggml.pre"};

// The bits of a value of `type`, as the number that it is.
double NumberOf(std::uint32_t type, std::uint64_t bits) {
  if (type == kFloat) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == kDouble) return std::bit_cast<double>(bits);
  const bool is_signed = type == 1 || type == 3 || type == 5 || type == kInt64;
  if (!is_signed) return static_cast<double>(bits);
  const int unused = 64 - 8 * kValueBytes[type];
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

}  // namespace

// Reads from bytes that may end too early. What it then gives is of no use, and `is_short`.
class GgufReader::Cursor {
 public:
  explicit Cursor(std::string_view rest) : rest_(rest) {}

  // A whole number of `size` bytes, at most 8.
  std::uint64_t Whole(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view bytes = Bytes(size);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return value;
  }

  std::string_view Text() {
    const std::uint64_t size = Whole(8);
    if (size > kMostTextBytes) too_long_ = size;
    return Bytes(static_cast<std::size_t>(std::min(size, kMostTextBytes)));
  }

  std::size_t size() const { return rest_.size(); }
  bool is_short() const { return is_short_; }
  std::uint64_t too_long() const { return too_long_; }  // bytes of a text that is; else 0

 private:
  std::string_view Bytes(std::size_t size) {
    if (rest_.size() < size || is_short_) {
      is_short_ = true;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool is_short_ = false;
  std::uint64_t too_long_ = 0;
};

std::string_view GgufKey(GgufNumber number) {
  return kNumberKeys[static_cast<std::size_t>(number)];
}

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
    // What is behind the header has come just now.
    bytes = bytes.subspan(take - (is_done() ? pending_.size() : 0));
  }
  return Done{};
}

// Takes the items that are whole.
Status GgufReader::TakeItems() {
  std::size_t taken = 0;
  while (!is_done()) {
    const std::string_view rest = std::string_view(pending_).substr(taken);
    Cursor at(rest);
    GPT2_TRY(TakeItem(at));
    if (at.too_long() > 0) {
      return Bad(Concat("a text of ", at.too_long(), " bytes, expected at most ", kMostTextBytes));
    }
    if (at.is_short()) break;
    taken += rest.size() - at.size();
    header_.size += rest.size() - at.size();
    NextStage();
  }
  pending_.erase(0, taken);
  return Done{};
}

// Goes on to what is left.
void GgufReader::NextStage() {
  if (elements_left_ > 0) {
    stage_ = Stage::kArray;
  } else if (pairs_left_ > 0) {
    stage_ = Stage::kPairs;
  } else {
    stage_ = tensors_left_ > 0 ? Stage::kTensors : Stage::kDone;
  }
}

// Changes nothing where `at` is too short.
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
  tensors_left_ = tensors;
  pairs_left_ = pairs;
  return Done{};
}

Status GgufReader::TakePair(Cursor& at) {
  const std::string_view key = at.Text();
  const auto type = static_cast<std::uint32_t>(at.Whole(4));
  const auto unknown = [&] {
    return Bad(Concat("the value of ", Quoted(key), " is of a type that there is not"));
  };
  if (at.is_short()) return Done{};
  if (type >= kValueBytes.size()) return unknown();
  const auto twice = [&] { return Bad(Concat(Quoted(key), " is there twice")); };
  if (type == kArray) {
    const auto element_type = static_cast<std::uint32_t>(at.Whole(4));
    const std::uint64_t elements = at.Whole(8);
    if (at.is_short()) return Done{};
    if (element_type >= kValueBytes.size() || element_type == kArray) return unknown();
    key_ = key;
    element_type_ = element_type;
    elements_left_ = elements;
    --pairs_left_;
    return Done{};
  }
  const std::string_view text = type == kText ? at.Text() : std::string_view();
  const std::uint64_t bits = type == kText || at.is_short() ? 0 : at.Whole(kValueBytes[type]);
  if (at.is_short()) return Done{};
  --pairs_left_;
  for (std::size_t i = 0; i < kGgufNumbers; ++i) {
    if (key != kNumberKeys[i] || type == kText) continue;
    if (!std::isnan(std::exchange(header_.numbers[i], NumberOf(type, bits)))) return twice();
  }
  for (std::size_t i = 0; i < kGgufTexts; ++i) {
    if (key == kTextKeys[i] && !std::exchange(header_.texts[i], text).empty()) return twice();
  }
  return Done{};
}

Status GgufReader::TakeElement(Cursor& at) {
  const std::string_view text = element_type_ == kText ? at.Text() : std::string_view();
  const std::uint64_t bits = element_type_ == kText ? 0 : at.Whole(kValueBytes[element_type_]);
  if (at.is_short()) return Done{};
  --elements_left_;
  if (key_ == "tokenizer.ggml.tokens") {
    if (header_.tokens.size() == kMostVocabulary) return Bad("more tokens than are supported");
    header_.tokens.emplace_back(text);
  } else if (key_ == "tokenizer.ggml.token_type") {
    if (header_.token_types.size() == kMostVocabulary) return Bad("more tokens than are supported");
    header_.token_types += static_cast<char>(bits);
  } else if (key_ == "tokenizer.ggml.merges") {
    (header_.merges += text) += '\n';
  }
  return Done{};
}

Status GgufReader::TakeTensor(Cursor& at) {
  GgufTensor tensor;
  tensor.name = at.Text();
  const std::uint64_t dimensions = at.Whole(4);
  for (std::uint64_t i = 0; i < dimensions && !at.is_short(); ++i) {
    const std::uint64_t side = at.Whole(8);
    if (at.is_short()) break;
    if (side == 0 || side > kMostSide || (i > 1 && side != 1)) {
      return Bad(
          Concat("tensor ", Quoted(tensor.name), " has a side of ", side, ", which no GPT-2 has"));
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
                      ", whose rows are no whole blocks"));
  }
  --tensors_left_;
  header_.tensors.push_back(std::move(tensor));
  return Done{};
}

}  // namespace gpt2
