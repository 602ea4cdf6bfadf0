#include "engine/model/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpt2 {
namespace {

// Three layers of two heads, six wide (eight with padding), for 40 positions (two blocks).
Config SmallConfig() {
  Config config;
  config.n_embd = 12;
  config.n_head = 2;
  config.n_layer = 3;
  config.n_positions = 40;
  return config;
}
constexpr std::size_t kCapacity = 64;
constexpr std::size_t kPaddedDim = 8;
constexpr std::size_t kParts = 3 * 2 * 2;  // keys and values of each head

KvCache Create(KvFormat format) {
  return std::move(KvCache::Create(SmallConfig(), format).value());
}

TEST(KvCache, AllocatesWholeBlocksOfPaddedHeads) {
  const std::size_t values = kParts * kCapacity * kPaddedDim;
  EXPECT_EQ(Create(KvFormat::kF32).bytes(), values * sizeof(float));
  EXPECT_EQ(Create(KvFormat::kQ8).bytes(), values + kParts * kCapacity * sizeof(float));
}

TEST(KvCache, HeadsDoNotOverlap) {
  KvCache floats = Create(KvFormat::kF32);
  KvCache codes = Create(KvFormat::kQ8);
  const auto for_heads = [](auto&& body) {
    for (std::size_t layer = 0; layer < 3; ++layer) {
      for (std::size_t head = 0; head < 2; ++head) {
        body(layer, head, static_cast<std::int8_t>(1 + layer * 2 + head));
      }
    }
  };
  constexpr std::size_t kSize = kCapacity * kPaddedDim;
  for_heads([&](std::size_t layer, std::size_t head, std::int8_t mark) {
    const KvHeadF32 f32 = floats.HeadF32(layer, head);
    EXPECT_EQ(f32.padded_dim, kPaddedDim);
    std::fill_n(f32.keys, kSize, mark);
    std::fill_n(f32.values, kSize, -mark);
    const KvHeadQ8 q8 = codes.HeadQ8(layer, head);
    EXPECT_EQ(q8.padded_dim, kPaddedDim);
    std::fill_n(q8.keys, kSize, mark);
    std::fill_n(q8.values, kSize, static_cast<std::int8_t>(-mark));
    std::fill_n(q8.key_scales, kCapacity, mark);
    std::fill_n(q8.value_scales, kCapacity, -mark);
  });
  for_heads([&](std::size_t layer, std::size_t head, std::int8_t mark) {
    const KvHeadF32 f32 = floats.HeadF32(layer, head);
    EXPECT_EQ(std::count(f32.keys, f32.keys + kSize, mark), kSize);
    EXPECT_EQ(std::count(f32.values, f32.values + kSize, -mark), kSize);
    const KvHeadQ8 q8 = codes.HeadQ8(layer, head);
    EXPECT_EQ(std::count(q8.keys, q8.keys + kSize, mark), kSize);
    EXPECT_EQ(std::count(q8.values, q8.values + kSize, -mark), kSize);
    EXPECT_EQ(std::count(q8.key_scales, q8.key_scales + kCapacity, mark), kCapacity);
    EXPECT_EQ(std::count(q8.value_scales, q8.value_scales + kCapacity, -mark), kCapacity);
  });
}

TEST(KvCache, HeadsThatShareKeysNeedTheMemoryOfOneHead) {
  Config shared = SmallConfig(), single = SmallConfig();
  shared.multi_query = true;
  single.n_head = 1;
  single.n_embd = shared.head_dim();
  for (const KvFormat format : {KvFormat::kF32, KvFormat::kQ8}) {
    EXPECT_EQ(KvCache::Create(shared, format).value().bytes(),
              KvCache::Create(single, format).value().bytes());
    EXPECT_EQ(Create(format).bytes(), 2 * KvCache::Create(shared, format).value().bytes());
  }
}

TEST(KvCache, ACopyHoldsTheUsedBlocks) {
  for (const std::size_t positions : {0, 1, 32, 33}) {
    const std::size_t used = (positions + 31) / 32 * 32;
    KvCache from = Create(KvFormat::kQ8), to = Create(KvFormat::kQ8);
    KvCache from_floats = Create(KvFormat::kF32), to_floats = Create(KvFormat::kF32);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      std::fill_n(from.HeadQ8(layer, 1).values, kCapacity * kPaddedDim, std::int8_t{5});
      std::fill_n(from.HeadQ8(layer, 1).key_scales, kCapacity, 7.0f);
      std::fill_n(to.HeadQ8(layer, 1).values, kCapacity * kPaddedDim, std::int8_t{0});
      std::fill_n(to.HeadQ8(layer, 1).key_scales, kCapacity, 0.0f);
      std::fill_n(from_floats.HeadF32(layer, 0).keys, kCapacity * kPaddedDim, 3.0f);
      std::fill_n(from_floats.HeadF32(layer, 0).values, kCapacity * kPaddedDim, 0.0f);
      std::fill_n(to_floats.HeadF32(layer, 0).keys, kCapacity * kPaddedDim, 0.0f);
      std::fill_n(to_floats.HeadF32(layer, 0).values, kCapacity * kPaddedDim, 0.0f);
    }
    to.CopyFrom(from, positions);
    to_floats.CopyFrom(from_floats, positions);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const KvHeadQ8 head = to.HeadQ8(layer, 1);
      EXPECT_EQ(std::count(head.values, head.values + kCapacity * kPaddedDim, 5),
                used * kPaddedDim);
      EXPECT_EQ(std::count(head.key_scales, head.key_scales + kCapacity, 7.0f), used);
      const KvHeadF32 floats = to_floats.HeadF32(layer, 0);
      EXPECT_EQ(std::count(floats.keys, floats.keys + kCapacity * kPaddedDim, 3.0f),
                used * kPaddedDim);
      EXPECT_EQ(std::count(floats.values, floats.values + kCapacity * kPaddedDim, 0.0f),
                kCapacity * kPaddedDim);
    }
  }
}

}  // namespace
}  // namespace gpt2
