// Runs a model: sequences of tokens, scratch buffers and logits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/sequence.h"
#include "engine/model/forward.h"
#include "engine/model/hooks.h"

namespace gpt2 {

class Context;

// A completed forward pass, through which callers read its logits. They are in the context's
// buffers, so only the latest pass of a context is readable. Not thread-safe, like the context.
class Pass {
 public:
  // The number of tokens that ran.
  std::size_t tokens() const { return tokens_; }

  // Logits [count, vocab_size] after the tokens [first, first + count) of the pass; count is at
  // most Context::kLogitTokens. Valid until the next call, and until the context's next pass. If
  // one is not finite, the error names the position in the context and the first tensor with such a
  // number.
  Result<MatView<const float>> Logits(std::size_t first, std::size_t count) const;

  // The logits after all tokens of a draft (see Context::Verify). Only those after the first token
  // are guaranteed to be finite, because the rest of the draft may be wrong.
  Result<MatView<const float>> DraftLogits() const;

 private:
  friend class Context;
  Pass(Context& context, std::size_t tokens, std::size_t number)
      : context_(&context), tokens_(tokens), number_(number) {}

  Context* context_;
  std::size_t tokens_;
  [[maybe_unused]] std::size_t number_;  // the number of this pass, for an assertion
};

// One or more sequences that run together, so that one pass over the weights serves all of them.
// Not thread-safe. Borrows the weights and the compute resources.
class Context {
 public:
  // Tokens whose logits are computed together: each takes 4 * vocab_size bytes.
  static constexpr std::size_t kLogitTokens = 16;

  static Result<Context> Create(const Weights& weights, const Compute& compute, KvFormat kv_format);

  const Config& config() const { return weights_->config; }
  const Compute& compute() const { return compute_; }
  std::size_t bytes() const;

  // The first sequence always exists; SetSequences creates others.
  Sequence& sequence(std::size_t index = 0) { return sequences_[index]; }

  // Creates or removes sequences until there are `count`, at least 1. Without memory for all of
  // them, it adds none.
  Status SetSequences(std::size_t count);

  // All later passes run with `hooks`, which may be null. The cache keeps the tokens that neither
  // these nor the hooks until now may change.
  void SetHooks(std::shared_ptr<Hooks> hooks);
  const std::shared_ptr<Hooks>& hooks() const { return hooks_; }

  // Runs the next pending tokens of one sequence: at most `most`, and at most kMaxBatch. If `hooks`
  // are given, they visit in place of those of SetHooks.
  Pass Prefill(Sequence& sequence, std::size_t most, Hooks* hooks = nullptr);

  // A part of Prefill for a model that has only some of its weights. Runs tokens [first, first +
  // x.rows), at most kMaxBatch, of the first sequence's window through `layer`; the first layer
  // includes the embedding. x [tokens, n_embd] is their residual stream, updated in place. Tokens
  // before them must have run through that layer. They stay pending until Sequence::Advance.
  void RunLayer(std::size_t layer, std::size_t first, MatView<float> x);

  // Runs the next pending token of each of `sequences`, at most kMaxBatch, as one batch.
  Pass Decode(std::span<Sequence* const> sequences);

  // Runs any token after the first sequence, or in place of its last token if the sequence is full.
  // For measurements of time: the result has no meaning.
  Pass Probe();

  // Runs the one pending token of the first sequence and records intermediate values. `residuals`
  // [n_layer + 1, n_embd] gets its residual stream after the embedding and after each layer.
  // `attention` [n_layer * n_head, tokens of the sequence] gets the weight that each head gives to
  // each token.
  Pass Inspect(MatView<float> residuals, MatView<float> attention);

  // Logits [1, vocab_size] of a residual stream x [1, n_embd] of the latest pass. They are computed
  // as if it came from the last layer ("logit lens": nostalgebraist 2020). Valid until the next
  // call. Fails as Pass::Logits does. No hook visits them.
  Result<MatView<const float>> Unembed(MatView<const float> x);

  // Runs the one pending token of `sequence`, and a draft of the tokens that may follow it,
  // together at most kMaxBatch. The draft does not become part of the sequence: see
  // Sequence::Accept.
  Pass Verify(Sequence& sequence, std::span<const std::int32_t> draft);

 private:
  friend class Pass;

  Context(const Weights& weights, const Compute& compute, KvFormat kv_format)
      : weights_(&weights), compute_(compute), kv_format_(kv_format) {}

  Pass Run(std::size_t count, Hooks* hooks);
  Result<MatView<const float>> Logits(std::size_t first, std::size_t count, std::size_t checked,
                                      Hooks* hooks);
  Error NotFinite(const BatchToken& bad);

  const Weights* weights_;
  Compute compute_;
  KvFormat kv_format_;
  std::shared_ptr<Hooks> hooks_;
  std::vector<Sequence> sequences_;
  std::array<BatchToken, kMaxBatch> batch_{};  // the tokens of the latest pass
  std::size_t passes_ = 0;                     // number of passes so far
  Scratch scratch_;
  AlignedBuffer<float> logits_;  // [kLogitTokens, vocab_size in whole tiles]
};

}  // namespace gpt2
