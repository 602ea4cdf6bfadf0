// Named places of the forward pass that can be read and changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/mat_view.h"

namespace gpt2 {

struct BatchToken;
struct Compute;
struct Config;
struct Weights;

// The places, in the order in which a pass reaches them. They are those of TransformerLens (Nanda
// and Bloom 2022), whose weights are not folded.
enum class Place : std::uint8_t {
  kEmbed,      // rows of wte [tokens, n_embd]
  kPosEmbed,   // rows of wpe [tokens, n_embd]
  kResidPre,   // the residual stream before a layer [tokens, n_embd]
  kNormed1,    // ln_1's output [tokens, n_embd]
  kQ,          // [tokens, n_head, head_dim], before any scale
  kK,          // [tokens, n_kv_head, head_dim]
  kV,          // the same
  kScores,     // q k^T, scaled, of one head [tokens, positions]; -infinity after the token
  kPattern,    // their softmax; 0 after the token
  kZ,          // what each head adds up from the values [tokens, n_head, head_dim]
  kAttnOut,    // what the attention adds to the residual stream [tokens, n_embd]
  kResidMid,   // the residual stream after that [tokens, n_embd]
  kNormed2,    // ln_2's output [tokens, n_embd]
  kMlpPre,     // the MLP's hidden layer before its activation [tokens, n_inner]
  kMlpPost,    // and after it
  kMlpOut,     // what the MLP adds to the residual stream [tokens, n_embd]
  kResidPost,  // the residual stream after a layer [tokens, n_embd]
  kNormed,     // ln_f's output [tokens, n_embd]
  kLogits,     // [tokens, vocab_size]
};

// Where a pass is. A place outside the layers has layer 0.
struct HookPoint {
  Place place;
  std::size_t layer = 0;
  std::size_t head = 0;         // the head of kScores and kPattern; otherwise 0
  std::size_t heads = 1;        // of kQ, kK, kV and kZ
  std::size_t head_stride = 0;  // columns from one of these heads to the next
};

// Reads and changes values while a pass computes them, on the thread that runs the pass. Reading
// changes no bit.
class Hooks {
 public:
  // Whether Visit is called at `place` of `layer`.
  virtual bool Wants(Place place, std::size_t layer) const = 0;

  // Whether Visit may change the scores or the pattern of `layer`. The attention of that layer then
  // adds up the values in plain float32, with keys and values as the cache holds them.
  virtual bool ChangesAttention(std::size_t /*layer*/) const { return false; }

  // The first position of a text whose values Visit may change, or has to see.
  virtual std::size_t FirstPosition() const { return 0; }

  // `x` has a row for each token of `batch`; changes to it take effect.
  virtual void Visit(const HookPoint& point, std::span<const BatchToken> batch,
                     MatView<float> x) = 0;

  // Room for the scores of a head [kMaxBatch, n_positions], for hooks that want scores or patterns.
  virtual MatView<float> Scores() { return {}; }

 protected:
  ~Hooks() = default;
};

// The visits of a pass. Each asks `hooks` whether it wants the place.
void VisitPlace(Hooks& hooks, const HookPoint& point, std::span<const BatchToken> batch,
                MatView<float> x);
// The queries, keys and values of all heads.
void VisitQkv(Hooks& hooks, const Config& config, std::size_t layer,
              std::span<const BatchToken> batch, MatView<float> qkv);
// Scores, patterns and z, after the attention has written `mixed` [tokens, n_embd]. If the hooks
// may change scores or patterns, `mixed` is computed again.
void VisitAttention(Hooks& hooks, const Compute& compute, const Config& config, std::size_t layer,
                    std::span<const BatchToken> batch, MatView<const float> qkv,
                    MatView<float> mixed);
// Embed (forward.h) in two steps. `positions` [tokens, n_embd] is room for the second.
void EmbedVisited(const Weights& weights, const Compute& compute, std::span<const BatchToken> batch,
                  MatView<float> positions, MatView<float> x, Hooks& hooks);

// Passes the values at those places for which wants(place) is true to read(point, x).
template <typename Wanted, typename Read>
class Reader final : public Hooks {
 public:
  Reader(Wanted wants, Read read) : wants_(wants), read_(read) {}

  bool Wants(Place place, std::size_t /*layer*/) const override { return wants_(place); }
  void Visit(const HookPoint& point, std::span<const BatchToken> /*batch*/,
             MatView<float> x) override {
    read_(point, MatView<const float>(x));
  }

 private:
  Wanted wants_;
  Read read_;
};

}  // namespace gpt2
