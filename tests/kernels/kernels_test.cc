// Tests that every kernel of kernels.inc gives the same bits as its reference twin at many sizes,
// and writes no value outside its output.
#include "engine/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/random.h"
#include "tests/kernels/kernel_cases.h"

namespace gpt2 {
namespace {

constexpr std::size_t kSizes[] = {1,  2,  3,  4,  5,  7,  8,   13,  16,  20,  31,  32,
                                  33, 63, 64, 65, 80, 97, 100, 127, 128, 129, 130, 160};

// 200 cases: sizes of one and two vectors, around them, primes, and any others up to 40. The first
// 39 cases have more groups than one pass sums, for each number of tokens. One case in eight has
// values that are special, such as NaN: all its results may be NaN.
template <typename Fn>
void CompareWithTwin(Fn* fast, Fn* plain) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto below = [&](std::size_t end) {
      return static_cast<std::size_t>(random.Next() % end);
    };
    const bool is_long = seed < 3 * kMostCaseTokens;
    const auto choose = [&](std::size_t least, std::size_t most, std::size_t /*usual*/) {
      if (is_long && most == kMostCaseTokens) return static_cast<std::size_t>(seed % most) + 1;
      if (is_long && most == kMostCaseGroups) return std::size_t{130};
      const std::size_t size = kSizes[below(std::size(kSizes))];
      if (least == 1 && size <= most && below(2) == 0) return size;
      return least + below(std::min<std::size_t>(most, 40) + 1 - least);
    };
    const std::uint64_t one_in = is_long || seed % 8 != 0 ? 0 : seed % 16 == 0 ? 2 : 64;
    Source source(choose, ~seed, /*behind=*/8, one_in);
    EXPECT_EQ(FindFault(source, fast, plain), "") << "in case " << seed;
  }
}

#define KERNEL(operation, isa)                                   \
  TEST(Kernels, operation##_##isa) {                             \
    CompareWithTwin(&operation##_##isa, &operation##_Reference); \
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
    float out[2][kDim];
    const KvHeadF32 kv{keys.data(), values.data(), kDim};
    AttendF32_Simd128(q.data(), kv, kDim, 2 * kKvBlock, out[0]);
    AttendF32_Reference(q.data(), kv, kDim, 2 * kKvBlock, out[1]);
    EXPECT_TRUE(IsSameBytes(out[0], out[1]));
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
