#include "engine/model/forward.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/aligned_buffer.h"
#include "engine/base/function_ref.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"
#include "engine/model/hooks.h"
#include "engine/model/kv_cache.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"

namespace gpt2 {
namespace {

// The smallest number of items, each of which reads `bytes`, that is worth sharing. A core needs a
// microsecond or two for them, about ten times the cost of claiming them.
std::size_t Grain(std::size_t bytes) {
  constexpr std::size_t kWorthClaiming = 32 * 1024;
  return std::max<std::size_t>(1, kWorthClaiming / bytes);
}

// Calls body(item) for each of `items`.
void ForEach(const Compute& c, std::size_t items, std::size_t grain,
             FunctionRef<void(std::size_t item)> body) {
  c.pool->ParallelFor(items, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t item = begin; item < end; ++item) body(item);
  });
}

// Calls body(token) for each token of the activations x [tokens, cols].
void ForTokens(const Compute& c, MatView<const float> x,
               FunctionRef<void(std::size_t token)> body) {
  ForEach(c, x.rows, Grain(x.cols * sizeof(float)), body);
}

QuantizedActivations Quantize(const Compute& c, ActivationCodes kind, MatView<const float> x,
                              Scratch& s) {
  const std::size_t groups = CeilDiv(x.cols, kGroup);
  ForTokens(c, x, [&](std::size_t t) {
    const std::size_t place = QuantizedActivations::Place(t, /*group=*/0, groups);
    c.kernels->QuantizeActivations(x.Row(t).data(), x.cols, kind, s.codes + place * kGroup,
                                   s.scales + place, s.offsets + place);
  });
  return {s.codes, s.scales, s.offsets, x.rows, groups};
}

// y [tokens, out] = x [tokens, in] w^T + bias. `finish(first, last)` runs on each range of finished
// columns, on the thread that computed them.
void MatmulThen(const Compute& c, const Matrix& w, const float* bias, MatView<const float> x,
                Scratch& s, MatView<float> y,
                FunctionRef<void(std::size_t first, std::size_t last)> finish) {
  const WeightFormatInfo& format = InfoOf(w.format());
  const QuantizedActivations codes =
      format.has_codes() ? Quantize(c, format.activations, x, s) : QuantizedActivations{};
  const std::size_t tile_bytes = w.bytes() / w.tiles() * x.rows;
  // Few tokens wait for the weights, so a thread must read long runs of them.
  const auto chunks =
      x.rows <= kTokenBlock ? ThreadPool::Chunks::kLongFirst : ThreadPool::Chunks::kGuided;
  const auto compute = [&](std::size_t begin, std::size_t end) {
    const TileRange tiles{begin, end};
    switch (format.format) {
      case WeightFormat::kF32:
        c.kernels->MatmulF32(w.AsF32(bias), x, tiles, y);
        break;
      case WeightFormat::kQ8:
        c.kernels->MatmulQ8(w.AsQ8(bias), codes, tiles, y);
        break;
      case WeightFormat::kQ4:
        c.kernels->MatmulQ4(w.AsQ4(bias), codes, tiles, y);
        break;
    }
    finish(begin * kTileRows, std::min(end * kTileRows, w.rows()));
  };
  c.pool->ParallelFor(w.tiles(), Grain(tile_bytes), compute, chunks);
}

void Linear(const Compute& c, const LinearWeights& w, MatView<const float> x, Scratch& s,
            MatView<float> y) {
  MatmulThen(c, w.weight, w.bias.data(), x, s, y, [](std::size_t, std::size_t) {});
}

// x = activation(x) over n values.
void Activate(const KernelTable& kernels, Activation activation, float* x, std::size_t n) {
  constexpr float kQuick = 1.702f;  // CLIP's "quick" GELU
  switch (activation) {
    case Activation::kGeluTanh:
      return kernels.GeluTanh(x, n);
    case Activation::kGeluErf:
      return kernels.GeluErf(x, n);
    case Activation::kRelu:
      return kernels.Relu(x, n);
    case Activation::kSilu:
      return kernels.Swish(x, 1.0f, n);
    case Activation::kQuickGelu:
      return kernels.Swish(x, kQuick, n);
  }
}

void LinearThenActivation(const Compute& c, const LinearWeights& w, Activation activation,
                          MatView<const float> x, Scratch& s, MatView<float> y) {
  MatmulThen(c, w.weight, w.bias.data(), x, s, y, [&](std::size_t first, std::size_t last) {
    for (std::size_t t = 0; t < y.rows; ++t) {
      Activate(*c.kernels, activation, &y.Row(t)[first], last - first);
    }
  });
}

// x += Linear(in)
void LinearAddTo(const Compute& c, const LinearWeights& w, MatView<const float> in, Scratch& s,
                 MatView<float> x) {
  const MatView<float> delta = s.delta.Top(x.rows);
  MatmulThen(c, w.weight, w.bias.data(), in, s, delta, [&](std::size_t first, std::size_t last) {
    for (std::size_t t = 0; t < x.rows; ++t) {
      c.kernels->AddTo(&x.Row(t)[first], &delta.Row(t)[first], last - first);
    }
  });
}

void LayerNorm(const Compute& c, const LayerNormWeights& w, float epsilon, MatView<const float> x,
               MatView<float> y) {
  ForTokens(c, x, [&](std::size_t t) {
    c.kernels->LayerNorm(x.Row(t).data(), w.gain.data(), w.bias.data(), epsilon, x.cols,
                         y.Row(t).data());
  });
}

// Attention scales its scores by 1 / sqrt(head_dim). Other scales of the config are applied to the
// queries. OpenAI's GPT-2 has none.
void ScaleQueries(const Config& config, std::size_t layer, MatView<float> qkv) {
  float factor = 1.0f;
  if (!config.scale_attn_weights) factor *= std::sqrt(static_cast<float>(config.head_dim()));
  if (config.scale_attn_by_inverse_layer_idx) factor /= static_cast<float>(layer + 1);
  if (factor == 1.0f) return;
  for (std::size_t head = 0; head < config.n_head; ++head) {
    const MatView<float> queries = qkv.Columns(config.ColumnsOf(head).query, config.head_dim());
    for (std::size_t t = 0; t < queries.rows; ++t) {
      for (float& value : queries.Row(t)) value *= factor;
    }
  }
}

// Writes a token's key and value into the cache of a head.
void Store(const Compute& c, const BatchToken& token, std::size_t layer, std::size_t kv_head,
           std::span<const float> key, std::span<const float> value) {
  if (token.cache->format() == KvFormat::kQ8) {
    c.kernels->StoreQ8(key.data(), value.data(), key.size(), token.position,
                       token.cache->HeadQ8(layer, kv_head));
    return;
  }
  const KvHeadF32 kv = token.cache->HeadF32(layer, kv_head);
  const auto store = [&](std::span<const float> from, float* to) {
    std::fill(std::ranges::copy(from, to).out, to + kv.padded_dim, 0.0f);
  };
  store(key, kv.keys + token.position * kv.padded_dim);
  store(value, kv.values + token.position * kv.padded_dim);
}

// out = attention of a token's query over its past and itself, in the cache of a head.
void Attend(const Compute& c, const BatchToken& token, std::size_t layer, std::size_t kv_head,
            std::span<const float> query, std::span<float> out) {
  const std::size_t positions = token.position + 1;
  if (token.cache->format() == KvFormat::kQ8) {
    c.kernels->AttendQ8(query.data(), token.cache->HeadQ8(layer, kv_head), query.size(), positions,
                        out.data());
  } else {
    c.kernels->AttendF32(query.data(), token.cache->HeadF32(layer, kv_head), query.size(),
                         positions, out.data());
  }
}

// Appends K and V of the batch to the caches, then lets each token attend to its own past and
// itself. Threads share the heads, which are independent.
void CausalAttention(const Compute& c, const Config& config, std::size_t layer,
                     std::span<const BatchToken> batch, MatView<const float> qkv,
                     MatView<float> mixed) {
  const std::size_t dim = config.head_dim();
  const auto store = [&](std::size_t kv_head) {
    const QkvColumns columns = config.ColumnsOf(kv_head);
    const MatView<const float> keys = qkv.Columns(columns.key, dim);
    const MatView<const float> values = qkv.Columns(columns.value, dim);
    for (std::size_t t = 0; t < batch.size(); ++t) {
      Store(c, batch[t], layer, kv_head, keys.Row(t), values.Row(t));
    }
  };
  const auto attend = [&](std::size_t head) {
    const MatView<const float> queries = qkv.Columns(config.ColumnsOf(head).query, dim);
    const MatView<float> out = mixed.Columns(head * dim, dim);
    for (std::size_t t = 0; t < batch.size(); ++t) {
      Attend(c, batch[t], layer, config.KvHead(head), queries.Row(t), out.Row(t));
    }
  };
  // A head takes a microsecond or two even where it attends to few positions.
  constexpr std::size_t kGrain = 1;
  const bool is_shared = config.n_kv_head() < config.n_head;
  if (is_shared) ForEach(c, config.n_kv_head(), kGrain, store);
  // A thread that attends to what it has stored has it in its cache.
  ForEach(c, config.n_head, kGrain, [&](std::size_t head) {
    if (!is_shared) store(head);
    attend(head);
  });
}

// A place of one layer, for hooks that may be null.
struct LayerHooks {
  Hooks* hooks;
  const Config& config;
  std::size_t layer;
  std::span<const BatchToken> batch;

  bool Wants(Place place) const { return hooks != nullptr && hooks->Wants(place, layer); }
  [[gnu::noinline]] void Visit(Place place, MatView<float> x) const {
    if (hooks != nullptr) VisitPlace(*hooks, {.place = place, .layer = layer}, batch, x);
  }
};

// x += Linear(in), whose result hooks visit at `place`.
[[gnu::noinline]] void LinearAddTo(const Compute& c, const LinearWeights& w,
                                   MatView<const float> in, Scratch& s, MatView<float> x,
                                   const LayerHooks& hooks, Place place) {
  if (!hooks.Wants(place)) return LinearAddTo(c, w, in, s, x);
  const MatView<float> delta = s.delta.Top(x.rows);
  Linear(c, w, in, s, delta);
  hooks.Visit(place, delta);
  for (std::size_t t = 0; t < x.rows; ++t) {
    c.kernels->AddTo(x.Row(t).data(), delta.Row(t).data(), x.cols);
  }
}

// The MLP's hidden layer.
void HiddenLayer(const Compute& c, const LinearWeights& w, Activation activation,
                 MatView<const float> x, Scratch& s, MatView<float> hidden,
                 const LayerHooks& hooks) {
  if (!hooks.Wants(Place::kMlpPre)) return LinearThenActivation(c, w, activation, x, s, hidden);
  Linear(c, w, x, s, hidden);
  hooks.Visit(Place::kMlpPre, hidden);
  for (std::size_t t = 0; t < hidden.rows; ++t) {
    Activate(*c.kernels, activation, hidden.Row(t).data(), hidden.cols);
  }
}

}  // namespace

void Embed(const Weights& w, const Compute& c, std::span<const BatchToken> batch, Scratch& s,
           MatView<float> x, Hooks* hooks) {
  if (hooks != nullptr) return EmbedVisited(w, c, batch, s.delta.Top(x.rows), x, *hooks);
  const auto wpe = DenseView(w.wpe.data(), w.config.n_positions, x.cols);
  ForTokens(c, x, [&](std::size_t t) {
    const std::span<float> embedding = x.Row(t);
    w.wte.ReadRow(static_cast<std::size_t>(batch[t].id), embedding);
    c.kernels->AddTo(embedding.data(), wpe.Row(batch[t].position).data(), x.cols);
  });
}

void RunBlock(const Weights& weights, const Compute& c, std::span<const BatchToken> batch,
              std::size_t layer, Scratch& s, MatView<float> x, Hooks* pass_hooks) {
  const Config& config = weights.config;
  const BlockWeights& w = weights.blocks[layer];
  const MatView<float> normed = s.normed.Top(x.rows);
  const MatView<float> qkv = s.qkv.Top(x.rows);
  const MatView<float> mixed = s.mixed.Top(x.rows);
  const MatView<float> hidden = s.hidden.Top(x.rows);
  const LayerHooks hooks{pass_hooks, config, layer, batch};

  hooks.Visit(Place::kResidPre, x);
  LayerNorm(c, w.ln_1, config.layer_norm_epsilon, x, normed);
  hooks.Visit(Place::kNormed1, normed);
  Linear(c, w.attn_qkv, normed, s, qkv);
  if (pass_hooks != nullptr) VisitQkv(*pass_hooks, config, layer, batch, qkv);
  ScaleQueries(config, layer, qkv);
  CausalAttention(c, config, layer, batch, qkv, mixed);
  if (pass_hooks != nullptr) VisitAttention(*pass_hooks, c, config, layer, batch, qkv, mixed);
  LinearAddTo(c, w.attn_out, mixed, s, x, hooks, Place::kAttnOut);
  hooks.Visit(Place::kResidMid, x);

  LayerNorm(c, w.ln_2, config.layer_norm_epsilon, x, normed);
  hooks.Visit(Place::kNormed2, normed);
  HiddenLayer(c, w.mlp_up, config.activation, normed, s, hidden, hooks);
  hooks.Visit(Place::kMlpPost, hidden);
  LinearAddTo(c, w.mlp_down, hidden, s, x, hooks, Place::kMlpOut);
  hooks.Visit(Place::kResidPost, x);
}

Result<Scratch> Scratch::Create(const Config& config) {
  static_assert(kMaxBatch % kTokenBlock == 0, "a batch's last block of tokens has room whole");
  Scratch s;
  const std::size_t n_embd = config.n_embd, qkv_width = config.qkv_width();
  const std::size_t widest = RoundUp(std::max(n_embd, config.n_inner), kGroup);
  std::size_t used = 0;
  // Each token takes whole tiles, because the kernels also write padded columns.
  const auto reserve = [&used](std::size_t cols) {
    const std::size_t start = used;
    used += kMaxBatch * RoundUp(cols, kTileRows);
    return start;
  };
  const std::size_t starts[] = {
      reserve(n_embd),         reserve(n_embd), reserve(qkv_width),      reserve(n_embd),
      reserve(config.n_inner), reserve(n_embd), reserve(widest / kGroup)};
  GPT2_ASSIGN(s.floats_, AlignedBuffer<float>::Create(used, "activations"));
  GPT2_ASSIGN(s.codes_, AlignedBuffer<std::int8_t>::Create(kMaxBatch * widest, "activations"));
  GPT2_ASSIGN(s.offsets_,
              AlignedBuffer<std::int32_t>::Create(kMaxBatch * widest / kGroup, "activations"));
  const auto view = [&s](std::size_t start, std::size_t cols) {
    return MatView<float>{s.floats_.data() + start, kMaxBatch, cols, RoundUp(cols, kTileRows)};
  };
  s.x = view(starts[0], n_embd);
  s.normed = view(starts[1], n_embd);
  s.qkv = view(starts[2], qkv_width);
  s.mixed = view(starts[3], n_embd);
  s.hidden = view(starts[4], config.n_inner);
  s.delta = view(starts[5], n_embd);
  s.scales = s.floats_.data() + starts[6];
  s.codes = s.codes_.data();
  s.offsets = s.offsets_.data();
  return s;
}

void Forward(const Weights& weights, const Compute& compute, std::span<const BatchToken> batch,
             Scratch& s, Hooks* hooks) {
  assert(!batch.empty() && batch.size() <= kMaxBatch);
  const Config& config = weights.config;
  const MatView<float> x = s.x.Top(batch.size());
  Embed(weights, compute, batch, s, x, hooks);
  for (std::size_t layer = 0; layer < config.n_layer; ++layer) {
    RunBlock(weights, compute, batch, layer, s, x, hooks);
  }
  const MatView<float> normed = s.normed.Top(batch.size());
  FinalLayerNorm(weights, compute, x, normed);
  if (hooks != nullptr) VisitPlace(*hooks, {.place = Place::kNormed}, batch, normed);
}

void FinalLayerNorm(const Weights& weights, const Compute& compute, MatView<const float> x,
                    MatView<float> normed) {
  LayerNorm(compute, weights.ln_f, weights.config.layer_norm_epsilon, x, normed);
}

void ComputeLogits(const Weights& weights, const Compute& compute, MatView<const float> normed,
                   Scratch& scratch, MatView<float> logits) {
  assert(logits.stride >= LogitsStride(weights.config) && logits.rows == normed.rows);
  MatmulThen(compute, weights.head(), weights.lm_head_bias.data(), normed, scratch, logits,
             [](std::size_t, std::size_t) {});
}

std::size_t LogitsStride(const Config& config) {
  return RoundUp(config.vocab_size, kTileRows);
}

}  // namespace gpt2
