// Tests that every kernel of kernels.inc gives the same bits as its reference twin at many sizes,
// and writes no value outside its output.
#include "engine/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/random.h"

namespace gpt2 {
namespace {

constexpr std::size_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 20, 31, 32, 33, 64, 97, 128, 160};
constexpr float kGuard = 12345.678f;

// Reproducible test data; some values are zero, some tiny, some large.
class Data {
 public:
  explicit Data(std::uint64_t seed) : random_(seed) {}

  float Value() {
    const double u = random_.NextUnit() * 2 - 1;
    switch (random_.Next() % 16) {
      case 0:
        return 0.0f;
      case 1:
        return static_cast<float>(u * 1e-3);
      case 2:
        return static_cast<float>(u * 30);
      default:
        return static_cast<float>(u);
    }
  }
  std::vector<float> Values(std::size_t n) {
    std::vector<float> values(n);
    for (float& value : values) value = Value();
    return values;
  }
  // Codes from `least` to 127, the extreme ones as likely as all others together.
  std::vector<std::int8_t> Codes(std::size_t n, std::int8_t least) {
    std::vector<std::int8_t> codes(n);
    for (std::int8_t& code : codes) {
      const std::uint64_t r = random_.Next();
      const int any = static_cast<int>(r / 4 % static_cast<std::uint64_t>(128 - least)) + least;
      code = static_cast<std::int8_t>(r % 4 == 0 ? 127 : r % 4 == 1 ? least : any);
    }
    return codes;
  }
  // A quarter of the bytes have all bits set and a quarter none, the extreme pairs of 4-bit codes.
  std::uint8_t Byte() {
    const std::uint64_t r = random_.Next();
    return r % 4 == 0 ? 0xff : r % 4 == 1 ? 0 : static_cast<std::uint8_t>(r >> 8);
  }
  std::vector<BFloat16> Scales(std::size_t n) {
    std::vector<BFloat16> scales(n);
    for (BFloat16& scale : scales) {
      const float value = std::max(0.0f, Value());
      scale = static_cast<BFloat16>(std::bit_cast<std::uint32_t>(value) >> 16);
    }
    return scales;
  }

 private:
  Random random_;
};

void ExpectSameBits(const std::vector<float>& a, const std::vector<float>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << what;
}

// One conformance check per operation, found by its name: <Operation>Check.
struct QuantizeActivationsCheck {
  struct Result {
    std::vector<std::int8_t> codes;
    std::vector<float> scales;
    std::vector<std::int32_t> offsets;

    explicit Result(std::size_t groups)
        : codes(groups * kTokenBlock * kGroup, 99),
          scales(groups * kTokenBlock, kGuard),
          offsets(groups * kTokenBlock, 99) {}
  };

  static void Run(QuantizeActivationsFn* fast, QuantizeActivationsFn* plain) {
    Data data(1);
    for (const std::size_t n : kSizes) {
      for (const ActivationCodes kind : {ActivationCodes::kFromZero, ActivationCodes::kSigned}) {
        for (const float shift : {-40.0f, 0.0f, 40.0f}) {  // one sign, both, the other
          std::vector<float> x = data.Values(n);
          for (float& value : x) value += shift;
          const std::size_t groups = CeilDiv(n, kGroup);
          Result found(groups), expected(groups);
          fast(x.data(), n, kind, found.codes.data(), found.scales.data(), found.offsets.data());
          plain(x.data(), n, kind, expected.codes.data(), expected.scales.data(),
                expected.offsets.data());
          EXPECT_EQ(found.codes, expected.codes) << n;
          ExpectSameBits(found.scales, expected.scales, "scales");
          EXPECT_EQ(found.offsets, expected.offsets) << n;
          for (std::size_t g = 0; g < groups; ++g) {
            EXPECT_EQ(found.codes[(g * kTokenBlock + 1) * kGroup], 99) << "the other token's";
            EXPECT_EQ(found.scales[g * kTokenBlock + 1], kGuard) << "the other token's";
            EXPECT_EQ(found.offsets[g * kTokenBlock + 1], 99) << "the other token's";
            CheckGroup(expected, g * kTokenBlock, kind, x, g * kGroup);
          }
        }
      }
    }
  }

  // The plain twin's codes of the group whose values start at x[first]. Each is within half a scale
  // of the original, or within one if the zero is rounded, too. Codes and offsets are in their
  // range.
  static void CheckGroup(const Result& result, std::size_t place, ActivationCodes kind,
                         const std::vector<float>& x, std::size_t first) {
    const bool is_signed = kind == ActivationCodes::kSigned;
    const float scale = result.scales[place];
    const std::int32_t offset = result.offsets[place];
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < kGroup; ++i) {
      const std::int8_t code = result.codes[place * kGroup + i];
      const float value = first + i < x.size() ? x[first + i] : 0.0f;
      EXPECT_GE(code, is_signed ? -127 : 0);
      EXPECT_LE(std::fabs(scale * static_cast<float>(code - (is_signed ? 0 : offset)) - value),
                scale * (is_signed ? 0.5001f : 1.0001f));
      sum += code;
    }
    if (is_signed) {
      EXPECT_EQ(offset, -kQ4Zero * sum);
    } else {
      EXPECT_GE(offset, 0);
      EXPECT_LE(offset, 127);
    }
  }
};

struct MatmulF32Check {
  static void Run(MatmulF32Fn* fast, MatmulF32Fn* plain) {
    Data data(2);
    for (const std::size_t cols : kSizes) {
      for (const std::size_t tokens : {1, 2, 3, 4, 5, 9}) {
        constexpr std::size_t kTiles = 3;
        const auto values = data.Values(kTiles * kTileRows * cols);
        const auto bias = data.Values(kTiles * kTileRows);
        const auto x = data.Values(tokens * (cols + 1));  // rows that start misaligned
        const TiledF32 w{values.data(), bias.data(), cols};
        std::vector<float> y[2];
        for (int i = 0; i < 2; ++i) {
          y[i].assign(tokens * kTiles * kTileRows, kGuard);
          (i == 0 ? fast : plain)(w, {x.data(), tokens, cols, cols + 1}, {1, 3},
                                  {y[i].data(), tokens, kTiles * kTileRows, kTiles * kTileRows});
          EXPECT_EQ(y[i][0], kGuard) << "a tile outside the range was written";
        }
        ExpectSameBits(y[0], y[1], "MatmulF32");
      }
    }
  }
};

// Both quantized matmuls: Weights is TiledQ8 or TiledQ4, `bytes` what one group of a row takes, and
// `make_codes(n)` gives n bytes of codes. The inputs' codes are at least `least`, and
// `make_offset(codes)` gives the offset that belongs to a group of them.
template <typename Weights, typename Fn, typename MakeCodes, typename MakeOffset>
void CheckMatmulQuantized(Data& data, std::size_t bytes, MakeCodes make_codes, std::int8_t least,
                          MakeOffset make_offset, Fn* fast, Fn* plain) {
  for (const std::size_t groups : {1, 2, 3, 5, 24, 130}) {
    for (const std::size_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      constexpr std::size_t kTiles = 7;
      const auto codes = make_codes(kTiles * kTileRows * groups * bytes);
      const auto scales = data.Scales(kTiles * kTileRows * groups);
      const auto bias = data.Values(kTiles * kTileRows);
      const std::size_t places = RoundUp(tokens, kTokenBlock) * groups;
      const auto x = data.Codes(places * kGroup, least);
      const auto x_scales = data.Values(places);
      std::vector<std::int32_t> offsets(places);
      for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = make_offset(&x[i * kGroup]);
      const Weights w{codes.data(), scales.data(), bias.data(), groups};
      const QuantizedActivations activations{x.data(), x_scales.data(), offsets.data(), tokens,
                                             groups};
      constexpr std::size_t kRows = kTiles * kTileRows;
      for (const std::size_t last : {2, 3, 6}) {  // one tile, two, and an odd number
        std::vector<float> y[2];
        for (int i = 0; i < 2; ++i) {
          y[i].assign(tokens * kRows, kGuard);
          (i == 0 ? fast : plain)(w, activations, {1, last}, {y[i].data(), tokens, kRows, kRows});
          EXPECT_EQ(y[i][0], kGuard) << "a tile before the range was written";
          EXPECT_EQ(y[i][last * kTileRows], kGuard) << "a tile behind the range was written";
        }
        ExpectSameBits(y[0], y[1], "quantized matmul");
      }
    }
  }
}

struct MatmulQ8Check {
  static void Run(MatmulQ8Fn* fast, MatmulQ8Fn* plain) {
    Data data(3);
    CheckMatmulQuantized<TiledQ8>(
        data, kGroup, [&](std::size_t n) { return data.Codes(n, /*least=*/-127); }, /*least=*/0,
        [&](const std::int8_t*) { return static_cast<int>(data.Codes(1, /*least=*/0)[0]); }, fast,
        plain);
  }
};

struct MatmulQ4Check {
  static void Run(MatmulQ4Fn* fast, MatmulQ4Fn* plain) {
    Data data(10);
    const auto make_codes = [&](std::size_t n) {
      std::vector<std::uint8_t> bytes(n);
      for (std::uint8_t& byte : bytes) byte = data.Byte();
      return bytes;
    };
    CheckMatmulQuantized<TiledQ4>(
        data, kGroup / 2, make_codes, /*least=*/-127,
        [](const std::int8_t* codes) {
          return -kQ4Zero * std::accumulate(codes, codes + kGroup, std::int32_t{0});
        },
        fast, plain);
  }
};

struct LayerNormCheck {
  static void Run(LayerNormFn* fast, LayerNormFn* plain) {
    Data data(4);
    for (const std::size_t n : kSizes) {
      const auto x = data.Values(n), gain = data.Values(n), bias = data.Values(n);
      std::vector<float> y[2];
      for (int i = 0; i < 2; ++i) {
        y[i].assign(n + 1, kGuard);
        (i == 0 ? fast : plain)(x.data(), gain.data(), bias.data(), 1e-5f, n, y[i].data());
      }
      ExpectSameBits(y[0], y[1], "LayerNorm");
      EXPECT_EQ(y[0][n], kGuard);
    }
  }
};

// GELU and AddTo: x [n] in place.
template <typename Fn, typename Call>
void CheckInPlace(std::uint64_t seed, Fn* fast, Fn* plain, Call call) {
  Data data(seed);
  for (const std::size_t n : kSizes) {
    std::vector<float> x = data.Values(n);
    x.push_back(kGuard);
    std::vector<float> y = x;
    const auto other = data.Values(n);
    call(fast, x.data(), other.data(), n);
    call(plain, y.data(), other.data(), n);
    ExpectSameBits(x, y, "in place");
    EXPECT_EQ(x[n], kGuard);
  }
}

struct GeluTanhCheck {
  static void Run(GeluTanhFn* fast, GeluTanhFn* plain) {
    CheckInPlace(5, fast, plain, [](auto* f, float* x, const float*, std::size_t n) { f(x, n); });
  }
};
using GeluErfCheck = GeluTanhCheck;
using ReluCheck = GeluTanhCheck;

struct SwishCheck {
  static void Run(SwishFn* fast, SwishFn* plain) {
    for (const float beta : {1.0f, 1.702f}) {
      CheckInPlace(12, fast, plain,
                   [beta](auto* f, float* x, const float*, std::size_t n) { f(x, beta, n); });
    }
  }
};

struct AddToCheck {
  static void Run(AddToFn* fast, AddToFn* plain) {
    CheckInPlace(6, fast, plain,
                 [](auto* f, float* x, const float* delta, std::size_t n) { f(x, delta, n); });
  }
};

constexpr std::size_t kPositions[] = {1, 3, 4, 31, 32, 33, 63, 64, 65, 100};
constexpr std::size_t kDims[] = {1, 4, 5, 13, 16, 32, 64, 80};

struct AttendF32Check {
  static void Run(AttendF32Fn* fast, AttendF32Fn* plain) {
    Data data(7);
    for (const std::size_t dim : kDims) {
      const std::size_t padded = RoundUp(dim, 4);
      auto keys = data.Values(128 * padded), values = data.Values(128 * padded);
      for (std::size_t p = 0; p < 128; ++p) {  // padding is zero, as the cache keeps it
        for (std::size_t d = dim; d < padded; ++d)
          keys[p * padded + d] = values[p * padded + d] = 0;
      }
      for (const std::size_t positions : kPositions) {
        const auto q = data.Values(dim);
        std::vector<float> out[2];
        for (int i = 0; i < 2; ++i) {
          out[i].assign(dim + 1, kGuard);
          (i == 0 ? fast : plain)(q.data(), {keys.data(), values.data(), padded}, dim, positions,
                                  out[i].data());
        }
        ExpectSameBits(out[0], out[1], "AttendF32");
        EXPECT_EQ(out[0][dim], kGuard);
      }
    }
  }
};

struct StoreQ8Check {
  static void Run(StoreQ8Fn* fast, StoreQ8Fn* plain) {
    Data data(11);
    for (const std::size_t dim : kDims) {
      const std::size_t padded = RoundUp(dim, 4);
      constexpr std::size_t kRoom = 128;
      std::vector<std::int8_t> codes[2][2];
      std::vector<float> scales[2][2];
      for (int i = 0; i < 2; ++i) {
        for (int part = 0; part < 2; ++part) {
          codes[i][part].assign(kRoom * padded, 0);
          scales[i][part].assign(kRoom, 0.0f);
        }
      }
      for (const std::size_t position : {0, 1, 6, 31, 32, 127}) {
        const auto key = data.Values(dim), value = data.Values(dim);
        for (int i = 0; i < 2; ++i) {
          (i == 0 ? fast : plain)(key.data(), value.data(), dim, position,
                                  {codes[i][0].data(), codes[i][1].data(), scales[i][0].data(),
                                   scales[i][1].data(), padded});
        }
      }
      EXPECT_EQ(codes[0][0], codes[1][0]) << "keys of " << dim;
      EXPECT_EQ(codes[0][1], codes[1][1]) << "values of " << dim;
      ExpectSameBits(scales[0][0], scales[1][0], "key scales");
      ExpectSameBits(scales[0][1], scales[1][1], "value scales");
    }
  }
};

struct AttendQ8Check {
  static void Run(AttendQ8Fn* fast, AttendQ8Fn* plain) {
    Data data(8);
    for (const std::size_t dim : kDims) {
      const std::size_t padded = RoundUp(dim, 4);
      // Codes in padded dimensions are multiplied by a zero of q, so they change nothing.
      auto keys = data.Codes(128 * padded, /*least=*/-127), values = data.Codes(128 * padded, -127);
      auto key_scales = data.Values(128), value_scales = data.Values(128);
      for (float& scale : value_scales) scale = std::fabs(scale);
      for (const std::size_t positions : kPositions) {
        const auto q = data.Values(dim);
        std::vector<float> out[2];
        for (int i = 0; i < 2; ++i) {
          out[i].assign(dim + 1, kGuard);
          const KvHeadQ8 kv{keys.data(), values.data(), key_scales.data(), value_scales.data(),
                            padded};
          (i == 0 ? fast : plain)(q.data(), kv, dim, positions, out[i].data());
        }
        ExpectSameBits(out[0], out[1], "AttendQ8");
        EXPECT_EQ(out[0][dim], kGuard);
      }
    }
  }
};

struct SoftmaxStatsCheck {
  static void Run(SoftmaxStatsFn* fast, SoftmaxStatsFn* plain) {
    Data data(9);
    for (const std::size_t n : kSizes) {
      auto x = data.Values(n);
      x.insert(x.end(), 8, kGuard);  // later values have no effect
      const SoftmaxSums a = fast(x.data(), n), b = plain(x.data(), n);
      EXPECT_EQ(a.maximum, *std::max_element(x.begin(), x.end() - 8));
      EXPECT_EQ(a.maximum, b.maximum);
      EXPECT_EQ(a.sum, b.sum);
    }
  }
};

#define KERNEL(operation, isa)                                         \
  TEST(Kernels, operation##_##isa) {                                   \
    operation##Check::Run(&operation##_##isa, &operation##_Reference); \
  }
#ifdef __wasm_relaxed_simd__
#define KERNEL_RELAXED(operation) KERNEL(operation, RelaxedSimd) KERNEL(operation, RelaxedPairs)
#endif
#include "engine/kernels/kernels.inc"

TEST(QuantizeActivations, NonFiniteValuesGetZeroCodesAndANonFiniteScale) {
  for (const KernelTable* table : KernelTables()) {
    for (const ActivationCodes kind : {ActivationCodes::kFromZero, ActivationCodes::kSigned}) {
      for (const float odd : {NAN, INFINITY, -INFINITY}) {
        std::vector<float> x(2 * kGroup, 1.0f);
        x[5] = odd;
        std::vector<std::int8_t> codes(2 * kTokenBlock * kGroup, 99);
        float scales[2 * kTokenBlock];
        std::int32_t offsets[2 * kTokenBlock];
        table->QuantizeActivations(x.data(), x.size(), kind, codes.data(), scales, offsets);
        EXPECT_FALSE(std::isfinite(scales[0])) << table->name;
        EXPECT_EQ(scales[kTokenBlock], 1.0f / 127) << table->name;
        for (std::size_t i = 0; i < kGroup; ++i) {
          EXPECT_EQ(codes[i], 0) << i;
          EXPECT_EQ(codes[kTokenBlock * kGroup + i], 127) << i;
        }
      }
    }
  }
}

// The formulas are computed in float64, also where exp overflows and for NaN.
TEST(Activations, ReluSiluAndQuickGeluMatchTheirFormulas) {
  for (const KernelTable* table : KernelTables()) {
    for (const float value : {0.0f, 0.3f, -0.7f, 2.5f, -9.0f, 60.0f, -60.0f, 1e30f, -1e30f}) {
      float relu = value, silu = value, quick = value;
      table->Relu(&relu, 1);
      table->Swish(&silu, 1.0f, 1);
      table->Swish(&quick, 1.702f, 1);
      const double x = value;
      EXPECT_EQ(relu, std::max(value, 0.0f));
      EXPECT_NEAR(silu, x / (1 + std::exp(-x)), 1e-6 * std::max(1.0, std::fabs(x))) << value;
      EXPECT_NEAR(quick, x / (1 + std::exp(-1.702 * x)), 1e-6 * std::max(1.0, std::fabs(x)))
          << value;
    }
    float relu[5] = {NAN, NAN, NAN, NAN, NAN}, swish[5] = {NAN, NAN, NAN, NAN, NAN};
    table->Relu(relu, 5);
    table->Swish(swish, 1.0f, 5);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(std::isnan(relu[i]) && std::isnan(swish[i])) << i;
  }
}

TEST(Attention, InfiniteScoresGiveTheSameBitsAsTheReference) {
  constexpr std::size_t kDim = 4;
  for (const float key : {INFINITY, -INFINITY}) {
    std::vector<float> keys(2 * kKvBlock * kDim, key), values(keys.size(), 1.0f), q(kDim, 1.0f);
    std::fill(values.begin() + kKvBlock * kDim, values.end(), 3.0f);
    std::vector<float> out[2] = {std::vector<float>(kDim), std::vector<float>(kDim)};
    const KvHeadF32 kv{keys.data(), values.data(), kDim};
    AttendF32_Simd128(q.data(), kv, kDim, 2 * kKvBlock, out[0].data());
    AttendF32_Reference(q.data(), kv, kDim, 2 * kKvBlock, out[1].data());
    ExpectSameBits(out[0], out[1], "AttendF32");
  }
}

TEST(BestKernels, AreExactOnTheTestMachine) {
  EXPECT_TRUE(BestKernelsAreExact());
}

TEST(BestKernels, AreThoseOfTheBuild) {
  // A build with relaxed SIMD has two such tables, and the processor decides.
  EXPECT_EQ(BestKernels().name.substr(0, BestKernels().name.find('-')), GPT2_FASTEST_KERNELS);
}

TEST(KernelTables, AreCompleteAndCanBeForcedByName) {
  ASSERT_GE(KernelTables().size(), 2u);
  EXPECT_EQ(KernelTables()[0]->name, "reference");
  EXPECT_EQ(KernelTables()[0]->MatmulQ8, &MatmulQ8_Reference);
  EXPECT_EQ(KernelTables()[1]->name, "simd128");
  EXPECT_EQ(KernelTables()[1]->MatmulQ8, &MatmulQ8_Simd128);
  for (const KernelTable* table : KernelTables()) {
    EXPECT_NE(table->QuantizeActivations, nullptr);
    EXPECT_NE(table->SoftmaxStats, nullptr);
  }
}

}  // namespace
}  // namespace gpt2
