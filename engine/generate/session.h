// One generation: a prompt, and the tokens that a model writes after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/generate/options.h"
#include "engine/generate/sampler.h"
#include "engine/generate/stop_matcher.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace gpt2 {

enum class FinishReason {
  kNone,    // not finished
  kLength,  // max_new_tokens were written
  kEos,     // the model ended the text
  kStop,    // a stop string appeared
};
std::string_view FinishReasonName(FinishReason reason);

struct TokenLogprob {
  std::int32_t id;
  float logprob;  // natural logarithm of the model's own probability, before any filter
};

// A token that was written.
struct GeneratedToken {
  std::int32_t id;
  // The text that became final with it: whole characters, no part of a stop string. May be empty,
  // or hold text of earlier tokens.
  std::string text;
  float logprob;
  std::vector<TokenLogprob> top;  // options.logprobs of them, likeliest first
};

// What one Step did.
struct StepResult {
  std::optional<GeneratedToken> token;  // none while the context is being read
  FinishReason finish = FinishReason::kNone;
};

// Writes after a prompt, one Step at a time. Positions are absolute in GPT-2, so a full context
// cannot slide: it keeps its last part and is computed anew (Context::Push); a prompt that is
// longer than the context keeps its last n_positions tokens. In strict mode Begin refuses instead.
class Session {
 public:
  // Takes over `context` until finished. `tokenizer` may be null: then tokens have no text, and
  // stop strings are refused. An empty prompt starts at end-of-text, as GPT-2 was trained. What the
  // context has cached of the same beginning is not computed again.
  static Result<Session> Begin(Context& context, const Tokenizer* tokenizer,
                               std::span<const std::int32_t> prompt,
                               const GenerateOptions& options);

  // Reads up to kMaxRows tokens of the context, or writes one token. Only until finished.
  StepResult Step();

  FinishReason finish() const { return finish_; }
  // Tokens at the start of the text that no longer fit the context, so far.
  std::size_t dropped_tokens() const { return dropped_tokens_; }
  // Tokens of the prompt that were in the cache already.
  std::size_t reused_tokens() const { return reused_tokens_; }

 private:
  Session(Context& context, const Tokenizer* tokenizer, const GenerateOptions& options)
      : context_(&context),
        tokenizer_(tokenizer),
        options_(options),
        sampler_(options, context.config().vocab_size),
        stop_(options.stop) {}

  GeneratedToken TakeToken(std::span<const float> logits);
  std::string TextOf(std::int32_t id);

  Context* context_;
  const Tokenizer* tokenizer_;
  GenerateOptions options_;
  Sampler sampler_;
  Utf8Stream characters_;
  StopMatcher stop_;
  std::size_t dropped_tokens_ = 0;
  std::size_t reused_tokens_ = 0;
  std::size_t written_ = 0;
  FinishReason finish_ = FinishReason::kNone;
};

}  // namespace gpt2
