// `model_bench FOLDER THREADS TURNS`: tokens per second of a model, natively, as JSON with the
// columns of benchmarks.mjs. The fastest of several turns counts.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

#include "weights_tools/runner.h"

namespace gpt2::tools {
namespace {

// Runs the tokens of 1, 2, … `length` that the context does not hold, or else the last one again.
void Run(Context& context, std::size_t length) {
  std::vector<std::int32_t> ids(length);
  std::iota(ids.begin(), ids.end(), 1);
  context.sequence().SetWindow(ids);
  while (true) {
    const Pass pass = context.Prefill(context.sequence(), kMaxBatch);
    if (!context.sequence().is_current()) continue;
    if (!pass.Logits(pass.tokens() - 1, 1).ok()) std::abort();
    return;
  }
}

// The tokens per second of `steps` runs of `length` tokens. A prefill begins with an empty context.
double Speed(Context& context, std::size_t length, std::size_t steps, bool is_prefill) {
  context.sequence().SetWindow(std::vector<std::int32_t>{0});
  if (!is_prefill) Run(context, length);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t step = 0; step < steps; ++step) Run(context, length);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(is_prefill ? length : steps) / seconds.count();
}

void Measure(Context& context, int turns) {
  const char* separator = "{";
  const auto print = [&](bool is_prefill, std::size_t length, std::size_t steps) {
    double most = 0;
    for (int turn = 0; turn < turns; ++turn)
      most = std::max(most, Speed(context, length, steps, is_prefill));
    std::cout << separator << '"' << (is_prefill ? "prefill " : "decode ") << length
              << "\": " << most;
    separator = ", ";
  };
  for (const std::size_t length : {64U, 512U}) print(true, length, 1);
  for (const std::size_t length : {64U, 900U}) print(false, length, 48);
  std::cout << "}\n";
}

}  // namespace
}  // namespace gpt2::tools

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto threads = static_cast<std::size_t>(std::strtoul(argv[2], nullptr, 10));
  auto runner = gpt2::tools::MakeRunner(argv[1], {.threads = threads, .kv = {}, .kernels = {}});
  if (!runner.ok()) {
    std::cerr << runner.error().message << '\n';
    return 1;
  }
  gpt2::tools::Measure(*runner.value()->context, std::atoi(argv[3]));
}
