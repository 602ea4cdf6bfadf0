// The memory layout of weights, activations and the KV cache. A kernel reads all of them strictly
// forward. Files store plain rows instead (see weights_tools/FORMAT.md).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace gpt2 {

inline constexpr std::size_t kGroup = 32;      // neighbouring inputs that share one scale
inline constexpr std::size_t kTileRows = 8;    // output rows that a matmul computes together
inline constexpr std::size_t kStepInputs = 4;  // inputs that one 32-bit lane of a dot product sums
inline constexpr std::size_t kGroupSteps = kGroup / kStepInputs;
inline constexpr std::size_t kKvBlock = 32;  // positions that attention handles together
inline constexpr std::size_t kKvQuads = kKvBlock / 4;

// Scales are stored as the upper half of a float (bfloat16): widening is one shift.
using BFloat16 = std::uint16_t;

inline float WidenBFloat16(BFloat16 bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// A range of output-row tiles [first, last).
struct TileRange {
  std::size_t first;
  std::size_t last;
};

// A float matrix [rows, cols] and the bias of each row, rows padded with zeros to whole tiles.
struct TiledF32 {
  const float* values;  // [tiles, cols, kTileRows]
  const float* bias;    // [tiles * kTileRows]
  std::size_t cols;
};

// One group of a tile of an 8-bit matrix. One step, 4 inputs of 8 rows, is two vectors of four
// 32-bit lanes, lane = row:
//   | r0: i0 i1 i2 i3 | r1: i0..i3 | r2 | r3 |   | r4 | r5 | r6 | r7 |
// Scales and sums lie behind their codes, so that a kernel reads one place of memory: a processor
// prefetches few places at a time.
struct Q8Block {
  std::int8_t codes[kGroup * kTileRows];  // [kGroupSteps, kTileRows, kStepInputs], -127..127
  BFloat16 scales[kTileRows];             // weight = scale * code
  std::int16_t negative_sums[kTileRows];  // minus the sum of a row's codes
};
struct TiledQ8 {
  const Q8Block* blocks;  // [tiles, groups]
  const float* bias;      // [tiles * kTileRows]
  std::size_t groups;
};

// The same of a 4-bit matrix. A byte holds two codes, so a vector of 16 bytes is two steps of four
// rows. Byte i of a row's four holds two inputs of a step pair's 8: low nibble input i, high nibble
// input i + 4.
struct Q4Block {
  std::uint8_t codes[kGroup * kTileRows / 2];  // [kGroupSteps / 2, kTileRows, kStepInputs]
  BFloat16 scales[kTileRows];                  // weight = scale * (code - kQ4Zero)
};
struct TiledQ4 {
  const Q4Block* blocks;  // [tiles, groups]
  const float* bias;      // [tiles * kTileRows]
  std::size_t groups;
};
inline constexpr int kQ4Zero = 8;  // the code of weight zero; codes are 0..15

// The number of tokens whose groups are adjacent. So a kernel reads the inputs that share a load of
// weights at constant addresses, from the first byte to the last.
inline constexpr std::size_t kTokenBlock = 4;

// Activations quantized group by group, as the weights require. After the last value, a group has
// the codes of zeros.
struct QuantizedActivations {
  const std::int8_t* codes;     // [tokens / kTokenBlock, groups, kTokenBlock, kGroup]
  const float* scales;          // [tokens / kTokenBlock, groups, kTokenBlock]
  const std::int32_t* offsets;  // [tokens / kTokenBlock, groups, kTokenBlock]
  std::size_t tokens;           // tokens beyond these in the last block are never read
  std::size_t groups;

  // The number of groups before this one.
  static constexpr std::size_t Place(std::size_t token, std::size_t group, std::size_t groups) {
    return (token / kTokenBlock * groups + group) * kTokenBlock + token % kTokenBlock;
  }
};

// The two codings. Relaxed SIMD multiplies signed bytes with bytes of 7 bits (simd_dot.h).
enum class ActivationCodes {
  // For TiledQ8, whose codes use all 8 bits: codes 0..127, value = scale * (code - offset). If most
  // values of a group have the same sign, the missing bit costs nothing.
  kFromZero,
  // For TiledQ4, whose codes take 4 bits: codes -127..127, value = scale * code, and offset =
  // -kQ4Zero * the sum of the codes.
  kSigned,
};

// Keys and values of one head in float. Padded dimensions are zero.
struct KvHeadF32 {
  float* keys;             // [positions, padded_dim]
  float* values;           // [positions, padded_dim]
  std::size_t padded_dim;  // head_dim rounded up to 4
};

// Keys and values of one head in 8 bits, in whole blocks of kKvBlock positions. A key vector holds
// 4 dimensions of 4 positions (lane = position). A value vector holds 4 positions of 4 dimensions
// (lane = dimension), so that neither product needs a sum across lanes. The vectors are stored in
// the order in which attention reads them, with a block's quads of positions side by side.
struct KvHeadQ8 {
  std::int8_t* keys;    // [blocks, padded_dim / 4, kKvQuads, 4 positions, 4 dimensions]
  std::int8_t* values;  // [blocks, padded_dim / 4, kKvQuads, 4 dimensions, 4 positions]
  float* key_scales;    // [blocks * kKvBlock]
  float* value_scales;  // [blocks * kKvBlock]
  std::size_t padded_dim;

  // The offset of the vector of these four positions and four dimensions; both are multiples of 4.
  std::size_t VectorIndex(std::size_t position, std::size_t dimension) const {
    return position / kKvBlock * kKvBlock * padded_dim +
           (dimension / 4 * kKvQuads + position % kKvBlock / 4) * 16;
  }
};

}  // namespace gpt2
