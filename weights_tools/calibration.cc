#include "weights_tools/calibration.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "engine/base/mat_view.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"
#include "engine/model/forward.h"
#include "weights_tools/progress.h"

namespace gpt2::tools {
namespace {

// gram += x^T x for x [tokens, in], upper half. Each row of `gram` belongs to one thread.
void AddGram(ThreadPool& pool, MatView<const float> x, Gram& gram) {
  if (gram.values.empty()) {
    gram.size = x.cols;
    gram.values.assign(x.cols * x.cols, 0.0f);
  }
  // Rows that a thread claims at a time. For 64 tokens of GPT-2's narrowest inputs, 768, they take
  // some 200,000 multiplications, far longer than the claim.
  constexpr std::size_t kGrain = 8;
  pool.ParallelFor(x.cols, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      float* sums = gram.Row(i);
      for (std::size_t t = 0; t < x.rows; ++t) {
        const float* inputs = x.Row(t).data();
        const float factor = inputs[i];
        for (std::size_t j = i; j < x.cols; ++j) sums[j] += factor * inputs[j];
      }
    }
  });
}

}  // namespace

std::optional<std::size_t> LayerOf(std::string_view name) {
  constexpr std::string_view kPrefix = "h.";
  std::size_t layer = 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, layer);
  if (error != std::errc() || rest == end || *rest != '.') return std::nullopt;
  return layer;
}

GramByMatrix MeasureGrams(Context& context, std::span<const std::int32_t> ids,
                          std::size_t first_layer, std::size_t last_layer) {
  GramByMatrix all;
  const auto add = [&](const std::string& stage, MatView<const float> x) {
    if (!stage.ends_with(kInputStage)) return;
    const std::size_t layer = LayerOf(stage).value_or(last_layer);
    if (layer < first_layer || layer >= last_layer) return;
    const std::string matrix = stage.substr(0, stage.size() - kInputStage.size());
    AddGram(*context.compute().pool, x, all[matrix + ".weight"]);
  };
  const Trace trace = add;
  const std::size_t capacity = context.config().n_positions;
  Progress progress("calibrating layers " + std::to_string(first_layer) + " to " +
                    std::to_string(last_layer - 1));
  for (std::size_t start = 0; start < ids.size(); start += capacity) {
    context.sequence().ClearCache();
    context.sequence().SetWindow(ids.subspan(start, std::min(capacity, ids.size() - start)));
    while (!context.sequence().is_current()) {
      context.Prefill(context.sequence(), kMaxBatch, &trace);
      progress.Update(start + context.sequence().cached(), ids.size());
    }
  }
  const float scale = 1.0f / static_cast<float>(ids.size());
  for (auto& [name, gram] : all) {
    for (float& value : gram.values) value *= scale;
  }
  return all;
}

}  // namespace gpt2::tools
