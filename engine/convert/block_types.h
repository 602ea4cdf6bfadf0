// The types in which files store floating-point weights: plain ones, and ggml's blocks, in which
// several weights share a scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/result.h"

namespace gpt2 {

enum class BlockType {
  kF32,
  kF16,
  kBF16,
  kQ80,
  kQ40,
  kQ41,
  kQ50,
  kQ51,
  kQ2K,
  kQ3K,
  kQ4K,
  kQ5K,
  kQ6K,
  kIQ4NL,
  kIQ4XS,
  kTQ10,
  kTQ20,
};

struct BlockShape {
  std::string_view name;  // ggml's name
  std::uint32_t ggml_id;  // its number in a GGUF file
  std::size_t values;     // values in a block
  std::size_t bytes;      // the size of a block
};
const BlockShape& ShapeOf(BlockType type);

// The type of `ggml_id`. An error names it and lists the supported types, without a file name.
Result<BlockType> BlockTypeOf(std::uint32_t ggml_id);

// Widens `count` values, whole blocks, to floats; false if one is not finite.
bool WidenBlocks(BlockType type, const std::byte* bytes, std::size_t count, float* values);

}  // namespace gpt2
