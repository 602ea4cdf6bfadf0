#include "weights_tools/calibration.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "weights_tools/progress.h"

namespace gpt2::tools {
namespace {

// moments += x^T x, upper half. Each row of moments belongs to one thread.
void AddRows(ThreadPool& pool, MatView<const float> x, Moments& moments) {
  if (moments.values.empty()) {
    moments.size = x.cols;
    moments.values.assign(x.cols * x.cols, 0.0f);
  }
  constexpr std::size_t kGrain = 8;
  pool.ParallelFor(x.cols, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      float* sums = moments.Row(i);
      for (std::size_t r = 0; r < x.rows; ++r) {
        const float* row = x.Row(r).data();
        const float factor = row[i];
        for (std::size_t j = i; j < x.cols; ++j) sums[j] += factor * row[j];
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

MomentsByMatrix MeasureMoments(Context& context, std::span<const std::int32_t> ids,
                               std::size_t first_layer, std::size_t last_layer) {
  MomentsByMatrix all;
  const auto add = [&](const std::string& stage, MatView<const float> x) {
    if (!stage.ends_with(kInputStage)) return;
    const std::size_t layer = LayerOf(stage).value_or(last_layer);
    if (layer < first_layer || layer >= last_layer) return;
    const std::string matrix = stage.substr(0, stage.size() - kInputStage.size());
    AddRows(*context.compute().pool, x, all[matrix + ".weight"]);
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
  for (auto& [name, moments] : all) {
    for (float& value : moments.values) value *= scale;
  }
  return all;
}

}  // namespace gpt2::tools
