// Cases of every kernel in kernels.inc: inputs of any shape, a call, and its outputs. Tests and the
// fuzz target compare each kernel with its plain twin on them. Benchmarks measure them.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/kernels/kernels.h"
#include "tests/kernels/case_source.h"

namespace gpt2 {

// The most tokens and groups of a case.
inline constexpr std::size_t kMostCaseTokens = 13, kMostCaseGroups = 200;

// One call of a kernel: Run, the arrays that it changes, and those that it only reads. IsRight, if
// it exists, finds errors that the kernel and its twin share. Most kernels change x [n] in place;
// the others follow.
template <typename Fn>
struct KernelCase {
  Guarded<float> x, delta;
  float beta;

  explicit KernelCase(Source& s)
      : x(s.Floats(s.Size(600, std::is_same_v<Fn, AddToFn> ? 768 : 3072))),
        delta(s.Floats(x.size())),
        beta(s.Flip() ? 1.0f : 1.702f) {}
  void Run(GeluTanhFn* kernel) { kernel(x.data(), x.size()); }  // GeluErf and Relu, too
  void Run(SwishFn* kernel) { kernel(x.data(), beta, x.size()); }
  void Run(AddToFn* kernel) { kernel(x.data(), delta.data(), x.size()); }
  auto Outputs() { return std::tie(x); }
  auto Inputs() { return std::tie(delta); }
};

template <>
struct KernelCase<QuantizeActivationsFn> {
  ActivationCodes kind;
  Guarded<float> x;
  std::size_t groups, places;
  Guarded<std::int8_t> codes;
  Guarded<float> scales;
  Guarded<std::int32_t> offsets;

  explicit KernelCase(Source& s)
      : kind(s.Flip() ? ActivationCodes::kSigned : ActivationCodes::kFromZero),
        x(s.Floats(s.Size(600, 3072))),
        groups(CeilDiv(x.size(), kGroup)),
        places((groups - 1) * kTokenBlock + 1),
        codes(s.Room<std::int8_t>(places * kGroup)),
        scales(s.Room<float>(places)),
        offsets(s.Room<std::int32_t>(places)) {
    const float shift = s.Shift();  // values of one sign, both, the other
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += shift;
  }
  void Run(QuantizeActivationsFn* kernel) {
    kernel(x.data(), x.size(), kind, codes.data(), scales.data(), offsets.data());
  }
  auto Outputs() { return std::tie(codes, scales, offsets); }
  auto Inputs() { return std::tie(x); }

  // Each code is within half a scale of the original, or within one if the zero is rounded, too.
  // Codes and offsets are in their range, and the places of other tokens do not change.
  bool IsRight() const {
    const bool is_signed = kind == ActivationCodes::kSigned;
    for (std::size_t place = 0; place < places; ++place) {
      const std::int8_t* const group = &codes[place * kGroup];
      if (place % kTokenBlock != 0) {
        if (!std::all_of(group, group + kGroup, codes.IsUntouched)) return false;
        if (!scales.IsUntouched(scales[place]) || !offsets.IsUntouched(offsets[place]))
          return false;
        continue;
      }
      std::vector<float> values(kGroup);
      const std::size_t first = place / kTokenBlock * kGroup;
      std::copy(x.data() + first, x.data() + std::min(first + kGroup, x.size()), values.begin());
      const bool is_usual =
          std::all_of(values.begin(), values.end(), [](float v) { return std::fabs(v) <= 1000; });
      if (!is_usual || scales[place] < 1e-20f) continue;
      const std::int32_t offset = offsets[place];
      for (std::size_t i = 0; i < kGroup; ++i) {
        const auto code = static_cast<float>(group[i] - (is_signed ? 0 : offset));
        const float most = scales[place] * (is_signed ? 0.5001f : 1.0001f);
        if (group[i] < (is_signed ? -127 : 0)) return false;
        if (std::fabs(scales[place] * code - values[i]) > most) return false;
      }
      const std::int32_t sum = std::accumulate(group, group + kGroup, 0);
      if (is_signed ? offset != -kQ4Zero * sum : offset < 0 || offset > 127) return false;
    }
    return true;
  }
};

// The result of a matmul, of which only the rows of `range` change.
struct MatmulResult {
  std::size_t tokens, rows;
  TileRange range;
  std::size_t stride;
  Guarded<float> y;

  explicit MatmulResult(Source& s)
      : tokens(s.Size(kMostCaseTokens, 1)),
        rows(s.Size(19, 384) * kTileRows),
        range(Range(s, rows / kTileRows)),
        stride(rows + (s.Flip() ? 3 : 0)),
        y(s.Room<float>((tokens - 1) * stride + rows)) {}
  static TileRange Range(Source& s, std::size_t tiles) {
    const std::size_t first = s.Size(tiles, 1) - 1;
    return {first, first + s.Size(tiles - first, tiles)};
  }
  MatView<float> View() { return {y.data(), tokens, rows, stride}; }
  auto Outputs() { return std::tie(y); }
  bool IsRight() const {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t tile = i % stride / kTileRows;
      const bool is_inside = tile >= range.first && tile < range.last && i % stride < rows;
      if (!is_inside && !y.IsUntouched(y[i])) return false;
    }
    return true;
  }
};

template <>
struct KernelCase<MatmulF32Fn> : MatmulResult {
  std::size_t cols, x_stride;
  Guarded<float> values, bias, x;

  explicit KernelCase(Source& s)
      : MatmulResult(s),
        cols(s.Size(200, 768)),
        x_stride(cols + (s.Flip() ? 1 : 0)),
        values(s.Floats(cols * rows)),
        bias(s.Floats(rows)),
        x(s.Floats((tokens - 1) * x_stride + cols)) {}
  void Run(MatmulF32Fn* kernel) {
    kernel({values.data(), bias.data(), cols}, {x.data(), tokens, cols, x_stride}, range, View());
  }
  auto Inputs() { return std::tie(values, bias, x); }
};

// Weights is TiledQ8 or TiledQ4.
template <typename Weights>
struct KernelCase<void(const Weights&, const QuantizedActivations&, TileRange, MatView<float>)>
    : MatmulResult {
  static constexpr bool kIsQ4 = std::is_same_v<Weights, TiledQ4>;
  using Block = std::conditional_t<kIsQ4, Q4Block, Q8Block>;
  std::size_t groups, places;
  Guarded<Block> blocks;
  Guarded<float> bias;
  Guarded<std::int8_t> x;
  Guarded<float> x_scales;
  Guarded<std::int32_t> offsets;

  // The groups of GPT-2 XL's last matrix are more than those that one token prepares at a time. The
  // weight reader refuses code -128, which a relaxed dot product takes all the same.
  explicit KernelCase(Source& s)
      : MatmulResult(s),
        groups(s.Size(kMostCaseGroups, 24)),
        // Up to the last token's last group: the kernel reads nothing after it.
        places(QuantizedActivations::Place(tokens - 1, groups - 1, groups) + 1),
        blocks(s.Room<Block>(rows / kTileRows * groups)),
        bias(s.Floats(rows)),
        x(s.Codes<std::int8_t>(places * kGroup, kIsQ4 ? -127 : 0)),
        x_scales(s.Floats(places)),
        offsets(s.Room<std::int32_t>(places)) {
    for (std::size_t i = 0; i < blocks.size(); ++i) FillBlock(s, blocks[i]);
    for (std::size_t i = 0; i < places; ++i) {
      const std::int8_t* const group = &x[i * kGroup];
      offsets[i] = kIsQ4 ? -kQ4Zero * std::accumulate(group, group + kGroup, 0)
                         : s.Code<std::int8_t>(/*least=*/0);
    }
  }
  template <typename Fn>
  void Run(Fn* kernel) {
    kernel(Weights{blocks.data(), bias.data(), groups},
           {x.data(), x_scales.data(), offsets.data(), tokens, groups}, range, View());
  }
  auto Inputs() { return std::tie(blocks, bias, x, x_scales, offsets); }

 private:
  static void FillBlock(Source& s, Block& block) {
    using Code = std::remove_reference_t<decltype(block.codes[0])>;
    for (Code& code : block.codes) code = s.Code<Code>(kIsQ4 ? 0 : -128);
    for (BFloat16& scale : block.scales) scale = s.Scale();
    if constexpr (!kIsQ4) {
      for (std::size_t lane = 0; lane < kTileRows; ++lane) {
        int sum = 0;
        for (std::size_t k = 0; k < kGroup; ++k) {
          sum += block.codes[(k / kStepInputs * kTileRows + lane) * kStepInputs + k % kStepInputs];
        }
        block.negative_sums[lane] = static_cast<std::int16_t>(-sum);
      }
    }
  }
};

template <>
struct KernelCase<LayerNormFn> {
  std::size_t n;
  Guarded<float> x, gain, bias, y;
  float epsilon;
  bool is_in_place;

  explicit KernelCase(Source& s)
      : n(s.Size(600, 768)),
        x(s.Floats(n)),
        gain(s.Floats(n)),
        bias(s.Floats(n)),
        y(s.Room<float>(n)),
        epsilon(s.Flip() ? std::fabs(s.Float()) : 1e-5f),
        is_in_place(s.Flip()) {}
  void Run(LayerNormFn* kernel) {
    kernel(x.data(), gain.data(), bias.data(), epsilon, n, is_in_place ? x.data() : y.data());
  }
  auto Outputs() { return std::tie(x, y); }
  auto Inputs() { return std::tie(gain, bias); }
};

// One head's query, and its result.
struct AttentionCase {
  std::size_t dim, padded, positions, room;
  Guarded<float> q, out;

  explicit AttentionCase(Source& s)
      : dim(s.Size(kMaxHeadDim, 64)),
        padded(RoundUp(dim, 4)),
        positions(s.Size(100, 512)),
        room(RoundUp(positions, kKvBlock)),
        q(s.Floats(dim)),
        out(s.Room<float>(dim)) {}
  auto Outputs() { return std::tie(out); }
};

template <>
struct KernelCase<AttendF32Fn> : AttentionCase {
  Guarded<float> keys, values;

  explicit KernelCase(Source& s)
      : AttentionCase(s), keys(s.Floats(positions * padded)), values(s.Floats(positions * padded)) {
    for (std::size_t p = 0; p < positions; ++p) {  // padding is zero, as the cache keeps it
      for (std::size_t d = dim; d < padded; ++d) keys[p * padded + d] = values[p * padded + d] = 0;
    }
  }
  void Run(AttendF32Fn* kernel) {
    kernel(q.data(), {keys.data(), values.data(), padded}, dim, positions, out.data());
  }
  auto Inputs() { return std::tie(q, keys, values); }
};

template <>
struct KernelCase<AttendQ8Fn> : AttentionCase {
  Guarded<std::int8_t> keys, values;
  Guarded<float> key_scales, value_scales;

  explicit KernelCase(Source& s)
      : AttentionCase(s),
        keys(s.Codes<std::int8_t>(room * padded, /*least=*/-127)),
        values(s.Codes<std::int8_t>(room * padded, /*least=*/-127)),
        key_scales(s.Floats(room)),
        value_scales(s.Floats(room)) {
    for (std::size_t p = 0; p < room; ++p) {  // quantizing gives scales from 0 to infinity
      for (float* scale : {&key_scales[p], &value_scales[p]}) {
        *scale = std::isnan(*scale) ? 0.0f : std::fabs(*scale);
      }
    }
  }
  void Run(AttendQ8Fn* kernel) {
    kernel(q.data(), {keys.data(), values.data(), key_scales.data(), value_scales.data(), padded},
           dim, positions, out.data());
  }
  auto Inputs() { return std::tie(q, keys, values, key_scales, value_scales); }
};

template <>
struct KernelCase<StoreQ8Fn> {
  std::size_t dim, padded, room, count;
  std::vector<std::size_t> positions;
  Guarded<std::int8_t> keys, values;
  Guarded<float> key_scales, value_scales, new_keys, new_values;

  explicit KernelCase(Source& s)
      : dim(s.Size(kMaxHeadDim, 64)),
        padded(RoundUp(dim, 4)),
        room(RoundUp(s.Size(100, 1), kKvBlock)),
        count(s.Size(6, 1)),
        keys(s.Room<std::int8_t>(room * padded)),
        values(s.Room<std::int8_t>(room * padded)),
        key_scales(s.Floats(room)),
        value_scales(s.Floats(room)),
        new_keys(s.Floats(count * dim)),
        new_values(s.Floats(count * dim)) {
    std::fill_n(keys.data(), keys.size(), std::int8_t{0});
    std::fill_n(values.data(), values.size(), std::int8_t{0});
    for (std::size_t i = 0; i < count; ++i) positions.push_back(s.Size(room, 8) - 1);
  }
  void Run(StoreQ8Fn* kernel) {
    for (std::size_t i = 0; i < count; ++i) {
      kernel(&new_keys[i * dim], &new_values[i * dim], dim, positions[i],
             {keys.data(), values.data(), key_scales.data(), value_scales.data(), padded});
    }
  }
  auto Outputs() { return std::tie(keys, values, key_scales, value_scales); }
  auto Inputs() { return std::tie(new_keys, new_values); }
};

template <>
struct KernelCase<SoftmaxStatsFn> {
  Guarded<float> x, sums;  // [n]; maximum and sum

  explicit KernelCase(Source& s) : x(s.Floats(s.Size(600, 50257))), sums(s.Room<float>(2)) {}
  void Run(SoftmaxStatsFn* kernel) {
    const SoftmaxSums result = kernel(x.data(), x.size());
    sums[0] = result.maximum;
    sums[1] = result.sum;
  }
  auto Outputs() { return std::tie(sums); }
  auto Inputs() { return std::tie(x); }
  bool IsRight() const {
    const float* const end = x.data() + x.size();
    return !std::all_of(x.data(), end, [](float v) { return std::isfinite(v); }) ||
           sums[0] == *std::max_element(x.data(), end);
  }
};

// What is wrong with `fast` beside its plain twin in a case from `s`; "" if nothing is.
template <typename Fn>
std::string_view FindFault(Source& s, Fn* fast, Fn* plain) {
  KernelCase<Fn> found(s);
  KernelCase<Fn> expected = found;
  found.Run(fast);
  expected.Run(plain);
  if constexpr (requires { expected.IsRight(); }) {
    if (!expected.IsRight()) return "the twin is wrong";
  }
  if (found.Inputs() != expected.Inputs()) return "an input has changed, or values around it";
  if (found.Outputs() != expected.Outputs()) return "the outputs differ, or values around them";
  return "";
}

}  // namespace gpt2
