// Reads the part of a GGUF file before its tensors, as it streams (ggml, docs/gguf.md, versions 2
// and 3). It keeps the list of tensors, and the metadata that describes a GPT-2 and its tokenizer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/block_types.h"

namespace gpt2 {

// The numbers, texts and flags of the metadata that the engine uses.
enum class GgufNumber {
  kTensorAlignment,
  kSplits,
  kPositions,
  kWidth,
  kLayers,
  kInnerWidth,
  kHeads,
  kKeyHeads,
  kEpsilon,
  kBeginning,
  kEnd,
};
enum class GgufText { kArchitecture, kTokenizer, kPreTokenizer };
enum class GgufFlag { kAddBeginning, kAddEnd, kAddSpacePrefix };
inline constexpr std::size_t kGgufNumbers = 11;
inline constexpr std::size_t kGgufTexts = 3;
inline constexpr std::size_t kGgufFlags = 3;
std::string_view GgufKey(GgufNumber number);
std::string_view GgufKey(GgufText text);
std::string_view GgufKey(GgufFlag flag);

struct GgufTensor {
  std::string name;
  std::uint64_t rows = 1;
  std::uint64_t cols = 1;
  BlockType type = BlockType::kF32;
  std::uint64_t offset = 0;  // from the aligned end of the header

  std::uint64_t Bytes() const { return rows * (cols / ShapeOf(type).values) * ShapeOf(type).bytes; }
  std::string Describe() const;  // "Q4_K [2, 256]"
};

// The header as in the file: each part is well-formed, but their combination is not checked.
struct GgufHeader {
  GgufHeader();

  double Number(GgufNumber number) const { return numbers[static_cast<std::size_t>(number)]; }
  const std::string& Text(GgufText text) const { return texts[static_cast<std::size_t>(text)]; }
  bool Flag(GgufFlag flag) const { return flags[static_cast<std::size_t>(flag)]; }

  std::array<double, kGgufNumbers> numbers;  // NaN if there is none
  std::array<std::string, kGgufTexts> texts;
  std::array<bool, kGgufFlags> flags{};
  std::vector<std::string> tokens;  // by id, in the byte alphabet
  std::string token_types;          // by id: llama.cpp's llama_token_type, 0 for one it lacks
  std::string merges;               // one a line
  std::vector<GgufTensor> tensors;  // in the order of the list
  std::uint64_t size = 0;           // total size in bytes
};

// Memory grows only with the bytes that have arrived. Not thread-safe.
class GgufReader {
 public:
  // Consumes from the front of `bytes`: all of them, or up to the end of the header.
  Status Take(std::span<const std::byte>& bytes);

  bool is_done() const { return stage_ == Stage::kDone; }
  const GgufHeader& header() const { return header_; }

 private:
  enum class Stage { kStart, kPairs, kArray, kTensors, kDone };
  class Cursor;

  Status TakeItems();
  Status TakeItem(Cursor& at);
  Status TakeStart(Cursor& at);
  Status TakePair(Cursor& at);
  Status TakeArrayHead(std::string_view key, Cursor& at);
  Status TakeKey(std::string_view key);
  Status CheckAlignment(std::uint32_t type, double value) const;
  Status TakeElement(Cursor& at);
  Status TakeTensor(Cursor& at);
  void NextStage();
  Error Bad(std::string_view what) const;
  Error WrongType(std::string_view key, std::string_view found, std::string_view expected) const;

  GgufHeader header_;
  Stage stage_ = Stage::kStart;
  std::string pending_;  // the bytes since the last complete item
  std::uint64_t tensors_left_ = 0;
  std::uint64_t pairs_left_ = 0;
  std::set<std::string, std::less<>> keys_;  // of all pairs so far
  std::string key_;                          // the key of the current array
  std::uint32_t element_type_ = 0;           // the type of its elements
  std::uint64_t elements_left_ = 0;          // its elements that have not arrived
};

}  // namespace gpt2
