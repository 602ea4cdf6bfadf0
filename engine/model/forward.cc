#include "engine/model/forward.h"

#include <algorithm>
#include <cassert>

namespace gpt2 {
namespace {

// The least number of items, each of which reads `bytes`, that is worth sharing out: a core takes a
// microsecond or two for these, some ten times what it takes to claim them.
std::size_t Grain(std::size_t bytes) {
  constexpr std::size_t kWorthClaiming = 32 * 1024;
  return std::max<std::size_t>(1, kWorthClaiming / bytes);
}

// Calls body(item) for items that each read `bytes`.
void ForEach(const Compute& c, std::size_t items, std::size_t bytes,
             FunctionRef<void(std::size_t item)> body) {
  c.pool->ParallelFor(items, Grain(bytes), [&](std::size_t begin, std::size_t end) {
    for (std::size_t item = begin; item < end; ++item) body(item);
  });
}

void ForRows(const Compute& c, MatView<const float> x, FunctionRef<void(std::size_t row)> body) {
  ForEach(c, x.rows, x.cols * sizeof(float), body);
}

QuantizedRows Quantize(const Compute& c, MatView<const float> x, Scratch& s) {
  const std::size_t groups = CeilDiv(x.cols, kGroup);
  ForRows(c, x, [&](std::size_t row) {
    c.kernels->QuantizeRow(x.Row(row).data(), x.cols, s.codes + row * groups * kGroup,
                           s.scales + row * groups, s.sums + row * groups);
  });
  return {s.codes, s.scales, s.sums, x.rows, groups};
}

// y [rows, out] = x [rows, in] w^T + bias. `finish(first, last)` runs on each range of finished
// columns, on the thread that computed them.
void MatmulThen(const Compute& c, const Matrix& w, const float* bias, MatView<const float> x,
                Scratch& s, MatView<float> y,
                FunctionRef<void(std::size_t first, std::size_t last)> finish) {
  const bool is_quantized = w.format() != WeightFormat::kF32;
  const QuantizedRows codes = is_quantized ? Quantize(c, x, s) : QuantizedRows{};
  const std::size_t tile_bytes = w.bytes() / w.tiles() * x.rows;
  c.pool->ParallelFor(w.tiles(), Grain(tile_bytes), [&](std::size_t begin, std::size_t end) {
    const TileRange tiles{begin, end};
    switch (w.format()) {
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
  });
}

void Linear(const Compute& c, const LinearWeights& w, MatView<const float> x, Scratch& s,
            MatView<float> y) {
  MatmulThen(c, w.weight, w.bias.data(), x, s, y, [](std::size_t, std::size_t) {});
}

void LinearThenGelu(const Compute& c, const LinearWeights& w, Activation activation,
                    MatView<const float> x, Scratch& s, MatView<float> y) {
  const auto gelu = activation == Activation::kGeluTanh ? c.kernels->GeluTanh : c.kernels->GeluErf;
  MatmulThen(c, w.weight, w.bias.data(), x, s, y, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = 0; row < y.rows; ++row) gelu(&y.Row(row)[first], last - first);
  });
}

// x += Linear(in)
void LinearAddTo(const Compute& c, const LinearWeights& w, MatView<const float> in, Scratch& s,
                 MatView<float> x) {
  const MatView<float> delta = s.delta.Top(x.rows);
  MatmulThen(c, w.weight, w.bias.data(), in, s, delta, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = 0; row < x.rows; ++row) {
      c.kernels->AddTo(&x.Row(row)[first], &delta.Row(row)[first], last - first);
    }
  });
}

void LayerNorm(const Compute& c, const LayerNormWeights& w, float epsilon, MatView<const float> x,
               MatView<float> y) {
  ForRows(c, x, [&](std::size_t row) {
    c.kernels->LayerNorm(x.Row(row).data(), w.gain.data(), w.bias.data(), epsilon, x.cols,
                         y.Row(row).data());
  });
}

// Appends key and value [dim] of `row` to its cache.
void StoreKv(const Compute& c, const TokenRow& row, std::size_t layer, std::size_t head,
             std::size_t dim, const float* key, const float* value) {
  if (row.cache->format() == KvFormat::kQ8) {
    c.kernels->StoreQ8(key, value, dim, row.position, row.cache->HeadQ8(layer, head));
    return;
  }
  const KvHeadF32 kv = row.cache->HeadF32(layer, head);
  std::copy(key, key + dim, kv.keys + row.position * kv.padded_dim);
  std::copy(value, value + dim, kv.values + row.position * kv.padded_dim);
}

// out [dim] = what `row`, whose query is q [dim], reads of its past and itself.
void Attend(const Compute& c, const TokenRow& row, std::size_t layer, std::size_t head,
            std::size_t dim, const float* q, float* out) {
  const std::size_t positions = row.position + 1;
  if (row.cache->format() == KvFormat::kQ8) {
    c.kernels->AttendQ8(q, row.cache->HeadQ8(layer, head), dim, positions, out);
  } else {
    c.kernels->AttendF32(q, row.cache->HeadF32(layer, head), dim, positions, out);
  }
}

// Appends K and V of all rows to their caches, then lets each row attend to its own past and
// itself. Heads are independent, and are what the threads share out.
void CausalAttention(const Compute& c, const Config& config, std::size_t layer,
                     std::span<const TokenRow> rows, MatView<const float> qkv,
                     MatView<float> mixed) {
  const std::size_t n_embd = config.n_embd;
  const std::size_t dim = config.head_dim();
  const std::size_t head_bytes = rows.size() * (rows.back().position + 1) * dim;
  ForEach(c, config.n_head, head_bytes, [&](std::size_t head) {
    const std::size_t first = head * dim;  // this head's columns in Q, K, V and the output
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::span<const float> row = qkv.Row(r);
      StoreKv(c, rows[r], layer, head, dim, &row[n_embd + first], &row[2 * n_embd + first]);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Attend(c, rows[r], layer, head, dim, &qkv.Row(r)[first], &mixed.Row(r)[first]);
    }
  });
}

// x: residual stream [rows, n_embd], updated in place.
void RunBlock(const Compute& c, const Config& config, const BlockWeights& w, std::size_t layer,
              std::span<const TokenRow> rows, Scratch& s, MatView<float> x, const Trace* trace) {
  const std::size_t n = rows.size();
  const float epsilon = config.layer_norm_epsilon;
  const auto show = [&](std::string_view stage, MatView<const float> values) {
    if (trace != nullptr) (*trace)("h." + std::to_string(layer) + std::string(stage), values);
  };

  LayerNorm(c, w.ln_1, epsilon, x, s.normed.Top(n));
  show(".attn.c_attn.input", s.normed.Top(n));
  Linear(c, w.attn_qkv, s.normed.Top(n), s, s.qkv.Top(n));
  CausalAttention(c, config, layer, rows, s.qkv.Top(n), s.mixed.Top(n));
  show(".attn.c_proj.input", s.mixed.Top(n));
  LinearAddTo(c, w.attn_out, s.mixed.Top(n), s, x);
  show(".attn", x);

  LayerNorm(c, w.ln_2, epsilon, x, s.normed.Top(n));
  show(".mlp.c_fc.input", s.normed.Top(n));
  LinearThenGelu(c, w.mlp_up, config.activation, s.normed.Top(n), s, s.hidden.Top(n));
  show(".mlp.c_proj.input", s.hidden.Top(n));
  LinearAddTo(c, w.mlp_down, s.hidden.Top(n), s, x);
  show(".mlp", x);
}

// x [rows, n_embd] = wte[token] + wpe[position]
void Embed(const Weights& w, const Compute& c, std::span<const TokenRow> rows, MatView<float> x) {
  ForRows(c, x, [&](std::size_t r) {
    const std::span<float> row = x.Row(r);
    w.wte.ReadRow(static_cast<std::size_t>(rows[r].token), row);
    c.kernels->AddTo(row.data(), w.wpe.data() + rows[r].position * x.cols, x.cols);
  });
}

}  // namespace

Result<Scratch> Scratch::Create(const Config& config) {
  Scratch s;
  const std::size_t n_embd = config.n_embd;
  const std::size_t widest = RoundUp(std::max(n_embd, config.n_inner), kGroup);
  std::size_t used = 0;
  // Rows are whole tiles wide, as the kernels write padded columns too.
  const auto reserve = [&used](std::size_t cols) {
    const std::size_t start = used;
    used += kMaxRows * RoundUp(cols, kTileRows);
    return start;
  };
  const std::size_t starts[] = {
      reserve(n_embd),         reserve(n_embd), reserve(3 * n_embd),     reserve(n_embd),
      reserve(config.n_inner), reserve(n_embd), reserve(widest / kGroup)};
  GPT2_ASSIGN(s.floats_, AlignedBuffer<float>::Create(used, "activations"));
  GPT2_ASSIGN(s.codes_, AlignedBuffer<std::int8_t>::Create(kMaxRows * widest, "activations"));
  GPT2_ASSIGN(s.sums_, AlignedBuffer<CodeSums>::Create(kMaxRows * widest / kGroup, "activations"));
  const auto view = [&s](std::size_t start, std::size_t cols) {
    return MatView<float>{s.floats_.data() + start, kMaxRows, cols, RoundUp(cols, kTileRows)};
  };
  s.x = view(starts[0], n_embd);
  s.normed = view(starts[1], n_embd);
  s.qkv = view(starts[2], 3 * n_embd);
  s.mixed = view(starts[3], n_embd);
  s.hidden = view(starts[4], config.n_inner);
  s.delta = view(starts[5], n_embd);
  s.scales = s.floats_.data() + starts[6];
  s.codes = s.codes_.data();
  s.sums = s.sums_.data();
  return s;
}

void Forward(const Weights& weights, const Compute& compute, std::span<const TokenRow> rows,
             Scratch& s, const Trace* trace) {
  assert(!rows.empty() && rows.size() <= kMaxRows);
  const Config& config = weights.config;
  const MatView<float> x = s.x.Top(rows.size());
  Embed(weights, compute, rows, x);
  if (trace != nullptr) (*trace)("embed", x);
  for (std::size_t layer = 0; layer < config.n_layer; ++layer) {
    RunBlock(compute, config, weights.blocks[layer], layer, rows, s, x, trace);
  }
  const MatView<float> normed = s.normed.Top(rows.size());
  LayerNorm(compute, weights.ln_f, config.layer_norm_epsilon, x, normed);
  if (trace != nullptr) (*trace)("ln_f", normed);
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
