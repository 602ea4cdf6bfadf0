// Exact integer dot products, four inputs to a 32-bit lane, in the three ways that wasm offers.
// Kernels are templates over one of these classes (DotProduct lists what they need); all give the
// same integers.
//
// A vector of weights holds four rows of four neighbouring inputs:
//   | r0: i0 i1 i2 i3 | r1 | r2 | r3 |
// A vector of inputs holds the same four inputs four times. A vector of 4-bit weights holds two
// such steps: the low nibbles, and the high nibbles for the next four inputs.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "engine/kernels/layout.h"
#include "engine/kernels/simd.h"

namespace gpt2::simd {

// `kValue` in all lanes, hidden from a browser's compiler, which therefore keeps it in a register.
// It would recreate a known constant at each use: three instructions in V8 on x64.
template <std::int8_t kValue>
v128_t HiddenI8x16() {
  static const volatile std::int8_t value = kValue;
  return wasm_i8x16_splat(value);
}
template <std::int16_t kValue>
v128_t HiddenI16x8() {
  static const volatile std::int16_t value = kValue;
  return wasm_i16x8_splat(value);
}

// The operations that kernels need from a dot product. Each kernel has its own object, which holds
// constants. A sum begins with Start, adds products with Add and returns its four lanes with
// Finish. `negative` is the sum of the magnitudes of the inputs that are below zero.
template <typename D>
concept DotProduct = requires(const D dot, typename D::Sum sum, typename D::NibbleSum nibble_sum,
                              const void* weights, const std::int8_t* inputs,
                              const std::int32_t* zero, std::int32_t negative) {
  { D::kTokens } -> std::convertible_to<int>;            // of a matmul that share a weight load
  { D::kKeyQuads } -> std::convertible_to<std::size_t>;  // of attention that share a query load

  // 8-bit weights, 16 bytes, and one step's inputs of a group of signed ones, -127..127, which is
  // prepared once for all rows.
  { dot.LoadWeights(weights) } -> std::same_as<typename D::Weights>;
  { dot.PrepareGroup(inputs) } -> std::same_as<typename D::SignedGroup>;
  { dot.LoadInput(dot.PrepareGroup(inputs), std::size_t{}) } -> std::same_as<typename D::Input>;
  dot.Add(sum, dot.LoadWeights(weights), dot.LoadInput(dot.PrepareGroup(inputs), std::size_t{}));
  dot.Finish(sum, negative);

  // The same where the inputs are 0..127, 4 bytes for each step.
  { dot.LoadNonNegative(inputs) } -> std::same_as<typename D::NonNegative>;
  dot.AddNonNegative(sum, dot.LoadWeights(weights), dot.LoadNonNegative(inputs));
  dot.FinishNonNegative(sum);

  // The same for activations: codes 0..127 from which `zero` is subtracted. Either their sum starts
  // at minus zero times the sum of the weights, or each input is reduced by zero.
  { dot.LoadZero(zero) } -> std::same_as<typename D::Zero>;
  { dot.LoadActivation(inputs, dot.LoadZero(zero)) } -> std::same_as<typename D::NonNegative>;
  { dot.Start(dot.LoadZero(zero), dot.LoadZero(zero)) } -> std::same_as<typename D::Sum>;

  // 4-bit weights: 16 bytes, and the 8 bytes of a step pair's inputs. A sum covers at most one
  // group and starts at an offset, which both ends receive: a class may add it last.
  { dot.StartNibbles(zero) } -> std::same_as<typename D::NibbleSum>;
  { dot.LoadNibbles(weights) } -> std::same_as<typename D::Nibbles>;
  { dot.LoadNibbleInput(inputs) } -> std::same_as<typename D::NibbleInput>;
  dot.AddNibbles(nibble_sum, dot.LoadNibbles(weights), dot.LoadNibbleInput(inputs));
  dot.FinishNibbles(nibble_sum, zero);
};

// Plain SIMD128: widen to 16 bits, multiply, add pairs. A sum is kept as two vectors whose
// neighbouring lanes belong together, | r0 r0 r1 r1 | r2 r2 r3 r3 |, until Finish adds them.
struct PlainDot {
  static constexpr int kTokens = 2;  // tokens that share a weight load: 8 sums fill the registers
  static constexpr std::size_t kKeyQuads = 4;  // sums of attention's keys, two registers each

  struct Weights {
    v128_t low, high;
  };
  struct Sum {
    v128_t low = wasm_i32x4_splat(0);
    v128_t high = wasm_i32x4_splat(0);
  };

  static Weights LoadWeights(const void* codes) {
    // Two loads that widen: V8 on x64 needs two instructions to widen the upper half of a vector.
    const auto* bytes = static_cast<const std::int8_t*>(codes);
    return {wasm_i16x8_load8x8(bytes), wasm_i16x8_load8x8(bytes + 8)};
  }

  struct SignedGroup {
    v128_t steps[kGroupSteps];  // not split when it is loaded: V8's revectorizer stops there
  };
  using Input = v128_t;

  static SignedGroup PrepareGroup(const std::int8_t* codes) {
    SignedGroup group;
    for (std::size_t step = 0; step < kGroupSteps; ++step) {
      group.steps[step] = LoadNonNegative(codes + step * kStepInputs);
    }
    return group;
  }

  static Input LoadInput(const SignedGroup& group, std::size_t step) { return group.steps[step]; }

  static void Add(Sum& sum, const Weights& w, Input input) {
    sum.low = wasm_i32x4_add(sum.low, wasm_i32x4_dot_i16x8(w.low, input));
    sum.high = wasm_i32x4_add(sum.high, wasm_i32x4_dot_i16x8(w.high, input));
  }

  // Inputs in 0..127 need no special handling here.
  using NonNegative = Input;
  static NonNegative LoadNonNegative(const std::int8_t* codes) {
    return wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(codes));
  }
  static void AddNonNegative(Sum& sum, const Weights& w, NonNegative input) { Add(sum, w, input); }
  static v128_t FinishNonNegative(const Sum& sum) { return Finish(sum, /*negative=*/0); }

  // Widened inputs can hold the difference.
  using Zero = v128_t;
  static Zero LoadZero(const std::int32_t* zero) { return wasm_v128_load16_splat(zero); }
  static NonNegative LoadActivation(const std::int8_t* codes, v128_t zero) {
    return wasm_i16x8_sub(LoadNonNegative(codes), zero);
  }
  static Sum Start(v128_t /*negative_sum*/, v128_t /*zero*/) { return {}; }

  // The four sums. `negative`: see DotProduct.
  static v128_t Finish(const Sum& sum, std::int32_t /*negative*/) {
    return wasm_i32x4_add(wasm_i32x4_shuffle(sum.low, sum.high, 0, 2, 4, 6),
                          wasm_i32x4_shuffle(sum.low, sum.high, 1, 3, 5, 7));
  }

  // Nibbles widen for free where every second input has its own vector: shifts of 16-bit lanes cut
  // them out. [step of the pair][inputs 0 and 2, inputs 1 and 3]
  struct Nibbles {
    v128_t codes[2][2];
  };
  struct NibbleInput {
    v128_t codes[2][2];
  };
  using NibbleSum = v128_t;

  static NibbleSum StartNibbles(const std::int32_t* offset) {
    return wasm_v128_load32_splat(offset);
  }
  static v128_t FinishNibbles(NibbleSum sum, const std::int32_t* /*offset*/) { return sum; }

  v128_t mask = HiddenI16x8<15>();

  Nibbles LoadNibbles(const void* codes) const {
    const v128_t v = wasm_v128_load(codes);
    return {{{wasm_v128_and(v, mask), wasm_v128_and(wasm_u16x8_shr(v, 8), mask)},
             {wasm_v128_and(wasm_u16x8_shr(v, 4), mask), wasm_u16x8_shr(v, 12)}}};
  }

  static NibbleInput LoadNibbleInput(const std::int8_t* codes) {
    NibbleInput input;
    for (int step = 0; step < 2; ++step) {
      const v128_t v = wasm_v128_load32_splat(codes + 4 * step);
      input.codes[step][0] = wasm_i16x8_shr(wasm_i16x8_shl(v, 8), 8);
      input.codes[step][1] = wasm_i16x8_shr(v, 8);
    }
    return input;
  }

  static void AddNibbles(NibbleSum& sum, const Nibbles& w, const NibbleInput& input) {
    for (int step = 0; step < 2; ++step) {
      for (int odd = 0; odd < 2; ++odd) {
        sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(w.codes[step][odd], input.codes[step][odd]));
      }
    }
  }
};

static_assert(DotProduct<PlainDot>);

#ifdef __wasm_relaxed_simd__
// Whether the relaxed dot products give the exact result wherever the specification defines it.
bool RelaxedDotIsExact();

// Whether a dot product of four consists of two dot products of pairs here. A second operand beyond
// 127 reveals it: sums of pairs saturate at 16 bits. Then RelaxedPairDot is faster.
bool RelaxedDotIsMadeOfPairs();

// Relaxed SIMD: one instruction for sixteen products. The specification defines its result only for
// a second operand in 0..127. So the input's magnitude is the second operand, and its sign moves to
// the weight. Where x < 0, w x = -w |x|, and -w = ~w + 1. So all bits of w are flipped, and Finish
// adds |x| once more for all inputs together. Pairs stay within 2 * 128 * 127 < 2^15: no
// saturation.
struct RelaxedDot {
  static constexpr int kTokens = 4;
  static constexpr std::size_t kKeyQuads = 8;

  v128_t mask = HiddenI8x16<15>();

  using Weights = v128_t;
  struct SignedGroup {
    alignas(16) std::int8_t magnitudes[kGroup];
    alignas(16) std::int8_t signs[kGroup];  // all bits set where the input is negative
  };
  struct Input {
    v128_t magnitude, sign;
  };
  struct Sum {
    v128_t lanes = wasm_i32x4_splat(0);
  };

  static Weights LoadWeights(const void* codes) { return wasm_v128_load(codes); }

  static SignedGroup PrepareGroup(const std::int8_t* codes) {
    SignedGroup group;
    for (std::size_t i = 0; i < kGroup; i += 16) {
      const v128_t v = wasm_v128_load(codes + i);
      wasm_v128_store(group.magnitudes + i, wasm_i8x16_abs(v));
      wasm_v128_store(group.signs + i, wasm_i8x16_shr(v, 7));
    }
    return group;
  }

  static Input LoadInput(const SignedGroup& group, std::size_t step) {
    return {wasm_v128_load32_splat(group.magnitudes + step * kStepInputs),
            wasm_v128_load32_splat(group.signs + step * kStepInputs)};
  }

  static void Add(Sum& sum, Weights w, const Input& input) {
    sum.lanes = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_v128_xor(w, input.sign),
                                                       input.magnitude, sum.lanes);
  }

  using NonNegative = v128_t;
  static NonNegative LoadNonNegative(const std::int8_t* codes) {
    return wasm_v128_load32_splat(codes);
  }
  static void AddNonNegative(Sum& sum, Weights w, NonNegative input) {
    sum.lanes = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(w, input, sum.lanes);
  }
  static v128_t FinishNonNegative(const Sum& sum) { return sum.lanes; }

  using Zero = v128_t;
  static Zero LoadZero(const std::int32_t* zero) { return wasm_v128_load32_splat(zero); }
  static NonNegative LoadActivation(const std::int8_t* codes, v128_t /*zero*/) {
    return LoadNonNegative(codes);
  }
  // Both fit 16 bits, and `zero` is not negative: the upper halves of its lanes are zero.
  static Sum Start(v128_t negative_sum, v128_t zero) {
    return {wasm_i32x4_dot_i16x8(negative_sum, zero)};
  }

  // `negative`: see DotProduct.
  static v128_t Finish(const Sum& sum, std::int32_t negative) {
    return wasm_i32x4_add(sum.lanes, wasm_i32x4_splat(negative));
  }

  // Nibbles are never negative, so they can be the second operand directly.
  struct Nibbles {
    v128_t codes[2];  // [step of the pair]
  };
  struct NibbleInput {
    v128_t codes[2];
  };
  using NibbleSum = v128_t;

  static NibbleSum StartNibbles(const std::int32_t* offset) {
    return wasm_v128_load32_splat(offset);
  }
  static v128_t FinishNibbles(NibbleSum sum, const std::int32_t* /*offset*/) { return sum; }

  Nibbles LoadNibbles(const void* codes) const {
    const v128_t v = wasm_v128_load(codes);
    return {{wasm_v128_and(v, mask), wasm_v128_and(wasm_u16x8_shr(v, 4), mask)}};
  }

  static NibbleInput LoadNibbleInput(const std::int8_t* codes) {
    return {{wasm_v128_load32_splat(codes), wasm_v128_load32_splat(codes + 4)}};
  }

  static void AddNibbles(NibbleSum& sum, const Nibbles& w, const NibbleInput& input) {
    for (int step = 0; step < 2; ++step) {
      sum = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(input.codes[step], w.codes[step], sum);
    }
  }
};
static_assert(DotProduct<RelaxedDot>);

// Relaxed SIMD for processors without an instruction for it (x64 before AVX-VNNI). There, a browser
// compiles RelaxedDot's product to five instructions, two of them for a constant. Products summed
// in pairs take one; pairs of those are added here. Sums that fit 16 bits stay there for a whole
// group.
struct RelaxedPairDot : RelaxedDot {
  v128_t pair_ones = HiddenI16x8<1>();

  void Add(Sum& sum, Weights w, const Input& input) const {
    AddNonNegative(sum, wasm_v128_xor(w, input.sign), input.magnitude);
  }
  void AddNonNegative(Sum& sum, Weights w, NonNegative input) const {
    const v128_t pairs = wasm_i16x8_relaxed_dot_i8x16_i7x16(w, input);
    sum.lanes = wasm_i32x4_add(sum.lanes, wasm_i32x4_dot_i16x8(pairs, pair_ones));
  }

  // kGroupSteps * 2 * 15 * 128 at most, which is just below 2^15.
  static NibbleSum StartNibbles(const std::int32_t* /*offset*/) { return wasm_i16x8_splat(0); }
  static void AddNibbles(NibbleSum& sum, const Nibbles& w, const NibbleInput& input) {
    for (int step = 0; step < 2; ++step) {
      sum =
          wasm_i16x8_add(sum, wasm_i16x8_relaxed_dot_i8x16_i7x16(input.codes[step], w.codes[step]));
    }
  }
  static v128_t FinishNibbles(NibbleSum sum, const std::int32_t* offset) {
    return wasm_i32x4_add(wasm_i32x4_extadd_pairwise_i16x8(sum), wasm_v128_load32_splat(offset));
  }
};
static_assert(DotProduct<RelaxedPairDot>);
static_assert(kGroupSteps * 2 * 15 * 128 < 1 << 15);
#endif

}  // namespace gpt2::simd
