// The shape of a GPT-2 or a GPT-BigCode, in the words of its config.json.
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

// The columns of attn_qkv's output at which the vectors [head_dim] of a head begin.
struct QkvColumns {
  std::size_t query;
  std::size_t key;
  std::size_t value;
};

struct Config {
  // GPT-BigCode (Ben Allal et al. 2023, "SantaCoder"), not GPT-2: its checkpoints hold matrices as
  // [out, in], and `multi_query` is a key of its config.
  bool is_bigcode = false;
  bool multi_query = false;  // all heads share one key and one value
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
  std::optional<std::int32_t> eos_token_id;       // the first, if there are several
  std::vector<std::int32_t> other_eos_token_ids;  // further tokens that end a text

  std::size_t head_dim() const { return n_embd / n_head; }
  // The number of heads that have their own keys and values: 1 or n_head.
  std::size_t n_kv_head() const { return multi_query ? 1 : n_head; }
  std::size_t qkv_width() const { return n_embd + 2 * n_kv_head() * head_dim(); }

  // The head of the KV cache that holds the keys and values of `head`.
  std::size_t KvHead(std::size_t head) const { return multi_query ? 0 : head; }

  // GPT-2: all queries, all keys, all values. With multi_query: all queries, the key, the value.
  // GPT-BigCode without multi_query: query, key and value of head 0, then those of head 1, and so
  // on.
  QkvColumns ColumnsOf(std::size_t head) const {
    const std::size_t dim = head_dim();
    if (is_bigcode && !multi_query)
      return {3 * head * dim, (3 * head + 1) * dim, (3 * head + 2) * dim};
    const std::size_t kv_head = KvHead(head);
    return {head * dim, n_embd + kv_head * dim, n_embd + (n_kv_head() + kv_head) * dim};
  }
};

}  // namespace gpt2
