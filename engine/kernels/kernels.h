// The arithmetic of the forward pass on raw arrays, one function type per operation.
//
// Results. Every implementation of an operation gives bit-identical results. Integer sums are
// exact, float sums have the order that is written here, nothing is fused, and exp is our own
// (scalar_math.h).
// Memory. No kernel allocates, and none keeps a pointer. Arrays do not overlap unless said so. They
// need no alignment beyond that of their elements; vector loads are fastest from 16 bytes on.
// Extent. A kernel reads and writes exactly the shapes given here and in layout.h. Those include
// padding: whole tiles and groups of a matrix, whole groups of codes, and whole tiles of y. The KV
// cache has padded_dim dimensions. Only AttendQ8 reads beyond `positions` in the cache, which
// changes no result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/mat_view.h"
#include "engine/kernels/layout.h"

namespace gpt2 {

// Quantizes one token's x [cols] as QuantizedActivations, with zeros beyond cols. The pointers are
// those of the token's first group. Per group, with x between -below and above (both at least
// zero) and rounding half to even:
//   kSigned: range = max(above, below), code = round(x * (127 / range))
//   kFromZero: range = above + below, code = round(x * (127 / range)) + offset, at most 127, with
//     offset = round(below * (127 / range))
// and scale = range / 127. Groups whose range is under kSmallestAbsmax become zero; one with a
// value that is not finite gets a scale that is not finite either.
using QuantizeActivationsFn = void(const float* x, std::size_t cols, ActivationCodes kind,
                                   std::int8_t* codes, float* scales, std::int32_t* offsets);

// y[t, row] = bias[row] + sum over k of w[row, k] * x[t, k], added in order of k, for all tokens t
// and the rows of `tiles`. y's stride holds whole tiles: the padding of the last is written too.
using MatmulF32Fn = void(const TiledF32& w, MatView<const float> x, TileRange tiles,
                         MatView<float> y);

// The same on quantized operands. The products of a group are summed exactly in int32, then
// float(sum) * (w_scale * x_scale) is added in the order of the groups. The bias comes last. x is
// coded kFromZero for MatmulQ8, kSigned for MatmulQ4.
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

// In place. Relu is max(x, 0), NaN where x is; Swish is x / (1 + exp(-beta x)): SiLU where beta is
// 1, and 1.702 in CLIP's "quick" GELU.
using ReluFn = void(float* x, std::size_t n);
using SwishFn = void(float* x, float beta, std::size_t n);

// x += delta over n values.
using AddToFn = void(float* x, const float* delta, std::size_t n);

// out [dim] = softmax(q . keys / sqrt(dim)) values over positions [0, positions), positions > 0. It
// runs in one pass over blocks of kKvBlock with a running maximum (Milakov, Gimelshein: "Online
// normalizer calculation for softmax", 2018). dim is at most padded_dim and kMaxHeadDim. Reads q
// [dim], and keys and values [positions, padded_dim].
inline constexpr std::size_t kMaxHeadDim = 512;  // limit on the stack; GPT-2 has 64
using AttendF32Fn = void(const float* q, const KvHeadF32& kv, std::size_t dim,
                         std::size_t positions, float* out);

// Stores key and value [dim] of `position` in the cache, each with one scale as in
// QuantizeActivations with kSigned. Dimensions from dim to padded_dim are zero before and after.
using StoreQ8Fn = void(const float* key, const float* value, std::size_t dim, std::size_t position,
                       const KvHeadQ8& kv);

// The same as AttendF32 on 8-bit keys and values. q is quantized with one scale, and so, per block,
// are the softmax weights times the values' scales. Both products are exact integer sums. Reads
// whole blocks of codes and of key_scales, whatever lies beyond the last position.
using AttendQ8Fn = void(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t positions,
                        float* out);

// The scores [count] of a query q [dim] with the keys of positions [first, first + count): the same
// bits as in AttendF32 and AttendQ8. Slow, and not in the tables of kernels.
void ScoresF32(const float* q, const KvHeadF32& kv, std::size_t dim, std::size_t first,
               std::size_t count, float* scores);
void ScoresQ8(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t first,
              std::size_t count, float* scores);

// The maximum of x [n], n > 0, and the sum of exp(x - maximum) in four lanes as in LayerNorm.
struct SoftmaxSums {
  float maximum;
  float sum;
};
using SoftmaxStatsFn = SoftmaxSums(const float* x, std::size_t n);

#define KERNEL(operation, isa) operation##Fn operation##_##isa;
#ifdef __wasm_relaxed_simd__
#define KERNEL_RELAXED(operation) operation##Fn operation##_RelaxedSimd, operation##_RelaxedPairs;
#endif
#include "engine/kernels/kernels.inc"

// One implementation of every operation: a member for each, a pointer to its function.
struct KernelTable {
  std::string_view name;
#define KERNEL(operation, isa) KERNEL_##isa(operation)
#define KERNEL_Reference(operation) operation##Fn* operation = nullptr;
#define KERNEL_Simd128(operation)
#include "engine/kernels/kernels.inc"
#undef KERNEL_Reference
#undef KERNEL_Simd128
};

// The tables of this build: "reference", "simd128" and, with relaxed SIMD, "relaxed" and
// "relaxed-pairs".
std::span<const KernelTable* const> KernelTables();

// The fastest table on this processor.
const KernelTable& BestKernels();

// Whether the fastest kernels are exact on this machine. The specification of relaxed SIMD leaves
// results outside the range that is used here to each engine. One engine (Node.js 20, behind a
// flag) is also wrong inside that range.
bool BestKernelsAreExact();

}  // namespace gpt2
