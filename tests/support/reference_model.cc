#include "tests/support/reference_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/format/weight_plan.h"

namespace gpt2::testing {
namespace {

using Row = ReferenceRow;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

class ReferencePass {
 public:
  ReferencePass(const Config& config, const ReferenceWeights& weights,
                const ReferenceHook& hook = nullptr)
      : c_(config),
        weights_(weights),
        hook_(hook),
        attention_(config.n_layer, std::vector<std::vector<Row>>(config.n_head)) {}

  const ReferenceAttention& attention() const { return attention_; }

  Row Head(const Row& normed) const {
    const std::string head = weights_.contains("lm_head.weight") ? "lm_head.weight" : "wte.weight";
    Row logits = BiasOf("lm_head.bias", c_.vocab_size);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] += Dot(normed, RowOf(head, i, c_.n_embd));
    }
    return logits;
  }
  Row FinalNorm(const Row& x) const { return Norm("ln_f", x); }

  std::vector<Row> Logits(std::span<const std::int32_t> ids) {
    std::vector<Row> x, positions;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      x.push_back(RowOf("wte.weight", static_cast<std::size_t>(ids[t]), c_.n_embd));
      positions.push_back(RowOf("wpe.weight", t, c_.n_embd));
    }
    Visit("embed", x);
    Visit("pos_embed", positions);
    AddTo(x, positions);
    for (std::size_t layer = 0; layer < c_.n_layer; ++layer) {
      prefix_ = "h." + std::to_string(layer) + ".";
      block_ = "blocks." + std::to_string(layer) + ".";
      Visit("resid_pre", x);
      std::vector<Row> delta = Each(x, [&](const Row& row) { return Norm("ln_1", row); });
      Visit("ln1.normalized", delta);
      std::vector<Row> qkv =
          Each(delta, [&](const Row& row) { return Linear("attn.c_attn", row, c_.qkv_width()); });
      VisitQkv(qkv);
      delta = Attention(qkv, layer);
      delta = Each(delta, [&](const Row& row) { return Linear("attn.c_proj", row, c_.n_embd); });
      Visit("attn_out", delta);
      AddTo(x, delta);
      Visit("resid_mid", x);
      delta = Each(x, [&](const Row& row) { return Norm("ln_2", row); });
      Visit("ln2.normalized", delta);
      delta = Each(delta, [&](const Row& row) { return Linear("mlp.c_fc", row, c_.n_inner); });
      Visit("mlp.pre", delta);
      for (Row& row : delta) {
        for (double& value : row) value = Activate(value);
      }
      Visit("mlp.post", delta);
      delta = Each(delta, [&](const Row& row) { return Linear("mlp.c_proj", row, c_.n_embd); });
      Visit("mlp_out", delta);
      AddTo(x, delta);
      Visit("resid_post", x);
    }
    prefix_.clear();
    block_.clear();
    x = Each(x, [&](const Row& row) { return FinalNorm(row); });
    Visit("ln_final.normalized", x);
    x = Each(x, [&](const Row& row) { return Head(row); });
    Visit("logits", x);
    return x;
  }

 private:
  const Row& ValuesOf(const std::string& name) const { return weights_.at(prefix_ + name); }
  // Returns zeros if the model has no bias `name`.
  Row BiasOf(const std::string& name, std::size_t size) const {
    return weights_.contains(prefix_ + name) ? ValuesOf(name) : Row(size);
  }
  Row RowOf(const std::string& name, std::size_t row, std::size_t columns) const {
    const auto begin = ValuesOf(name).begin() + static_cast<std::ptrdiff_t>(row * columns);
    return Row(begin, begin + static_cast<std::ptrdiff_t>(columns));
  }
  template <typename Step>
  static std::vector<Row> Each(const std::vector<Row>& rows, Step step) {
    std::vector<Row> results;
    for (const Row& row : rows) results.push_back(step(row));
    return results;
  }
  static void AddTo(std::vector<Row>& x, const std::vector<Row>& delta) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += delta[t][i];
    }
  }
  void Visit(const std::string& place, std::vector<Row>& rows, std::size_t head = 0) const {
    if (hook_) hook_(block_ + place, head, rows);
  }
  // The part of each row that begins at `begin` and has the width of a head.
  std::vector<Row> PartOf(const std::vector<Row>& rows, std::size_t begin) const {
    return Each(rows, [&](const Row& row) {
      const auto from = row.begin() + static_cast<std::ptrdiff_t>(begin);
      return Row(from, from + static_cast<std::ptrdiff_t>(c_.head_dim()));
    });
  }
  void VisitQkv(std::vector<Row>& qkv) const {
    const char* const names[] = {"attn.q", "attn.k", "attn.v"};
    for (std::size_t which = 0; which < 3; ++which) {
      const std::size_t heads = which == 0 ? c_.n_head : c_.n_kv_head();
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t begin = PlaceOf(head, which);
        std::vector<Row> part = PartOf(qkv, begin);
        Visit(names[which], part, head);
        for (std::size_t t = 0; t < qkv.size(); ++t) {
          std::ranges::copy(part[t], qkv[t].begin() + static_cast<std::ptrdiff_t>(begin));
        }
      }
    }
  }
  static double Dot(const Row& a, const Row& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  Row Norm(const std::string& name, const Row& x) const {
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x) {
      variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
    }
    const double scale = 1 / std::sqrt(variance + static_cast<double>(c_.layer_norm_epsilon));
    const Row& weight = ValuesOf(name + ".weight");
    Row y = BiasOf(name + ".bias", x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += (x[i] - mean) * scale * weight[i];
    return y;
  }
  Row Linear(const std::string& name, const Row& x, std::size_t out) const {
    const Row& weight = ValuesOf(name + ".weight");
    Row y = BiasOf(name + ".bias", out);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t o = 0; o < out; ++o) {
        y[o] += x[i] * weight[c_.is_bigcode ? o * x.size() + i : i * out + o];
      }
    }
    return y;
  }
  // Scores are divided by this.
  double ScoreScale(std::size_t layer) const {
    const double by_width =
        c_.scale_attn_weights ? std::sqrt(static_cast<double>(c_.head_dim())) : 1;
    return by_width * (c_.scale_attn_by_inverse_layer_idx ? static_cast<double>(layer + 1) : 1);
  }
  // The index in c_attn's outputs at which a head's query, key or value (`which`: 0, 1, 2) begins.
  std::size_t PlaceOf(std::size_t head, std::size_t which) const {
    const std::size_t width = c_.head_dim();
    if (c_.multi_query) return which == 0 ? head * width : c_.n_embd + (which - 1) * width;
    return c_.is_bigcode ? (3 * head + which) * width : which * c_.n_embd + head * width;
  }
  std::vector<Row> Attention(const std::vector<Row>& qkv, std::size_t layer) {
    std::vector<Row> mixed(qkv.size());
    for (std::size_t head = 0; head < c_.n_head; ++head) {
      const std::vector<Row> queries = PartOf(qkv, PlaceOf(head, 0));
      const std::vector<Row> keys = PartOf(qkv, PlaceOf(head, 1));
      const std::vector<Row> values = PartOf(qkv, PlaceOf(head, 2));
      std::vector<Row> pattern(qkv.size(), Row(qkv.size(), -kUnbounded));
      for (std::size_t t = 0; t < qkv.size(); ++t) {
        for (std::size_t s = 0; s <= t; ++s) {
          pattern[t][s] = Dot(queries[t], keys[s]) / ScoreScale(layer);
        }
      }
      Visit("attn.scores", pattern, head);
      for (Row& row : pattern) {
        double sum = 0;
        const double most = *std::max_element(row.begin(), row.end());
        for (double& score : row) sum += score = score == -kUnbounded ? 0 : std::exp(score - most);
        for (double& score : row) score = sum == 0 ? 0 : score / sum;
      }
      Visit("attn.pattern", pattern, head);
      std::vector<Row> z(qkv.size(), Row(c_.head_dim()));
      for (std::size_t t = 0; t < qkv.size(); ++t) {
        for (std::size_t s = 0; s <= t; ++s) {
          for (std::size_t i = 0; i < z[t].size(); ++i) z[t][i] += pattern[t][s] * values[s][i];
        }
        pattern[t].resize(t + 1);
      }
      Visit("attn.z", z, head);
      for (std::size_t t = 0; t < qkv.size(); ++t) {
        mixed[t].insert(mixed[t].end(), z[t].begin(), z[t].end());
      }
      attention_[layer][head] = pattern;
    }
    return mixed;
  }
  double Activate(double x) const {
    constexpr double kCubic = 0.044715;  // of GPT-2's formula
    switch (c_.activation) {
      case Activation::kGeluTanh:
        return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + kCubic * x * x * x)));
      case Activation::kGeluErf:
        return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
      case Activation::kRelu:
        return std::max(x, 0.0);
      case Activation::kSilu:
        return x / (1 + std::exp(-x));
      case Activation::kQuickGelu:
        return x / (1 + std::exp(-1.702 * x));
    }
    return x;
  }

  const Config& c_;
  const ReferenceWeights& weights_;
  const ReferenceHook hook_;
  ReferenceAttention attention_;
  std::string prefix_;  // of the weights of the layer under way
  std::string block_;   // of its places
};

}  // namespace

ReferenceWeights Widen(const FileTensors& tensors) {
  ReferenceWeights weights;
  for (const auto& [name, tensor] : tensors) {
    weights[CanonicalName(name)].assign(tensor.values.begin(), tensor.values.end());
  }
  return weights;
}

std::vector<Row> ReferenceLogits(const Config& config, const ReferenceWeights& weights,
                                 std::span<const std::int32_t> ids, ReferenceAttention* attention,
                                 const ReferenceHook& hook) {
  ReferencePass pass(config, weights, hook);
  std::vector<Row> logits = pass.Logits(ids);
  if (attention != nullptr) *attention = pass.attention();
  return logits;
}

Row ReferenceHead(const Config& config, const ReferenceWeights& weights, const Row& x) {
  const ReferencePass pass(config, weights);
  return pass.Head(pass.FinalNorm(x));
}

}  // namespace gpt2::testing
