#include "engine/model/weights.h"

#include <utility>

namespace gpt2 {
namespace {

// Collects slots; the functions name what kind of parameter each is.
class SlotList {
 public:
  void Embedding(std::string name, std::string part, std::size_t rows, std::size_t cols,
                 Matrix& matrix) {
    slots_.push_back({.name = std::move(name),
                      .part = std::move(part),
                      .rows = rows,
                      .cols = cols,
                      .is_vector = false,
                      .is_conv1d = false,
                      .is_required = true,
                      .matrix = &matrix,
                      .floats = nullptr});
  }

  void Positions(std::size_t rows, std::size_t cols, AlignedBuffer<float>& floats) {
    slots_.push_back({.name = "wpe.weight",
                      .part = "embeddings",
                      .rows = rows,
                      .cols = cols,
                      .is_vector = false,
                      .is_conv1d = false,
                      .is_required = true,
                      .matrix = nullptr,
                      .floats = &floats});
  }

  void Vector(std::string name, std::string part, std::size_t size, bool is_required,
              AlignedBuffer<float>& floats) {
    slots_.push_back({.name = std::move(name),
                      .part = std::move(part),
                      .rows = 1,
                      .cols = size,
                      .is_vector = true,
                      .is_conv1d = false,
                      .is_required = is_required,
                      .matrix = nullptr,
                      .floats = &floats});
  }

  void LayerNorm(const std::string& name, std::size_t size, LayerNormWeights& weights) {
    Vector(name + ".weight", "layer norms", size, /*is_required=*/true, weights.gain);
    Vector(name + ".bias", "layer norms", size, /*is_required=*/false, weights.bias);
  }

  void Conv1d(const std::string& name, std::string part, std::size_t out, std::size_t in,
              LinearWeights& weights) {
    slots_.push_back({.name = name + ".weight",
                      .part = part,
                      .rows = out,
                      .cols = in,
                      .is_vector = false,
                      .is_conv1d = true,
                      .is_required = true,
                      .matrix = &weights.weight,
                      .floats = nullptr});
    Vector(name + ".bias", std::move(part), out, /*is_required=*/false, weights.bias);
  }

  std::vector<TensorSlot> Take() { return std::move(slots_); }

 private:
  std::vector<TensorSlot> slots_;
};

}  // namespace

std::vector<TensorSlot> TensorSlots(Weights& weights) {
  const Config& c = weights.config;
  weights.blocks.resize(c.n_layer);
  SlotList list;
  list.Embedding("wte.weight", "embeddings", c.vocab_size, c.n_embd, weights.wte);
  list.Positions(c.n_positions, c.n_embd, weights.wpe);
  for (std::size_t i = 0; i < c.n_layer; ++i) {
    BlockWeights& block = weights.blocks[i];
    const std::string h = "h." + std::to_string(i);
    list.LayerNorm(h + ".ln_1", c.n_embd, block.ln_1);
    list.Conv1d(h + ".attn.c_attn", "attention", 3 * c.n_embd, c.n_embd, block.attn_qkv);
    list.Conv1d(h + ".attn.c_proj", "attention", c.n_embd, c.n_embd, block.attn_out);
    list.LayerNorm(h + ".ln_2", c.n_embd, block.ln_2);
    list.Conv1d(h + ".mlp.c_fc", "mlp", c.n_inner, c.n_embd, block.mlp_up);
    list.Conv1d(h + ".mlp.c_proj", "mlp", c.n_embd, c.n_inner, block.mlp_down);
  }
  list.LayerNorm("ln_f", c.n_embd, weights.ln_f);
  if (!c.tie_word_embeddings) {
    list.Embedding("lm_head.weight", "head", c.vocab_size, c.n_embd, weights.lm_head);
  }
  list.Vector("lm_head.bias", "head", c.vocab_size, /*is_required=*/false, weights.lm_head_bias);
  return list.Take();
}

Status AllocateSlot(const TensorSlot& slot, WeightFormat format) {
  const char* name = slot.name.c_str();
  if (slot.matrix != nullptr) {
    if (slot.cols < kGroup) format = WeightFormat::kF32;
    GPT2_ASSIGN(*slot.matrix, Matrix::Create(format, slot.rows, slot.cols, name));
    return Done{};
  }
  // Whole tiles: the matmul kernels read the bias of padded rows.
  const std::size_t size = RoundUp(slot.rows * slot.cols, kTileRows);
  GPT2_ASSIGN(*slot.floats, slot.is_vector ? AlignedBuffer<float>::Create(size, name)
                                           : AlignedBuffer<float>::CreateUnset(size, name));
  return Done{};
}

}  // namespace gpt2
