// `model_bench FOLDER THREADS TURNS`: tokens per second of a model, natively, as JSON. The names
// are those of benchmarks.mjs. The fastest of several turns counts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "weights_tools/runner.h"

namespace gpt2::tools {
namespace {

std::vector<std::int32_t> Ids(std::size_t count) {
  std::vector<std::int32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

// Runs the tokens of `ids` that the context does not hold yet, in batches of `batch` tokens.
void RunTokens(Context& context, const std::vector<std::int32_t>& ids, std::size_t batch) {
  context.sequence().SetWindow(ids);
  while (true) {
    const Pass pass = context.Prefill(context.sequence(), batch);
    if (context.sequence().is_current()) {
      if (!pass.Logits(pass.tokens() - 1, 1).ok()) std::abort();
      return;
    }
  }
}

template <typename Work>
double TokensPerSecond(std::size_t tokens, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(tokens) / seconds.count();
}

void Measure(Context& context, int turns) {
  const std::vector<std::int32_t> other = {0};
  const auto best = [&](const char* name, std::size_t length, std::size_t tokens, auto work) {
    double most = 0;
    for (int turn = 0; turn < turns; ++turn) {
      RunTokens(context, other, kMaxBatch);  // forgets what was cached
      if (tokens != length) RunTokens(context, Ids(length), kMaxBatch);
      most = std::max(most, TokensPerSecond(tokens, work));
    }
    std::printf("\"%s %zu\": %.2f", name, length, most);
  };
  std::printf("{");
  for (const std::size_t length : {64U, 512U}) {
    best("prefill", length, length, [&] { RunTokens(context, Ids(length), kMaxBatch); });
    std::printf(", ");
  }
  for (const std::size_t length : {64U, 900U}) {
    const std::size_t tokens = 48;
    best("decode", length, tokens, [&] {
      for (std::size_t i = 0; i < tokens; ++i)
        RunTokens(context, Ids(length), 1);  // its last token
    });
    std::printf(length == 64 ? ", " : "}\n");
  }
}

}  // namespace
}  // namespace gpt2::tools

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto threads = static_cast<std::size_t>(std::atoi(argv[2]));
  auto runner = gpt2::tools::MakeRunner(argv[1], {.threads = threads, .kv = {}, .kernels = {}});
  if (!runner.ok()) {
    std::fprintf(stderr, "%s\n", runner.error().message.c_str());
    return 1;
  }
  gpt2::tools::Measure(*runner.value()->context, std::atoi(argv[3]));
}
