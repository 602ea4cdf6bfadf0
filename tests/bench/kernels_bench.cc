// The time of each kernel of kernels.inc on GPT-2 124M's sizes.
#include <benchmark/benchmark.h>

#include <vector>

#include "engine/kernels/kernels.h"

namespace gpt2 {
namespace {

constexpr std::size_t kWidth = 768, kHidden = 3072, kDim = 64, kPositions = 512, kVocab = 50257;
constexpr std::size_t kTiles = kHidden / kTileRows, kGroups = kWidth / kGroup;

// One benchmark per operation, found by the operation's name.
void RunQuantizeActivations(QuantizeActivationsFn* kernel) {
  static const std::vector<float> x(kHidden, 0.5f);
  static std::vector<std::int8_t> codes(kHidden * kTokenBlock);
  static std::vector<float> scales(kHidden / kGroup * kTokenBlock);
  static std::vector<std::int32_t> offsets(kHidden / kGroup * kTokenBlock);
  kernel(x.data(), kHidden, ActivationCodes::kFromZero, codes.data(), scales.data(),
         offsets.data());
}
void RunMatmulF32(MatmulF32Fn* kernel) {
  static const std::vector<float> w(kHidden * kWidth, 0.5f), bias(kHidden), x(kWidth, 0.5f);
  static std::vector<float> y(kHidden);
  kernel({w.data(), bias.data(), kWidth}, {x.data(), 1, kWidth, kWidth}, {0, kTiles},
         {y.data(), 1, kHidden, kHidden});
}
template <typename Weights, typename Code, typename Fn>
void RunMatmulQuantized(Fn* kernel, std::size_t code_bytes) {
  static const std::vector<Code> w(code_bytes, 3);
  static const std::vector<std::int8_t> x(kWidth * kTokenBlock, 5);
  static const std::vector<BFloat16> scales(kHidden * kGroups, 0x3f80);
  static const std::vector<float> bias(kHidden), x_scales(kGroups * kTokenBlock, 1.0f);
  static const std::vector<std::int32_t> x_offsets(kGroups * kTokenBlock, 5);
  static std::vector<float> y(kHidden);
  kernel(Weights{w.data(), scales.data(), bias.data(), kGroups},
         {x.data(), x_scales.data(), x_offsets.data(), 1, kGroups}, {0, kTiles},
         {y.data(), 1, kHidden, kHidden});
}
void RunMatmulQ8(MatmulQ8Fn* kernel) {
  RunMatmulQuantized<TiledQ8, std::int8_t>(kernel, kHidden * kWidth);
}
void RunMatmulQ4(MatmulQ4Fn* kernel) {
  RunMatmulQuantized<TiledQ4, std::uint8_t>(kernel, kHidden * kWidth / 2);
}
void RunLayerNorm(LayerNormFn* kernel) {
  static const std::vector<float> x(kWidth, 0.5f), gain(kWidth, 1.0f), bias(kWidth);
  static std::vector<float> y(kWidth);
  kernel(x.data(), gain.data(), bias.data(), 1e-5f, kWidth, y.data());
}
void RunInPlace(void (*kernel)(float*, std::size_t)) {
  static std::vector<float> x(kHidden, 0.5f);
  kernel(x.data(), kHidden);
}
void RunGeluTanh(GeluTanhFn* kernel) {
  RunInPlace(kernel);
}
void RunGeluErf(GeluErfFn* kernel) {
  RunInPlace(kernel);
}
void RunRelu(ReluFn* kernel) {
  RunInPlace(kernel);
}
void RunSwish(SwishFn* kernel) {
  static std::vector<float> x(kHidden, 0.5f);
  kernel(x.data(), 1.702f, kHidden);
}
void RunAddTo(AddToFn* kernel) {
  static std::vector<float> x(kWidth);
  static const std::vector<float> delta(kWidth, 1e-3f);
  kernel(x.data(), delta.data(), kWidth);
}
void RunAttendF32(AttendF32Fn* kernel) {
  static std::vector<float> keys(kPositions * kDim, 0.1f), values(kPositions * kDim, 0.1f);
  static const std::vector<float> q(kDim, 0.1f);
  static std::vector<float> out(kDim);
  kernel(q.data(), {keys.data(), values.data(), kDim}, kDim, kPositions, out.data());
}
void RunStoreQ8(StoreQ8Fn* kernel) {
  static std::vector<std::int8_t> keys(kKvBlock * kDim), values(kKvBlock * kDim);
  static std::vector<float> key_scales(kKvBlock), value_scales(kKvBlock);
  static const std::vector<float> x(kDim, 0.1f);
  kernel(x.data(), x.data(), kDim, /*position=*/7,
         {keys.data(), values.data(), key_scales.data(), value_scales.data(), kDim});
}
void RunAttendQ8(AttendQ8Fn* kernel) {
  static std::vector<std::int8_t> keys(kPositions * kDim, 3), values(kPositions * kDim, 3);
  static std::vector<float> key_scales(kPositions, 0.1f), value_scales(kPositions, 0.1f);
  static const std::vector<float> q(kDim, 0.1f);
  static std::vector<float> out(kDim);
  kernel(q.data(), {keys.data(), values.data(), key_scales.data(), value_scales.data(), kDim}, kDim,
         kPositions, out.data());
}
void RunSoftmaxStats(SoftmaxStatsFn* kernel) {
  static const std::vector<float> x(kVocab, 0.5f);
  benchmark::DoNotOptimize(kernel(x.data(), kVocab));
}

#define KERNEL(operation, isa)                               \
  void operation##_##isa##_Bench(benchmark::State& state) {  \
    for (auto _ : state) Run##operation(&operation##_##isa); \
  }                                                          \
  BENCHMARK(operation##_##isa##_Bench)->Name(#operation "_" #isa);
#include "engine/kernels/kernels.inc"

}  // namespace
}  // namespace gpt2

BENCHMARK_MAIN();
