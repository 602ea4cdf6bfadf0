#include "tests/support/reference_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/format/weight_plan.h"

namespace gpt2::testing {
namespace {

using Row = ReferenceRow;

class ReferencePass {
 public:
  ReferencePass(const Config& config, const ReferenceWeights& weights)
      : c_(config),
        weights_(weights),
        attention_(config.n_layer, std::vector<std::vector<Row>>(config.n_head)) {}

  const ReferenceAttention& attention() const { return attention_; }

  Row Head(const Row& x) const {
    const std::string head = weights_.contains("lm_head.weight") ? "lm_head.weight" : "wte.weight";
    const Row normed = Norm("ln_f", x);
    Row logits = BiasOf("lm_head.bias", c_.vocab_size);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] += Dot(normed, RowOf(head, i, c_.n_embd));
    }
    return logits;
  }

  std::vector<Row> Logits(std::span<const std::int32_t> ids) {
    std::vector<Row> x;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const Row token = RowOf("wte.weight", static_cast<std::size_t>(ids[t]), c_.n_embd);
      x.push_back(Sum(token, RowOf("wpe.weight", t, c_.n_embd)));
    }
    for (std::size_t layer = 0; layer < c_.n_layer; ++layer) {
      prefix_ = "h." + std::to_string(layer) + ".";
      std::vector<Row> qkv;
      for (const Row& row : x)
        qkv.push_back(Linear("attn.c_attn", Norm("ln_1", row), c_.qkv_width()));
      for (std::size_t t = 0; t < x.size(); ++t) {
        x[t] = Sum(x[t], Linear("attn.c_proj", Attention(qkv, t, layer), c_.n_embd));
        Row hidden = Linear("mlp.c_fc", Norm("ln_2", x[t]), c_.n_inner);
        for (double& value : hidden) value = Activate(value);
        x[t] = Sum(x[t], Linear("mlp.c_proj", hidden, c_.n_embd));
      }
    }
    prefix_.clear();
    for (Row& row : x) row = Head(row);
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
  static Row Sum(Row a, const Row& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
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
  Row Attention(const std::vector<Row>& qkv, std::size_t t, std::size_t layer) {
    const std::size_t width = c_.head_dim();
    Row mixed(c_.n_embd);
    for (std::size_t head = 0; head < c_.n_head; ++head) {
      const auto part = [&](std::size_t row, std::size_t which) {
        const auto begin = qkv[row].begin() + static_cast<std::ptrdiff_t>(PlaceOf(head, which));
        return Row(begin, begin + static_cast<std::ptrdiff_t>(width));
      };
      Row scores;
      for (std::size_t s = 0; s <= t; ++s) {
        scores.push_back(Dot(part(t, 0), part(s, 1)) / ScoreScale(layer));
      }
      double sum = 0;
      const double most = *std::max_element(scores.begin(), scores.end());
      for (double& score : scores) sum += score = std::exp(score - most);
      for (double& score : scores) score /= sum;
      for (std::size_t s = 0; s <= t; ++s) {
        const Row value = part(s, 2);
        for (std::size_t i = 0; i < width; ++i) mixed[head * width + i] += scores[s] * value[i];
      }
      attention_[layer][head].push_back(scores);
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
  ReferenceAttention attention_;
  std::string prefix_;  // of the layer under way
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
                                 std::span<const std::int32_t> ids, ReferenceAttention* attention) {
  ReferencePass pass(config, weights);
  std::vector<Row> logits = pass.Logits(ids);
  if (attention != nullptr) *attention = pass.attention();
  return logits;
}

Row ReferenceHead(const Config& config, const ReferenceWeights& weights, const Row& x) {
  return ReferencePass(config, weights).Head(x);
}

}  // namespace gpt2::testing
