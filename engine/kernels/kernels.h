// The arithmetic of the forward pass on raw arrays, one function type per operation.
//
// Every implementation of an operation gives bit-identical results: integer sums are exact, float
// sums have the order that is written here, nothing is fused, and exp is our own (scalar_math.h).
// No kernel allocates, and none keeps a pointer. Arrays do not overlap unless said so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/mat_view.h"
#include "engine/kernels/layout.h"

namespace gpt2 {

// Quantizes x [cols] into codes [groups * kGroup], scales [groups] and sums [groups]: scale = peak
// / 127, code = round-half-even(x * (127 / peak)) per group. Groups whose peak is under 1e-30
// become zero.
using QuantizeActivationsFn = void(const float* x, std::size_t cols, std::int8_t* codes,
                                   float* scales, CodeSums* sums);

// y[t, row] = bias[row] + sum over k of w[row, k] * x[t, k], added in order of k, for all t <
// x.rows and the rows of `tiles`. y's stride holds whole tiles: padded rows are written too.
using MatmulF32Fn = void(const TiledF32& w, MatView<const float> x, TileRange tiles,
                         MatView<float> y);

// The same on quantized operands: the products of a group are summed exactly in int32, then
// float(sum) * (w_scale * x_scale) is added in order of groups; the bias comes last.
using MatmulQ8Fn = void(const TiledQ8& w, const QuantizedActivations& x, TileRange tiles,
                        MatView<float> y);
using MatmulQ4Fn = void(const TiledQ4& w, const QuantizedActivations& x, TileRange tiles,
                        MatView<float> y);

// y = (x - mean) / sqrt(variance + epsilon) * gain + bias over n values. Sums run in four lanes
// (value i in lane i % 4) that are added as (0 + 1) + (2 + 3). y may be x.
using LayerNormFn = void(const float* x, const float* gain, const float* bias, float epsilon,
                         std::size_t n, float* y);

// In place. GeluTanh is GPT-2's 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), computed as
// x / (1 + exp(-2 u)); GeluErf is x times the normal distribution function.
using GeluTanhFn = void(float* x, std::size_t n);
using GeluErfFn = void(float* x, std::size_t n);

// x += delta over n values.
using AddToFn = void(float* x, const float* delta, std::size_t n);

// out [dim] = softmax(q . keys / sqrt(dim)) values over positions [0, positions), positions > 0, in
// one pass over blocks of kKvBlock with a running maximum (Milakov, Gimelshein: "Online normalizer
// calculation for softmax", 2018). dim is at most padded_dim and kMaxHeadDim.
inline constexpr std::size_t kMaxHeadDim = 512;
using AttendF32Fn = void(const float* q, const KvHeadF32& kv, std::size_t dim,
                         std::size_t positions, float* out);

// Puts key and value [dim] of `position` into the cache, each with one scale as in
// QuantizeActivations.
using StoreQ8Fn = void(const float* key, const float* value, std::size_t dim, std::size_t position,
                       const KvHeadQ8& kv);

// The same as AttendF32 on 8-bit keys and values: q is quantized with one scale, and so, per block,
// are the softmax weights times the values' scales; both products are exact integer sums.
using AttendQ8Fn = void(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t positions,
                        float* out);

// The maximum of x [n], n > 0, and the sum of exp(x - maximum) in four lanes as in LayerNorm.
struct SoftmaxSums {
  float maximum;
  float sum;
};
using SoftmaxStatsFn = SoftmaxSums(const float* x, std::size_t n);

#define KERNEL(operation, isa) operation##Fn operation##_##isa;
#ifdef __wasm_relaxed_simd__
#define KERNEL_RELAXED(operation) operation##Fn operation##_RelaxedSimd;
#endif
#include "engine/kernels/kernels.inc"

// One implementation of every operation.
struct KernelTable {
  std::string_view name;
  QuantizeActivationsFn* QuantizeActivations = nullptr;
  MatmulF32Fn* MatmulF32 = nullptr;
  MatmulQ8Fn* MatmulQ8 = nullptr;
  MatmulQ4Fn* MatmulQ4 = nullptr;
  LayerNormFn* LayerNorm = nullptr;
  GeluTanhFn* GeluTanh = nullptr;
  GeluErfFn* GeluErf = nullptr;
  AddToFn* AddTo = nullptr;
  AttendF32Fn* AttendF32 = nullptr;
  StoreQ8Fn* StoreQ8 = nullptr;
  AttendQ8Fn* AttendQ8 = nullptr;
  SoftmaxStatsFn* SoftmaxStats = nullptr;
};

// The tables of this build, slowest first: "reference", "simd128" and, with relaxed SIMD,
// "relaxed".
std::span<const KernelTable* const> KernelTables();

// The fastest of them.
const KernelTable& BestKernels();

// Whether the fastest compute right on this machine: relaxed SIMD leaves to each engine what it
// does outside the range that is used here, and one is known (Node.js 20, behind a flag) that errs
// inside.
bool BestKernelsAreExact();

}  // namespace gpt2
