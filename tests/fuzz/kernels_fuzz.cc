// Compares every kernel of kernels.inc with its reference twin, on any shape and any values, NaN
// and infinities among them. Arrays end where the address sanitizer's red zone begins; it guards
// their beginning, too, unless they start misaligned.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/random.h"
#include "engine/kernels/kernels.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {
namespace {

// `size` values of T that start `offset` values into their memory.
template <typename T>
class Guarded {
 public:
  Guarded(std::size_t offset, std::size_t size) : offset_(offset), memory_(offset + size) {
    std::memset(static_cast<void*>(memory_.data()), kGuard, memory_.size() * sizeof(T));
  }
  ~Guarded() {
    const auto* bytes = reinterpret_cast<const unsigned char*>(memory_.data());
    const bool is_whole = std::all_of(bytes, bytes + offset_ * sizeof(T),
                                      [](unsigned char byte) { return byte == kGuard; });
    Check(is_whole, "written before the beginning");
  }
  Guarded(const Guarded&) = default;

  T* data() { return memory_.data() + offset_; }
  T& operator[](std::size_t i) { return data()[i]; }
  std::size_t size() const { return memory_.size() - offset_; }

 private:
  static constexpr unsigned char kGuard = 0x5a;
  std::size_t offset_;
  std::vector<T> memory_;
};

// Draws shapes from the fuzzer's input, and values from a seed in it, because there are too many.
class Source {
 public:
  explicit Source(FuzzedDataProvider& input)
      : input_(input),
        random_(input.ConsumeIntegral<std::uint64_t>()),
        one_in_(input.PickValueInArray<std::uint64_t>({0, 2, 64})) {}

  // A size, mostly small, so that many are tried, and sometimes up to `most`.
  std::size_t Size(std::size_t most) {
    const std::size_t usual = std::min<std::size_t>(most, 40);
    const bool is_large = input_.ConsumeIntegralInRange<int>(0, 31) == 31;
    return input_.ConsumeIntegralInRange<std::size_t>(1, is_large ? most : usual);
  }
  bool Flip() { return input_.ConsumeBool(); }

  template <typename T>
  Guarded<T> Room(std::size_t size) {
    return {input_.ConsumeIntegralInRange<std::size_t>(0, 3), size};
  }
  Guarded<float> Floats(std::size_t size) {
    Guarded<float> values = Room<float>(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = Float();
    return values;
  }
  // Codes from `least` to 127, the extreme ones as likely as all others.
  Guarded<std::int8_t> Codes(std::size_t size, int least) {
    Guarded<std::int8_t> codes = Room<std::int8_t>(size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t r = random_.Next();
      const auto any = static_cast<int>(r / 4 % static_cast<std::uint64_t>(128 - least)) + least;
      codes[i] = static_cast<std::int8_t>(r % 4 == 0 ? 127 : r % 4 == 1 ? least : any);
    }
    return codes;
  }
  Guarded<std::uint8_t> Bytes(std::size_t size) {
    Guarded<std::uint8_t> bytes = Room<std::uint8_t>(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(random_.Next());
    return bytes;
  }
  Guarded<BFloat16> Scales(std::size_t size) {
    Guarded<BFloat16> scales = Room<BFloat16>(size);
    for (std::size_t i = 0; i < size; ++i) {
      scales[i] = static_cast<BFloat16>(std::bit_cast<std::uint32_t>(Float()) >> 16);
    }
    return scales;
  }

  float Float() {
    if (one_in_ != 0 && random_.Next() % one_in_ == 0) return Special();
    return static_cast<float>((random_.NextUnit() - 0.5) * 8);
  }

 private:
  float Special() {
    using Limits = std::numeric_limits<float>;
    constexpr float kSpecial[] = {Limits::quiet_NaN(),
                                  Limits::infinity(),
                                  -Limits::infinity(),
                                  Limits::max(),
                                  Limits::lowest(),
                                  Limits::denorm_min(),
                                  -Limits::min(),
                                  0.0f,
                                  -0.0f,
                                  1e-30f,
                                  0.9e-30f,
                                  -1e20f,
                                  0.5f,
                                  88.1f,
                                  -87.4f,
                                  1e10f};
    return kSpecial[random_.Next() % std::size(kSpecial)];
  }

  FuzzedDataProvider& input_;
  Random random_;
  std::uint64_t one_in_;  // one value in this many is special; 0: none
};

// Expects the same bits. Of values that are not finite it expects only that both are not finite.
// The engine stops there, and infinity or NaN depends on the order of operands.
bool IsSame(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (!std::isfinite(a) && !std::isfinite(b));
}
bool IsSame(std::int8_t a, std::int8_t b) {
  return a == b;
}
bool IsSame(std::int32_t a, std::int32_t b) {
  return a == b;
}

template <typename T>
void CheckSame(Guarded<T>& fast, Guarded<T>& plain, std::string_view what) {
  for (std::size_t i = 0; i < plain.size(); ++i) {
    Check(IsSame(fast[i], plain[i]), what);
  }
}

void Compare(Source& s, QuantizeActivationsFn* fast, QuantizeActivationsFn* plain) {
  const std::size_t cols = s.Size(600), groups = CeilDiv(cols, kGroup);
  const auto kind = s.Flip() ? ActivationCodes::kFromZero : ActivationCodes::kSigned;
  Guarded<float> x = s.Floats(cols);
  const std::size_t places = (groups - 1) * kTokenBlock + 1;
  auto codes = s.Room<std::int8_t>(places * kGroup), codes_2 = codes;
  auto scales = s.Room<float>(places), scales_2 = scales;
  auto offsets = s.Room<std::int32_t>(places), offsets_2 = offsets;
  fast(x.data(), cols, kind, codes.data(), scales.data(), offsets.data());
  plain(x.data(), cols, kind, codes_2.data(), scales_2.data(), offsets_2.data());
  CheckSame(codes, codes_2, "codes");
  CheckSame(scales, scales_2, "scales");
  CheckSame(offsets, offsets_2, "offsets");
}

// Rows of y outside `tiles` do not change.
template <typename Fn, typename Weights, typename Activations>
void CompareMatmul(Source& s, Fn* fast, Fn* plain, const Weights& w, const Activations& x,
                   std::size_t tokens, std::size_t tiles) {
  const std::size_t first = s.Size(tiles) - 1;
  const TileRange range{first, first + s.Size(tiles - first)};
  const std::size_t stride = tiles * kTileRows + (s.Flip() ? 3 : 0);
  Guarded<float> y = s.Room<float>((tokens - 1) * stride + tiles * kTileRows), y_2 = y;
  fast(w, x, range, {y.data(), tokens, tiles * kTileRows, stride});
  plain(w, x, range, {y_2.data(), tokens, tiles * kTileRows, stride});
  CheckSame(y, y_2, "y");
}

void Compare(Source& s, MatmulF32Fn* fast, MatmulF32Fn* plain) {
  const std::size_t cols = s.Size(200), tokens = s.Size(9), tiles = s.Size(3);
  const std::size_t stride = cols + (s.Flip() ? 1 : 0);
  Guarded<float> values = s.Floats(tiles * cols * kTileRows), bias = s.Floats(tiles * kTileRows);
  Guarded<float> x = s.Floats((tokens - 1) * stride + cols);
  CompareMatmul(s, fast, plain, TiledF32{values.data(), bias.data(), cols},
                MatView<const float>{x.data(), tokens, cols, stride}, tokens, tiles);
}

// The inputs' codes are at least `least`; `make_offset(codes)` gives a group's offset.
template <typename Weights, typename Fn, typename Codes, typename MakeOffset>
void CompareQuantized(Source& s, Fn* fast, Fn* plain, std::size_t tiles, std::size_t groups,
                      Codes codes, int least, MakeOffset make_offset) {
  const std::size_t tokens = s.Size(9);
  // The arrays end with the last token's last group; the kernel reads nothing after it.
  const std::size_t places = QuantizedActivations::Place(tokens - 1, groups - 1, groups) + 1;
  Guarded<BFloat16> scales = s.Scales(tiles * groups * kTileRows);
  Guarded<float> bias = s.Floats(tiles * kTileRows), x_scales = s.Floats(places);
  Guarded<std::int8_t> x = s.Codes(places * kGroup, least);
  auto offsets = s.Room<std::int32_t>(places);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = make_offset(&x[i * kGroup]);
  CompareMatmul(s, fast, plain, Weights{codes.data(), scales.data(), bias.data(), groups},
                QuantizedActivations{x.data(), x_scales.data(), offsets.data(), tokens, groups},
                tokens, tiles);
}

// The weight reader refuses code -128, but a relaxed dot product accepts it.
void Compare(Source& s, MatmulQ8Fn* fast, MatmulQ8Fn* plain) {
  // GPT-2 XL's last matrix has 200 groups, more than a kernel sums at a time.
  const std::size_t tiles = s.Size(3), groups = s.Size(200);
  CompareQuantized<TiledQ8>(
      s, fast, plain, tiles, groups, s.Codes(tiles * groups * kGroup * kTileRows, /*least=*/-128),
      /*least=*/0,
      [&](const std::int8_t*) { return static_cast<int>(s.Codes(1, /*least=*/0)[0]); });
}

void Compare(Source& s, MatmulQ4Fn* fast, MatmulQ4Fn* plain) {
  const std::size_t tiles = s.Size(3), groups = s.Size(4);
  CompareQuantized<TiledQ4>(
      s, fast, plain, tiles, groups, s.Bytes(tiles * groups * kGroup * kTileRows / 2),
      /*least=*/-127, [](const std::int8_t* codes) {
        return -kQ4Zero * std::accumulate(codes, codes + kGroup, std::int32_t{0});
      });
}

void Compare(Source& s, LayerNormFn* fast, LayerNormFn* plain) {
  const std::size_t n = s.Size(600);
  Guarded<float> x = s.Floats(n), x_2 = x, gain = s.Floats(n), bias = s.Floats(n);
  Guarded<float> y = s.Room<float>(n), y_2 = y;
  const float epsilon = s.Flip() ? 1e-5f : std::fabs(s.Float());
  if (s.Flip()) {  // y may be x
    fast(x.data(), gain.data(), bias.data(), epsilon, n, x.data());
    plain(x_2.data(), gain.data(), bias.data(), epsilon, n, x_2.data());
    return CheckSame(x, x_2, "in place");
  }
  fast(x.data(), gain.data(), bias.data(), epsilon, n, y.data());
  plain(x.data(), gain.data(), bias.data(), epsilon, n, y_2.data());
  CheckSame(y, y_2, "y");
}

void Compare(Source& s, GeluTanhFn* fast, GeluTanhFn* plain) {
  const std::size_t n = s.Size(600);
  Guarded<float> x = s.Floats(n), x_2 = x;
  fast(x.data(), n);
  plain(x_2.data(), n);
  CheckSame(x, x_2, "x");
}

void Compare(Source& s, SwishFn* fast, SwishFn* plain) {
  const std::size_t n = s.Size(600);
  Guarded<float> x = s.Floats(n), x_2 = x;
  const float beta = s.Flip() ? 1.0f : 1.702f;
  fast(x.data(), beta, n);
  plain(x_2.data(), beta, n);
  CheckSame(x, x_2, "x");
}

void Compare(Source& s, AddToFn* fast, AddToFn* plain) {
  const std::size_t n = s.Size(600);
  Guarded<float> x = s.Floats(n), x_2 = x, delta = s.Floats(n);
  fast(x.data(), delta.data(), n);
  plain(x_2.data(), delta.data(), n);
  CheckSame(x, x_2, "x");
}

void Compare(Source& s, AttendF32Fn* fast, AttendF32Fn* plain) {
  const std::size_t dim = s.Size(kMaxHeadDim), padded = RoundUp(dim, 4), positions = s.Size(100);
  Guarded<float> keys = s.Floats(positions * padded), values = s.Floats(positions * padded);
  for (std::size_t p = 0; p < positions; ++p) {  // padding is zero, as the cache keeps it
    for (std::size_t d = dim; d < padded; ++d) keys[p * padded + d] = values[p * padded + d] = 0;
  }
  Guarded<float> q = s.Floats(dim), out = s.Room<float>(dim), out_2 = out;
  const KvHeadF32 kv{keys.data(), values.data(), padded};
  fast(q.data(), kv, dim, positions, out.data());
  plain(q.data(), kv, dim, positions, out_2.data());
  CheckSame(out, out_2, "out");
}

void Compare(Source& s, StoreQ8Fn* fast, StoreQ8Fn* plain) {
  const std::size_t dim = s.Size(kMaxHeadDim), padded = RoundUp(dim, 4);
  const std::size_t room = RoundUp(s.Size(100), kKvBlock);
  auto keys = s.Room<std::int8_t>(room * padded), values = keys;
  std::fill_n(keys.data(), keys.size(), std::int8_t{0});
  std::fill_n(values.data(), values.size(), std::int8_t{0});
  auto keys_2 = keys, values_2 = values;
  auto scales = s.Floats(room), value_scales = scales, scales_2 = scales, value_scales_2 = scales;
  for (std::size_t count = s.Size(6); count > 0; --count) {
    Guarded<float> key = s.Floats(dim), value = s.Floats(dim);
    const std::size_t position = s.Size(room) - 1;
    fast(key.data(), value.data(), dim, position,
         {keys.data(), values.data(), scales.data(), value_scales.data(), padded});
    plain(key.data(), value.data(), dim, position,
          {keys_2.data(), values_2.data(), scales_2.data(), value_scales_2.data(), padded});
  }
  CheckSame(keys, keys_2, "keys");
  CheckSame(values, values_2, "values");
  CheckSame(scales, scales_2, "key scales");
  CheckSame(value_scales, value_scales_2, "value scales");
}

void Compare(Source& s, AttendQ8Fn* fast, AttendQ8Fn* plain) {
  const std::size_t dim = s.Size(kMaxHeadDim), padded = RoundUp(dim, 4), positions = s.Size(100);
  const std::size_t room = RoundUp(positions, kKvBlock);
  auto keys = s.Codes(room * padded, /*least=*/-127), values = s.Codes(room * padded, -127);
  Guarded<float> key_scales = s.Floats(room), value_scales = s.Floats(room);
  // Quantizing gives scales from 0 to infinity.
  for (std::size_t p = 0; p < room; ++p) {
    for (float* scale : {&key_scales[p], &value_scales[p]}) {
      *scale = std::isnan(*scale) ? 0.0f : std::fabs(*scale);
    }
  }
  Guarded<float> q = s.Floats(dim), out = s.Room<float>(dim), out_2 = out;
  const KvHeadQ8 kv{keys.data(), values.data(), key_scales.data(), value_scales.data(), padded};
  fast(q.data(), kv, dim, positions, out.data());
  plain(q.data(), kv, dim, positions, out_2.data());
  CheckSame(out, out_2, "out");
}

void Compare(Source& s, SoftmaxStatsFn* fast, SoftmaxStatsFn* plain) {
  const std::size_t n = s.Size(600);
  Guarded<float> x = s.Floats(n);
  const SoftmaxSums a = fast(x.data(), n), b = plain(x.data(), n);
  Check(IsSame(a.maximum, b.maximum), "maximum");
  Check(IsSame(a.sum, b.sum), "sum");
}

// A kernel of a new type does not compile until it has a Compare.
using Case = void (*)(Source&);
std::vector<Case> Cases() {
  std::vector<Case> cases;
#define KERNEL(operation, isa)                                                                \
  if (std::string_view(#isa) != "Reference") {                                                \
    cases.push_back([](Source& s) { Compare(s, operation##_##isa, operation##_Reference); }); \
  }
#include "engine/kernels/kernels.inc"
  return cases;
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2::fuzz;
  static const std::vector<Case> cases = Cases();
  FuzzedDataProvider input(data, size);
  const Case run = cases[input.ConsumeIntegralInRange<std::size_t>(0, cases.size() - 1)];
  Source source(input);
  run(source);
  return 0;
}
