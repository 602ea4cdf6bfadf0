// The random numbers of sampling and of random weights: the same on every build.
#pragma once

#include <cstdint>

namespace gpt2 {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): one
// 64-bit state, every seed is good.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // Equals `count` calls of Next.
  void Skip(std::uint64_t count) { state_ += count * kStep; }

  std::uint64_t Next() {
    state_ += kStep;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // In [0, 1), a multiple of 2^-53.
  double NextUnit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;

  std::uint64_t state_;
};

}  // namespace gpt2
