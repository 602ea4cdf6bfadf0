#include "engine/convert/block_types.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/float16.h"
#include "engine/kernels/layout.h"

namespace gpt2 {
namespace {

constexpr std::size_t kSuperBlock = 256;  // values of a K block, in runs of 32

// By BlockType. The block layouts are those of ggml-common.h. The type numbers of GGUF are in its
// specification (ggml, docs/gguf.md, "ggml_type").
constexpr BlockShape kShapes[] = {
    {"F32", 0, 1, 4},       {"F16", 1, 1, 2},       {"BF16", 30, 1, 2},
    {"Q8_0", 8, 32, 34},    {"Q4_0", 2, 32, 18},    {"Q4_1", 3, 32, 20},
    {"Q5_0", 6, 32, 22},    {"Q5_1", 7, 32, 24},    {"Q2_K", 10, 256, 84},
    {"Q3_K", 11, 256, 110}, {"Q4_K", 12, 256, 144}, {"Q5_K", 13, 256, 176},
    {"Q6_K", 14, 256, 210}, {"IQ4_NL", 20, 32, 18}, {"IQ4_XS", 23, 256, 136},
    {"TQ1_0", 34, 256, 54}, {"TQ2_0", 35, 256, 66},
};

// ggml's types (ggml.h, "enum ggml_type") that are not supported: their codes index large tables,
// or they do not hold weights.
struct OtherType {
  std::uint32_t ggml_id;
  std::string_view name;
};
constexpr OtherType kOtherTypes[] = {
    {9, "Q8_1"},   {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"},
    {19, "IQ1_S"}, {21, "IQ3_S"}, {22, "IQ2_S"},   {24, "I8"},     {25, "I16"},
    {26, "I32"},   {27, "I64"},   {28, "F64"},     {29, "IQ1_M"},  {39, "MXFP4"}};

// The weights of the codes of IQ4_NL and IQ4_XS before scaling (ggml-common.h, "kvalues_iq4nl").
constexpr std::int8_t kUnevenWeights[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};

template <typename T>
T Load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float LoadHalf(const std::byte* bytes) {
  return WidenFloat16(Load<std::uint16_t>(bytes));
}

int Byte(const std::byte* bytes, std::size_t i) {
  return std::to_integer<int>(bytes[i]);
}

// Q8_0: a scale, then 32 codes of 8 bits.
void WidenQ8(const std::byte* block, float* values) {
  const float scale = LoadHalf(block);
  for (std::size_t i = 0; i < 32; ++i) {
    values[i] = scale * static_cast<float>(Load<std::int8_t>(block + 2 + i));
  }
}

// Q4_0, Q4_1, Q5_0, Q5_1: a scale; in _1 a least value; in Q5 the fifth bits; then the low four
// bits of 32 codes. Value i and value i + 16 share a byte.
void WidenSmall(BlockType type, const std::byte* block, float* values) {
  const bool has_least = type == BlockType::kQ41 || type == BlockType::kQ51;
  const bool has_fifth = type == BlockType::kQ50 || type == BlockType::kQ51;
  const float scale = LoadHalf(block);
  const float least = has_least ? LoadHalf(block + 2) : 0.0f;
  block += has_least ? 4 : 2;
  const std::uint32_t fifth = has_fifth ? Load<std::uint32_t>(block) : 0;
  block += has_fifth ? 4 : 0;
  const int zero = has_least ? 0 : has_fifth ? 16 : 8;
  for (std::size_t i = 0; i < 32; ++i) {
    const int both = Byte(block, i % 16);
    const int low = i < 16 ? both & 15 : both >> 4;
    const int code = low | static_cast<int>(fifth >> i & 1u) << 4;
    const float value = static_cast<float>(code - zero) * scale;
    values[i] = has_least ? value + least : value;  // -0 + 0 would be 0
  }
}

// IQ4_NL: a scale, then the codes of 32 weights: value i and value i + 16 share a byte. The same in
// each run of 32 of IQ4_XS.
void WidenUneven(float scale, const std::byte* codes, float* values) {
  for (std::size_t i = 0; i < 32; ++i) {
    const int both = Byte(codes, i % 16);
    values[i] = scale * static_cast<float>(kUnevenWeights[i < 16 ? both & 15 : both >> 4]);
  }
}

// IQ4_XS: a scale of the scales, then those of 8 runs: the high two bits of all, then the low four
// of each.
void WidenIQ4XS(const std::byte* block, float* values) {
  const float unit = LoadHalf(block);
  const int high = Load<std::uint16_t>(block + 2);
  for (std::size_t run = 0; run < kSuperBlock / 32; ++run) {
    const int low = Byte(block, 4 + run / 2) >> (run % 2 * 4) & 15;
    const int scale = low | (high >> (2 * run) & 3) << 4;
    WidenUneven(unit * static_cast<float>(scale - 32), block + 8 + run * 16, values + run * 32);
  }
}

// The two bits of value `i` of a Q2_K, Q3_K or TQ2_0 block: in halves of 128 values, four runs of
// 32 share 32 bytes.
int TwoBits(const std::byte* codes, std::size_t i) {
  return Byte(codes, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
}

// Q2_K: for each 16 values, four bits for the code of their scale and, above it, four bits for that
// of their least value. Then two bits for each value, and the scales of both.
void WidenQ2K(const std::byte* block, float* values) {
  const float scale_unit = LoadHalf(block + 80), least_unit = LoadHalf(block + 82);
  for (std::size_t i = 0; i < kSuperBlock; ++i) {
    const int codes = Byte(block, i / 16);
    const float scale = scale_unit * static_cast<float>(codes & 15);
    const float least = least_unit * static_cast<float>(codes >> 4);
    values[i] = scale * static_cast<float>(TwoBits(block + 16, i)) - least;
  }
}

// Q3_K: first the third bit of each value, value i in bit i / 32 of byte i % 32, then two bits of
// each. Then the scales of 16 values each, six bits in 12 bytes, low four bits first, and their
// scale.
void WidenQ3K(const std::byte* block, float* values) {
  const float unit = LoadHalf(block + 108);
  const std::byte* const packed = block + 96;
  for (std::size_t i = 0; i < kSuperBlock; ++i) {
    const std::size_t run = i / 16;
    const int low = Byte(packed, run % 8) >> (run / 8 * 4) & 15;
    const int high = Byte(packed, 8 + run % 4) >> (run / 4 * 2) & 3;
    const float scale = unit * static_cast<float>((low | high << 4) - 32);
    const int third = Byte(block, i % 32) >> (i / 32) & 1;
    values[i] = scale * static_cast<float>(TwoBits(block + 32, i) - (third != 0 ? 0 : 4));
  }
}

// TQ1_0: weights of -1, 0 and 1, as digits of fractions to the base 3. Five runs share bytes: runs
// of 32 values in the first 32 bytes, of 16 in the next 16. Then come four runs of 4 values, and
// the scale. A byte is the fraction times 256, rounded up; digit n is what 3^n takes before the
// point.
void WidenTQ10(const std::byte* block, float* values) {
  const float scale = LoadHalf(block + 52);
  struct Part {
    std::size_t first, bytes, digits;
  };
  for (const auto& [first, bytes, digits] : {Part{0, 32, 5}, Part{32, 16, 5}, Part{48, 4, 4}}) {
    unsigned power = 1;
    for (std::size_t digit = 0; digit < digits; ++digit, power *= 3) {
      for (std::size_t i = 0; i < bytes; ++i) {
        const unsigned fraction = static_cast<unsigned>(Byte(block, first + i)) * power & 0xff;
        *values++ = scale * static_cast<float>(static_cast<int>(fraction * 3 >> 8) - 1);
      }
    }
  }
}

// TQ2_0: the same weights in two bits each, then the scale.
void WidenTQ20(const std::byte* block, float* values) {
  const float scale = LoadHalf(block + 64);
  for (std::size_t i = 0; i < kSuperBlock; ++i) {
    values[i] = scale * static_cast<float>(TwoBits(block, i) - 1);
  }
}

// Number `run` of the scales, and of the least values, of a Q4_K or Q5_K block: 6 bits each, in 12
// bytes. The first four are whole in bytes 0 to 3 and 4 to 7. Of the others, the low four bits are
// in bytes 8 to 11, and the high two above those of the first.
void UnpackScales(const std::byte* packed, std::size_t run, int& scale, int& least) {
  if (run < 4) {
    scale = Byte(packed, run) & 63;
    least = Byte(packed, run + 4) & 63;
  } else {
    scale = (Byte(packed, run + 4) & 15) | Byte(packed, run - 4) >> 6 << 4;
    least = Byte(packed, run + 4) >> 4 | Byte(packed, run) >> 6 << 4;
  }
}

// Q4_K, Q5_K: the scales of the scales and of the least values, then these. Then, in Q5_K, the
// fifth bits, and last the low four bits of the codes: run 2k and run 2k + 1 share 32 bytes.
void WidenK(bool has_fifth, const std::byte* block, float* values) {
  const float scale_unit = LoadHalf(block), least_unit = LoadHalf(block + 2);
  const std::byte* const packed = block + 4;
  const std::byte* const fifth = block + 16;
  const std::byte* const codes = fifth + (has_fifth ? 32 : 0);
  for (std::size_t run = 0; run < kSuperBlock / 32; ++run) {
    int scale_code, least_code;
    UnpackScales(packed, run, scale_code, least_code);
    const float scale = scale_unit * static_cast<float>(scale_code);
    const float least = least_unit * static_cast<float>(least_code);
    for (std::size_t i = 0; i < 32; ++i) {
      const int both = Byte(codes, run / 2 * 32 + i);
      int code = run % 2 == 0 ? both & 15 : both >> 4;
      if (has_fifth) code |= (Byte(fifth, i) >> run & 1) << 4;
      values[run * 32 + i] = scale * static_cast<float>(code) - least;
    }
  }
}

// Q6_K, in halves of 128 values: the low four bits of the codes, then the high two bits. Then comes
// a scale for each 16 values, and the scale of the scales.
void WidenQ6K(const std::byte* block, float* values) {
  const float unit = LoadHalf(block + 208);
  for (std::size_t i = 0; i < kSuperBlock; ++i) {
    const std::size_t half = i / 128, run = i % 128 / 32, at = i % 32;
    const int both = Byte(block, half * 64 + run % 2 * 32 + at);
    const int low = run < 2 ? both & 15 : both >> 4;
    const int high = Byte(block, 128 + half * 32 + at) >> (2 * run) & 3;
    const float scale = unit * static_cast<float>(Load<std::int8_t>(block + 192 + i / 16));
    values[i] = scale * static_cast<float>((low | high << 4) - 32);
  }
}

void WidenBlock(BlockType type, const std::byte* block, float* values) {
  switch (type) {
    case BlockType::kF32:
      *values = Load<float>(block);
      break;
    case BlockType::kF16:
      *values = LoadHalf(block);
      break;
    case BlockType::kBF16:
      *values = WidenBFloat16(Load<BFloat16>(block));
      break;
    case BlockType::kQ80:
      WidenQ8(block, values);
      break;
    case BlockType::kIQ4NL:
      WidenUneven(LoadHalf(block), block + 2, values);
      break;
    case BlockType::kIQ4XS:
      WidenIQ4XS(block, values);
      break;
    case BlockType::kTQ10:
      WidenTQ10(block, values);
      break;
    case BlockType::kTQ20:
      WidenTQ20(block, values);
      break;
    case BlockType::kQ2K:
      WidenQ2K(block, values);
      break;
    case BlockType::kQ3K:
      WidenQ3K(block, values);
      break;
    case BlockType::kQ4K:
    case BlockType::kQ5K:
      WidenK(type == BlockType::kQ5K, block, values);
      break;
    case BlockType::kQ6K:
      WidenQ6K(block, values);
      break;
    default:
      WidenSmall(type, block, values);
  }
}

}  // namespace

const BlockShape& ShapeOf(BlockType type) {
  return kShapes[static_cast<std::size_t>(type)];
}

Result<BlockType> BlockTypeOf(std::uint32_t ggml_id) {
  std::string names;
  for (std::size_t i = 0; i < std::size(kShapes); ++i) {
    if (kShapes[i].ggml_id == ggml_id) return static_cast<BlockType>(i);
    names += (i == 0 ? "" : ", ") + std::string(kShapes[i].name);
  }
  std::string found = "the unknown type " + std::to_string(ggml_id);
  for (const OtherType& other : kOtherTypes) {
    if (other.ggml_id == ggml_id) found = "type " + std::string(other.name);
  }
  return Error{ErrorCode::kUnsupported, found + ", expected one of " + names};
}

bool WidenBlocks(BlockType type, const std::byte* bytes, std::size_t count, float* values) {
  const BlockShape& shape = ShapeOf(type);
  for (std::size_t i = 0; i < count; i += shape.values) {
    WidenBlock(type, bytes + i / shape.values * shape.bytes, values + i);
  }
  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) {
    finite &= std::fabs(values[i]) <= std::numeric_limits<float>::max();
  }
  return finite;
}

}  // namespace gpt2
