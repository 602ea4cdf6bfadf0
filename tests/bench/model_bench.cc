// Prefill and decode of the model in $GPT2_BENCH_MODEL, natively; `npm run bench` sets it. And the
// sampler alone.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "engine/base/random.h"
#include "engine/generate/sampler.h"
#include "weights_tools/runner.h"

namespace gpt2::tools {
namespace {

std::unique_ptr<Runner> Load(benchmark::State& state, std::size_t threads) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing else runs yet
  const char* folder = std::getenv("GPT2_BENCH_MODEL");
  if (folder == nullptr) {
    state.SkipWithError("GPT2_BENCH_MODEL is not set");
    return nullptr;
  }
  auto runner = MakeRunner(folder, {.threads = threads, .kv = {}, .kernels = {}});
  if (!runner.ok()) {
    state.SkipWithError(runner.error().message.c_str());
    return nullptr;
  }
  return std::move(runner.value());
}

std::vector<std::int32_t> Ids(std::size_t count) {
  std::vector<std::int32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

// Arguments: tokens, threads.
void Prefill(benchmark::State& state) {
  const auto runner = Load(state, static_cast<std::size_t>(state.range(1)));
  if (runner == nullptr) return;
  Context& context = *runner->context;
  const auto ids = Ids(static_cast<std::size_t>(state.range(0)));
  const std::vector<std::int32_t> other = {0};
  for (auto _ : state) {
    context.sequence().SetWindow(other);  // forgets what was cached
    context.sequence().SetWindow(ids);
    for (;;) {
      const Pass pass = context.Prefill(context.sequence(), kMaxBatch);
      if (!context.sequence().is_current()) continue;
      benchmark::DoNotOptimize(pass.Logits(pass.tokens() - 1, 1).value().data);
      break;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Arguments: context, threads.
void Decode(benchmark::State& state) {
  const auto runner = Load(state, static_cast<std::size_t>(state.range(1)));
  if (runner == nullptr) return;
  Context& context = *runner->context;
  const auto ids = Ids(static_cast<std::size_t>(state.range(0)));
  context.sequence().SetWindow(ids);
  while (!context.sequence().is_current()) context.Prefill(context.sequence(), kMaxBatch);
  for (auto _ : state) {
    context.sequence().SetWindow(ids);  // runs its last token again
    const Pass pass = context.Prefill(context.sequence(), 1);
    benchmark::DoNotOptimize(pass.Logits(0, 1).value().data);
  }
  state.SetItemsProcessed(state.iterations());
}

// One token from GPT-2's vocabulary with the default filters, top-k and top-p; needs no model.
void Sample(benchmark::State& state) {
  constexpr std::size_t kVocabulary = 50257;
  Random random(1);
  std::vector<float> logits(kVocabulary);
  for (float& logit : logits) logit = static_cast<float>(10 * random.NextUnit());
  Sampler sampler({}, kVocabulary);
  for (auto _ : state) benchmark::DoNotOptimize(sampler.Sample(logits));
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(Sample)->Unit(benchmark::kMicrosecond);
BENCHMARK(Prefill)->ArgsProduct({{64, 512}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Decode)->ArgsProduct({{64, 900}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpt2::tools

BENCHMARK_MAIN();
