#include "weights_tools/calibration.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"
#include "engine/model/forward.h"
#include "engine/model/hooks.h"
#include "engine/model/weights.h"
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

// The matrix of a block whose input is at `place`; null if there is none.
const char* MatrixAfter(Place place) {
  switch (place) {
    case Place::kNormed1:
      return "attn.c_attn.weight";
    case Place::kZ:
      return "attn.c_proj.weight";
    case Place::kNormed2:
      return "mlp.c_fc.weight";
    case Place::kMlpPost:
      return "mlp.c_proj.weight";
    default:
      return nullptr;
  }
}

}  // namespace

GramByMatrix MeasureGrams(Context& context, std::span<const std::int32_t> ids,
                          std::span<const TensorSpec> specs, const std::string& label) {
  GramByMatrix all;
  for (const TensorSpec& spec : specs) {
    if (spec.is_block_matrix()) all[spec.name];
  }
  Reader reader([](Place place) { return MatrixAfter(place) != nullptr; },
                [&](const HookPoint& point, MatView<const float> x) {
                  const auto found =
                      all.find(Concat("h.", point.layer, ".", MatrixAfter(point.place)));
                  if (found != all.end()) AddGram(*context.compute().pool, x, found->second);
                });
  const std::size_t capacity = context.config().n_positions;
  Progress progress(label);
  for (std::size_t start = 0; start < ids.size(); start += capacity) {
    context.sequence().ClearCache();
    context.sequence().SetWindow(ids.subspan(start, std::min(capacity, ids.size() - start)));
    while (!context.sequence().is_current()) {
      context.Prefill(context.sequence(), kMaxBatch, &reader);
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
