#include "engine/model/weights.h"

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"

namespace gpt2 {

struct TensorPlace {
  TensorRef (*in)(Weights& weights, std::size_t layer);
  ConstTensorRef (*in_const)(const Weights& weights, std::size_t layer);
};

namespace {

TensorRef Ref(Matrix& matrix) {
  return {.matrix = &matrix};
}
TensorRef Ref(AlignedBuffer<float>& floats) {
  return {.floats = &floats};
}
ConstTensorRef Ref(const Matrix& matrix) {
  return {.matrix = &matrix};
}
ConstTensorRef Ref(const AlignedBuffer<float>& floats) {
  return {.floats = &floats};
}

// Follows the members from `object`, one after another.
template <auto... kMembers>
auto& Follow(auto& object) {
  return (object.*....*kMembers);  // a fold: object .* first .* second
}

template <auto... kMembers>
constexpr TensorPlace kPlaceInModel = {
    [](Weights& weights, std::size_t) { return Ref(Follow<kMembers...>(weights)); },
    [](const Weights& weights, std::size_t) { return Ref(Follow<kMembers...>(weights)); }};

template <auto... kMembers>
constexpr TensorPlace kPlaceInBlock = {[](Weights& weights, std::size_t layer) {
                                         return Ref(Follow<kMembers...>(weights.blocks[layer]));
                                       },
                                       [](const Weights& weights, std::size_t layer) {
                                         return Ref(Follow<kMembers...>(weights.blocks[layer]));
                                       }};

// A member of Weights or, for the tensor's layer, of its block. With two members, the second one of
// the first.
template <auto... kMembers>
constexpr const TensorPlace* kInModel = &kPlaceInModel<kMembers...>;
template <auto... kMembers>
constexpr const TensorPlace* kInBlock = &kPlaceInBlock<kMembers...>;

}  // namespace

std::vector<TensorSpec> TensorSpecs(const Config& c) {
  using enum TensorKind;
  using W = Weights;
  using B = BlockWeights;
  using N = LayerNormWeights;
  using L = LinearWeights;
  constexpr const char *kEmbeddings = "embeddings", *kNorms = "layer norms", *kAttn = "attention",
                       *kMlp = "mlp", *kHead = "head";
  const std::size_t d = c.n_embd;
  const TensorKind matrix = c.is_bigcode ? kLinear : kConv1d;
  std::vector<TensorSpec> specs;
  std::string prefix;
  std::size_t layer = 0;
  // Calls of a function take a kilobyte less code than a list of all tensors that is copied.
  const auto add = [&](const char* name, const char* part, TensorKind kind, std::size_t rows,
                       std::size_t cols, const TensorPlace* place) {
    specs.push_back({Concat(prefix, name), part, kind, rows, cols, place, layer});
  };
  // clang-format off: a line for each tensor
  add("wte.weight", kEmbeddings, kEmbedding, c.vocab_size, d, kInModel<&W::wte>);
  add("wpe.weight", kEmbeddings, kPositions, c.n_positions, d, kInModel<&W::wpe>);
  for (; layer < c.n_layer; ++layer) {
    prefix = Concat("h.", layer, ".");
    add("ln_1.weight", kNorms, kGain, 1, d, kInBlock<&B::ln_1, &N::gain>);
    add("ln_1.bias", kNorms, kBias, 1, d, kInBlock<&B::ln_1, &N::bias>);
    add("attn.c_attn.weight", kAttn, matrix, c.qkv_width(), d, kInBlock<&B::attn_qkv, &L::weight>);
    add("attn.c_attn.bias", kAttn, kBias, 1, c.qkv_width(), kInBlock<&B::attn_qkv, &L::bias>);
    add("attn.c_proj.weight", kAttn, matrix, d, d, kInBlock<&B::attn_out, &L::weight>);
    add("attn.c_proj.bias", kAttn, kBias, 1, d, kInBlock<&B::attn_out, &L::bias>);
    add("ln_2.weight", kNorms, kGain, 1, d, kInBlock<&B::ln_2, &N::gain>);
    add("ln_2.bias", kNorms, kBias, 1, d, kInBlock<&B::ln_2, &N::bias>);
    add("mlp.c_fc.weight", kMlp, matrix, c.n_inner, d, kInBlock<&B::mlp_up, &L::weight>);
    add("mlp.c_fc.bias", kMlp, kBias, 1, c.n_inner, kInBlock<&B::mlp_up, &L::bias>);
    add("mlp.c_proj.weight", kMlp, matrix, d, c.n_inner, kInBlock<&B::mlp_down, &L::weight>);
    add("mlp.c_proj.bias", kMlp, kBias, 1, d, kInBlock<&B::mlp_down, &L::bias>);
  }
  prefix.clear();
  add("ln_f.weight", kNorms, kGain, 1, d, kInModel<&W::ln_f, &N::gain>);
  add("ln_f.bias", kNorms, kBias, 1, d, kInModel<&W::ln_f, &N::bias>);
  if (!c.tie_word_embeddings) {
    add("lm_head.weight", kHead, kEmbedding, c.vocab_size, d, kInModel<&W::lm_head>);
  }
  add("lm_head.bias", kHead, kBias, 1, c.vocab_size, kInModel<&W::lm_head_bias>);
  // clang-format on
  return specs;
}

TensorRef Bind(const TensorSpec& spec, Weights& weights) {
  return spec.place->in(weights, spec.layer);
}

ConstTensorRef Bind(const TensorSpec& spec, const Weights& weights) {
  return spec.place->in_const(weights, spec.layer);
}

Status Allocate(const TensorSpec& spec, WeightFormat format, Weights& weights) {
  const TensorRef tensor = Bind(spec, weights);
  const char* name = spec.name.c_str();
  if (spec.is_matrix()) {
    if (spec.cols < InfoOf(format).group) format = WeightFormat::kF32;
    GPT2_ASSIGN(*tensor.matrix, Matrix::Create(format, spec.rows, spec.cols, name));
    return Done{};
  }
  // Whole tiles: the matmul kernels read the bias of padded rows.
  const std::size_t size = RoundUp(spec.rows * spec.cols, kTileRows);
  GPT2_ASSIGN(*tensor.floats, spec.is_vector() ? AlignedBuffer<float>::Create(size, name)
                                               : AlignedBuffer<float>::CreateUnset(size, name));
  return Done{};
}

}  // namespace gpt2
