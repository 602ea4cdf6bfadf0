// Shapes and values for the cases of kernels (kernel_cases.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/random.h"
#include "engine/kernels/layout.h"

namespace gpt2 {

// Whether values have the same bytes. == does not tell zeros apart, and no NaN equals another.
template <typename T>
bool AreSameBytes(std::span<const T> a, std::span<const T> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}
template <typename T>
bool IsSameBytes(const T& a, const T& b) {
  return AreSameBytes(std::span(&a, 1), std::span(&b, 1));
}

// `size` values of T. A kernel must not change those before and behind them.
template <typename T>
class Guarded {
 public:
  Guarded(std::size_t before, std::size_t size, std::size_t behind)
      : before_(before), size_(size), memory_(before + size + behind) {
    std::memset(static_cast<void*>(memory_.data()), kGuard, memory_.size() * sizeof(T));
  }

  T* data() { return memory_.data() + before_; }
  const T* data() const { return memory_.data() + before_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::size_t size() const { return size_; }
  std::span<const T> values() const { return {data(), size_}; }

  // Whether `value` is as it was before anything was written.
  static bool IsUntouched(const T& value) {
    T guard;
    std::memset(static_cast<void*>(&guard), kGuard, sizeof(T));
    return IsSameBytes(value, guard);
  }

  // The same bits, and nothing written outside. Two values that are not finite count as equal: the
  // engine stops there, and infinity or NaN depends on the order of operands.
  friend bool operator==(const Guarded& a, const Guarded& b) {
    if (!a.IsIntact() || !b.IsIntact()) return false;
    if (AreSameBytes(a.values(), b.values())) return true;  // one comparison for the usual case
    return std::ranges::equal(a.values(), b.values(), [](const T& x, const T& y) {
      if constexpr (std::is_same_v<T, float>) {
        if (!std::isfinite(x) && !std::isfinite(y)) return true;
      }
      return IsSameBytes(x, y);
    });
  }

 private:
  static constexpr unsigned char kGuard = 0x5a;

  bool IsIntact() const {
    return std::all_of(memory_.begin(), memory_.begin() + before_, IsUntouched) &&
           std::all_of(memory_.begin() + before_ + size_, memory_.end(), IsUntouched);
  }

  std::size_t before_;
  std::size_t size_;
  std::vector<T> memory_;
};

// Chooses the shapes of a case, and makes its values from a seed.
class Source {
 public:
  // A number from `least` to `most`. A benchmark takes `usual`, that of GPT-2 124M.
  using Choose = FunctionRef<std::size_t(std::size_t least, std::size_t most, std::size_t usual)>;

  // `behind` is how many values guard the end of each array. With 0, the address sanitizer does.
  // One value in `one_in` is special, such as NaN; 0: none.
  Source(Choose choose, std::uint64_t seed, std::size_t behind, std::uint64_t one_in = 0)
      : choose_(choose), random_(seed), behind_(behind), one_in_(one_in) {}

  std::size_t Size(std::size_t most, std::size_t usual) { return choose_(1, most, usual); }
  bool Flip() { return choose_(0, 1, 0) != 0; }
  float Shift() { return 40.0f * (static_cast<float>(choose_(0, 2, 1)) - 1); }

  // An array that may start misaligned.
  template <typename T>
  Guarded<T> Room(std::size_t size) {
    return {choose_(0, 3, 0), size, behind_};
  }
  Guarded<float> Floats(std::size_t size) {
    return Fill<float>(size, [&] { return Float(); });
  }
  template <typename T>
  Guarded<T> Codes(std::size_t size, int least) {
    return Fill<T>(size, [&] { return Code<T>(least); });
  }

  // From `least` to the largest T. The extreme ones are as likely as all others.
  template <typename T>
  T Code(int least) {
    constexpr int kMost = std::numeric_limits<T>::max();
    const std::uint64_t r = random_.Next();
    const int any = static_cast<int>(r / 4 % static_cast<std::uint64_t>(kMost + 1 - least)) + least;
    return static_cast<T>(r % 4 == 0 ? kMost : r % 4 == 1 ? least : any);
  }

  BFloat16 Scale() { return static_cast<BFloat16>(std::bit_cast<std::uint32_t>(Float()) >> 16); }
  float Float() {
    if (one_in_ != 0 && random_.Next() % one_in_ == 0) return Special();
    return static_cast<float>((random_.NextUnit() - 0.5) * 8);
  }

 private:
  template <typename T, typename Make>
  Guarded<T> Fill(std::size_t size, Make make) {
    Guarded<T> values = Room<T>(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = make();
    return values;
  }

  float Special() {
    using Limits = std::numeric_limits<float>;
    constexpr float kSpecial[] = {Limits::quiet_NaN(),
                                  Limits::infinity(),
                                  -Limits::infinity(),
                                  Limits::max(),
                                  Limits::lowest(),
                                  -Limits::min(),
                                  0.0f,
                                  -0.0f,
                                  Limits::denorm_min(),
                                  1e-30f,
                                  0.9e-30f,
                                  -1e20f,
                                  0.5f,
                                  88.1f,
                                  -87.4f,
                                  1e10f};
    return kSpecial[random_.Next() % std::size(kSpecial)];
  }

  Choose choose_;
  Random random_;
  std::size_t behind_;
  std::uint64_t one_in_;
};

}  // namespace gpt2
