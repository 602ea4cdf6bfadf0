// The time of each kernel of kernels.inc on GPT-2 124M's sizes.
#include <benchmark/benchmark.h>

#include "engine/kernels/kernels.h"
#include "tests/kernels/kernel_cases.h"

namespace gpt2 {
namespace {

template <typename Fn>
void Measure(benchmark::State& state, Fn* kernel) {
  const auto choose = [](std::size_t, std::size_t, std::size_t usual) { return usual; };
  Source source(choose, /*seed=*/1, /*behind=*/0);
  KernelCase<Fn> run(source);
  for (auto _ : state) run.Run(kernel);
}

#define KERNEL(operation, isa)                              \
  void operation##_##isa##_Bench(benchmark::State& state) { \
    Measure(state, &operation##_##isa);                     \
  }                                                         \
  BENCHMARK(operation##_##isa##_Bench)->Name(#operation "_" #isa);
#include "engine/kernels/kernels.inc"

}  // namespace
}  // namespace gpt2

BENCHMARK_MAIN();
