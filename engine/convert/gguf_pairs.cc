// The metadata of a GGUF file: the pairs that are used, and their required types.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/gguf_cursor.h"
#include "engine/convert/gguf_reader.h"
#include "engine/format/config_json.h"
#include "engine/format/number_text.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Limits on what a file may claim: the format's own for keys, the others far above what a GPT-2
// needs.
constexpr std::uint64_t kMostKeyBytes = (1 << 16) - 1;
constexpr std::uint64_t kMostTextBytes = 1 << 20;  // licences and chat templates are kilobytes
constexpr std::uint64_t kMostTokenBytes = 1 << 16;
constexpr double kMostAlignment = 1 << 16;

// Types of metadata, and the size of their values in bytes; 0: a text or an array.
enum ValueType : std::uint32_t {
  kUint32 = 4,
  kFloat = 6,
  kBool = 7,
  kText = 8,
  kArray = 9,
  kInt64 = 11,
  kDouble = 12
};
constexpr std::array<std::uint8_t, 13> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::array<std::string_view, 13> kValueNames = {
    "uint8", "int8", "uint16", "int16",  "uint32", "int32",  "float32",
    "bool",  "text", "array",  "uint64", "int64",  "float64"};

// By GgufNumber, by GgufText and by GgufFlag.
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
constexpr std::array<std::string_view, kGgufFlags> kFlagKeys = {"tokenizer.ggml.add_bos_token",
                                                                "tokenizer.ggml.add_eos_token",
                                                                "tokenizer.ggml.add_space_prefix"};
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTokenTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";

bool IsNumber(std::uint32_t type) {
  return kValueBytes[type] > 0 && type != kBool;
}

std::string Named(std::uint32_t type) {
  return Concat(IsNumber(type) ? "a " : "", kValueNames[type]);
}
std::string ArrayOf(std::uint32_t type) {
  return Concat("an array of ", kValueNames[type]);
}

template <std::size_t size>
std::optional<std::size_t> IndexOf(const std::array<std::string_view, size>& keys,
                                   std::string_view key) {
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (found == keys.end()) return std::nullopt;
  return static_cast<std::size_t>(found - keys.begin());
}

// The bits of a value of `type`, as a number.
double NumberOf(std::uint32_t type, std::uint64_t bits) {
  if (type == kFloat) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == kDouble) return std::bit_cast<double>(bits);
  const bool is_signed = type == 1 || type == 3 || type == 5 || type == kInt64;
  if (!is_signed) return static_cast<double>(bits);
  const int unused = 64 - 8 * kValueBytes[type];
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

}  // namespace

std::string_view GgufKey(GgufNumber number) {
  return kNumberKeys[static_cast<std::size_t>(number)];
}

std::string_view GgufKey(GgufText text) {
  return kTextKeys[static_cast<std::size_t>(text)];
}

std::string_view GgufKey(GgufFlag flag) {
  return kFlagKeys[static_cast<std::size_t>(flag)];
}

Status GgufReader::TakePair(Cursor& at) {
  const std::string_view key = at.Text("key", kMostKeyBytes);
  const auto type = static_cast<std::uint32_t>(at.Whole(4));
  if (at.is_short()) return Done{};
  if (type >= kValueBytes.size()) {
    return Bad(Concat("the value of ", Quoted(key), " has the unknown type ", type));
  }
  if (type == kArray) return TakeArrayHead(key, at);
  const std::string_view text = type == kText ? at.Text(key, kMostTextBytes) : std::string_view();
  const std::uint64_t bits = type == kText || at.is_short() ? 0 : at.Whole(kValueBytes[type]);
  if (at.is_short()) return Done{};
  GPT2_TRY(TakeKey(key));
  if (const auto number = IndexOf(kNumberKeys, key)) {
    const double value = IsNumber(type) ? NumberOf(type, bits) : NAN;
    if (!std::isfinite(value)) return WrongType(key, Named(type), "a finite number");
    header_.numbers[*number] = value;
    if (*number == static_cast<std::size_t>(GgufNumber::kTensorAlignment)) {
      return CheckAlignment(type, value);
    }
  } else if (const auto place = IndexOf(kTextKeys, key)) {
    if (type != kText) return WrongType(key, Named(type), "text");
    header_.texts[*place] = text;
  } else if (const auto flag = IndexOf(kFlagKeys, key)) {
    if (type != kBool) return WrongType(key, Named(type), "a bool");
    header_.flags[*flag] = bits != 0;
  } else if (key == kTokensKey || key == kTokenTypesKey || key == kMergesKey) {
    return WrongType(key, Named(type), "an array");
  }
  return Done{};
}

Status GgufReader::TakeArrayHead(std::string_view key, Cursor& at) {
  const auto type = static_cast<std::uint32_t>(at.Whole(4));
  const std::uint64_t elements = at.Whole(8);
  if (at.is_short()) return Done{};
  if (type >= kValueBytes.size() || type == kArray) {
    return Bad(Concat("the elements of ", Quoted(key), " have the unsupported type ", type));
  }
  if (elements > kMostVocabulary) {
    return Bad(
        Concat(Quoted(key), " has ", elements, " elements, expected at most ", kMostVocabulary));
  }
  GPT2_TRY(TakeKey(key));
  if (IndexOf(kNumberKeys, key)) return WrongType(key, Named(kArray), "a finite number");
  if (IndexOf(kTextKeys, key)) return WrongType(key, Named(kArray), "text");
  if (IndexOf(kFlagKeys, key)) return WrongType(key, Named(kArray), "a bool");
  if ((key == kTokensKey || key == kMergesKey) && type != kText) {
    return WrongType(key, ArrayOf(type), "an array of text");
  }
  if (key == kTokenTypesKey && !IsNumber(type))
    return WrongType(key, ArrayOf(type), "an array of numbers");
  key_ = key;
  element_type_ = type;
  elements_left_ = elements;
  return Done{};
}

// Counts the pair, whose key must be new.
Status GgufReader::TakeKey(std::string_view key) {
  if (!keys_.emplace(key).second) return Bad(Concat(Quoted(key), " occurs twice"));
  --pairs_left_;
  return Done{};
}

Error GgufReader::WrongType(std::string_view key, std::string_view found,
                            std::string_view expected) const {
  return Bad(Concat("the value of ", Quoted(key), " is ", found, ", expected ", expected));
}

Status GgufReader::CheckAlignment(std::uint32_t type, double value) const {
  const bool is_power =
      value >= 1 && value <= kMostAlignment && std::has_single_bit(static_cast<unsigned>(value));
  if (type == kUint32 && is_power) return Done{};
  return Bad(Concat(Quoted(GgufKey(GgufNumber::kTensorAlignment)), " is ", NumberText(value), " (",
                    kValueNames[type], "), expected a power of two from 1 to ",
                    NumberText(kMostAlignment), " (uint32)"));
}

Status GgufReader::TakeElement(Cursor& at) {
  const std::string_view text =
      element_type_ == kText ? at.Text(key_, kMostTokenBytes) : std::string_view();
  const std::uint64_t bits = element_type_ == kText ? 0 : at.Whole(kValueBytes[element_type_]);
  if (at.is_short()) return Done{};
  --elements_left_;
  if (key_ == kTokensKey) {
    header_.tokens.emplace_back(text);
  } else if (key_ == kTokenTypesKey) {
    header_.token_types += static_cast<char>(bits <= 6 ? bits : 0);
  } else if (key_ == kMergesKey) {
    (header_.merges += text) += '\n';
  }
  return Done{};
}

}  // namespace gpt2
