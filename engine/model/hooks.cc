#include "engine/model/hooks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "engine/base/mat_view.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/scalar_math.h"
#include "engine/model/config.h"
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weights.h"

namespace gpt2 {
namespace {

// A row of which every score is -infinity becomes zero, as in TransformerLens.
void Softmax(const Compute& c, std::span<float> x) {
  const SoftmaxSums sums = c.kernels->SoftmaxStats(x.data(), x.size());
  for (float& value : x) {
    // Exp saturates; the difference makes a value visible that is not finite.
    value = value == -INFINITY ? 0.0f : Exp(value - sums.maximum) / sums.sum + (value - value);
  }
}

}  // namespace

// Not inlined, as those below: the copies would cost kilobytes of code.
[[gnu::noinline]] void VisitPlace(Hooks& hooks, const HookPoint& point,
                                  std::span<const BatchToken> batch, MatView<float> x) {
  if (hooks.Wants(point.place, point.layer)) hooks.Visit(point, batch, x);
}

[[gnu::noinline]] void VisitQkv(Hooks& hooks, const Config& config, std::size_t layer,
                                std::span<const BatchToken> batch, MatView<float> qkv) {
  const QkvColumns first = config.ColumnsOf(0);
  const std::size_t stride = config.n_head > 1 ? config.ColumnsOf(1).query : 0;
  const auto visit = [&](Place place, std::size_t column, std::size_t heads) {
    VisitPlace(hooks, {.place = place, .layer = layer, .heads = heads, .head_stride = stride},
               batch, qkv.Columns(column, (heads - 1) * stride + config.head_dim()));
  };
  visit(Place::kQ, first.query, config.n_head);
  visit(Place::kK, first.key, config.n_kv_head());
  visit(Place::kV, first.value, config.n_kv_head());
}

[[gnu::noinline]] void VisitAttention(Hooks& hooks, const Compute& c, const Config& config,
                                      std::size_t layer, std::span<const BatchToken> batch,
                                      MatView<const float> qkv, MatView<float> mixed) {
  const std::size_t dim = config.head_dim();
  std::size_t positions = 0;
  for (const BatchToken& token : batch) positions = std::max(positions, token.position + 1);
  const bool has_scores = hooks.Wants(Place::kScores, layer) || hooks.Wants(Place::kPattern, layer);
  for (std::size_t head = 0; has_scores && head < config.n_head; ++head) {
    const MatView<float> scores = hooks.Scores().Top(batch.size()).Columns(0, positions);
    const MatView<const float> queries = qkv.Columns(config.ColumnsOf(head).query, dim);
    const std::size_t kv_head = config.KvHead(head);
    const auto seen = [&](std::size_t t) { return scores.Row(t).first(batch[t].position + 1); };
    for (std::size_t t = 0; t < batch.size(); ++t) {
      std::ranges::fill(scores.Row(t), -INFINITY);
      batch[t].cache->Scores(layer, kv_head, queries.Row(t), seen(t));
    }
    VisitPlace(hooks, {.place = Place::kScores, .layer = layer, .head = head}, batch, scores);
    for (std::size_t t = 0; t < batch.size(); ++t) {
      std::ranges::fill(scores.Row(t).subspan(seen(t).size()), 0.0f);
      Softmax(c, seen(t));
    }
    VisitPlace(hooks, {.place = Place::kPattern, .layer = layer, .head = head}, batch, scores);
    if (!hooks.ChangesAttention(layer)) continue;
    for (std::size_t t = 0; t < batch.size(); ++t) {
      batch[t].cache->AddUpValues(layer, kv_head, seen(t), mixed.Columns(head * dim, dim).Row(t));
    }
  }
  VisitPlace(hooks,
             {.place = Place::kZ, .layer = layer, .heads = config.n_head, .head_stride = dim},
             batch, mixed);
}

[[gnu::noinline]] void EmbedVisited(const Weights& w, const Compute& c,
                                    std::span<const BatchToken> batch, MatView<float> positions,
                                    MatView<float> x, Hooks& hooks) {
  const auto wpe = DenseView(w.wpe.data(), w.config.n_positions, x.cols);
  for (std::size_t t = 0; t < x.rows; ++t) {
    w.wte.ReadRow(static_cast<std::size_t>(batch[t].id), x.Row(t));
    std::ranges::copy(wpe.Row(batch[t].position), positions.Row(t).data());
  }
  VisitPlace(hooks, {.place = Place::kEmbed}, batch, x);
  VisitPlace(hooks, {.place = Place::kPosEmbed}, batch, positions);
  for (std::size_t t = 0; t < x.rows; ++t) {
    c.kernels->AddTo(x.Row(t).data(), positions.Row(t).data(), x.cols);
  }
}

}  // namespace gpt2
