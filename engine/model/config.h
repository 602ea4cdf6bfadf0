// The shape of a GPT-2, in the words of its config.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gpt2 {

enum class Activation {
  kGeluTanh,   // "gelu_new": GPT-2's tanh formula
  kGeluErf,    // "gelu": exact
  kRelu,       // "relu"
  kSilu,       // "silu": x sigmoid(x)
  kQuickGelu,  // "quick_gelu": x sigmoid(1.702 x)
};

struct Config {
  std::size_t n_embd = 0;
  std::size_t n_head = 0;
  std::size_t n_layer = 0;
  std::size_t n_inner = 0;      // width of the MLP's hidden layer, usually 4 * n_embd
  std::size_t n_positions = 0;  // the context, in tokens
  std::size_t vocab_size = 0;
  float layer_norm_epsilon = 1e-5f;
  Activation activation = Activation::kGeluTanh;
  bool scale_attn_weights = true;                // attention scores by 1 / sqrt(head_dim)
  bool scale_attn_by_inverse_layer_idx = false;  // and by 1 / (layer + 1)
  bool tie_word_embeddings = true;
  std::optional<std::int32_t> eos_token_id;       // the first, where there are several
  std::vector<std::int32_t> other_eos_token_ids;  // end a text as well

  std::size_t head_dim() const { return n_embd / n_head; }
};

}  // namespace gpt2
