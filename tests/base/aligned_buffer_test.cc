#include "engine/base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/support/has.h"

namespace gpt2 {
namespace {

TEST(Rounding, RoundUpAndCeilDivRoundUp) {
  EXPECT_EQ(RoundUp(0, 8), 0u);
  EXPECT_EQ(RoundUp(1, 8), 8u);
  EXPECT_EQ(RoundUp(8, 8), 8u);
  EXPECT_EQ(RoundUp(9, 8), 16u);
  EXPECT_EQ(CeilDiv(0, 32), 0u);
  EXPECT_EQ(CeilDiv(1, 32), 1u);
  EXPECT_EQ(CeilDiv(64, 32), 2u);
  EXPECT_EQ(CeilDiv(65, 32), 3u);
}

TEST(AlignedBuffer, IsZeroedAndAlignedAndHasTheRequestedSize) {
  for (const std::size_t size : {0, 1, 15, 16, 17, 1000}) {
    auto buffer = AlignedBuffer<float>::Create(size, "a test");
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(buffer.value().size(), size);
    EXPECT_EQ(buffer.value().bytes(), 4 * size);
    ASSERT_NE(buffer.value().data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.value().data()) % kAlignment, 0u);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(buffer.value().data()[i], 0.0f);
  }
}

TEST(AlignedBuffer, AnOutOfMemoryErrorNamesThePurposeAndTheSize) {
  // The size in bytes overflows std::size_t.
  const std::size_t size = std::numeric_limits<std::size_t>::max() / 2;
  const auto buffer = AlignedBuffer<std::uint64_t>::Create(size, "the test");
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.error().code, ErrorCode::kOutOfMemory);
  EXPECT_TRUE(Has(buffer.error().message, "the test"));
  EXPECT_TRUE(Has(buffer.error().message, std::to_string(size)));
}

}  // namespace
}  // namespace gpt2
