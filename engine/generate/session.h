// One generation: a prompt, and one or more continuations of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/generate/lookup_drafter.h"
#include "engine/generate/options.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/sampler.h"
#include "engine/generate/stop_matcher.h"
#include "engine/generate/token_healer.h"
#include "engine/model/hooks.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace gpt2 {

enum class FinishReason {
  kNone,    // not finished
  kLength,  // max_new_tokens were written, not counting those that only heal the prompt
  kEos,     // the model ended the text
  kStop,    // a stop string appeared
};
std::string_view FinishReasonName(FinishReason reason);

// How many bytes of a token repeat the end of the healed prompt.
enum class Healed { kNone, kSome, kAll };

struct TokenLogprob {
  std::int32_t id;
  float logprob;  // natural logarithm of the model's own probability, before any filter
};

// A token that was written.
struct GeneratedToken {
  std::size_t continuation;  // its number, below options.n
  std::int32_t id;
  // The text that became final with this token: whole characters, no part of a stop string. It may
  // be empty, or include text of earlier tokens. A token that only heals the prompt has none,
  // because the prompt contains it.
  std::string text;
  float logprob;
  std::uint32_t rank;  // by logprob, 1: the most probable token
  Healed healed = Healed::kNone;
  // options.logprobs alternatives, most probable first. While the prompt is healed, these are only
  // allowed tokens.
  std::vector<TokenLogprob> top;
};

// The progress of a prefill: the number of cached tokens, and of all tokens of the prompt or of a
// context that runs again.
struct PrefillProgress {
  std::size_t done = 0;
  std::size_t total = 0;
};

// Writes after a prompt, one Step at a time. Positions are absolute in GPT-2, so a full context
// cannot slide: it keeps its last part, which is computed anew (Sequence::Push). A prompt that is
// longer than the context keeps its last n_positions tokens. In strict mode Begin refuses it
// instead.
//
// A decode step is bound by reading the weights, so each reading serves more than one token if
// possible. The options.n continuations are decoded as one batch. A single continuation has a draft
// verified along with the next token (speculative decoding: Leviathan et al. 2023). Both give the
// same tokens as decoding one by one.
//
// Not thread-safe: it, its context and whatever else uses that belong to one thread at a time. Step
// may let the threads of the context's pool help.
class Session {
 public:
  // Uses `context` alone until it is finished or suspended. If `tokenizer` is null, tokens have no
  // text, and stop strings are refused. An empty prompt starts at end-of-text, as in GPT-2's
  // training. Cached tokens of the same beginning do not run again. Continuation i draws with seed
  // options.seed + i.
  static Result<Session> Begin(Context& context, const Tokenizer* tokenizer,
                               const PromptTokens& prompt, const GenerateOptions& options);
  static Result<Session> Begin(Context& context, const Tokenizer* tokenizer,
                               std::span<const std::int32_t> prompt,
                               const GenerateOptions& options);

  // Prefills up to kMaxBatch tokens, or writes tokens: at least one for each running continuation,
  // in order of continuation. They are valid until the next call. Fails if logits are not finite,
  // and is then finished. Only until done.
  Result<std::span<const GeneratedToken>> Step();

  // Between Suspend and Resume, others may use the context. Resume prefills the tokens that are no
  // longer cached, and may need memory. The following tokens stay the same.
  void Suspend();
  Status Resume();

  Context& context() { return *context_; }
  bool is_done() const;
  std::size_t continuations() const { return continuations_.size(); }
  FinishReason finish(std::size_t continuation = 0) const {
    return continuations_[continuation].finish;
  }

  // The current or the last prefill.
  const PrefillProgress& prefill() const { return prefill_; }

  // The number of tokens at the start of the text that no longer fit the context, in the
  // continuation that lost most.
  std::size_t dropped_tokens() const;
  // The number of tokens of the prompt that were already cached.
  std::size_t reused_tokens() const { return reused_tokens_; }
  // The number of tokens at the end of the prompt that the model writes again.
  std::size_t healed_tokens() const { return healing_.tokens; }
  // The number of drafted tokens, and of accepted ones.
  std::size_t drafted_tokens() const { return drafted_tokens_; }
  std::size_t accepted_tokens() const { return accepted_tokens_; }

 private:
  struct Continuation {
    Sampler sampler;
    StopMatcher stop;
    std::size_t healed_bytes = 0;  // bytes of the prompt's end that are written again
    Healing::Tokens cover = {};    // the tokens that write them
    std::size_t covered = 0;       // number of those that are written
    Utf8Stream characters = {};
    std::size_t dropped_tokens = 0;
    std::size_t written = 0;  // tokens, except for those that only heal the prompt
    FinishReason finish = FinishReason::kNone;
  };

  Session(Context& context, const Tokenizer* tokenizer, const GenerateOptions& options)
      : context_(&context), hooks_(context.hooks()), tokenizer_(tokenizer), options_(options) {}

  Status Prefill(std::size_t index);
  Status PrefillHealed();
  void DrawCovers();
  Status DecodeBatch();
  Status DecodeDraft();
  void Push(std::size_t index, std::int32_t id);
  bool IsEnd(std::int32_t id) const;
  bool MayCover(const Continuation& continuation, std::int32_t id) const;
  const GeneratedToken& Write(std::size_t index, std::span<const float> logits);
  void Choose(Continuation& continuation, std::span<const float> logits, GeneratedToken& token);
  std::string_view Heal(Continuation& continuation, GeneratedToken& token);
  void Finish(Continuation& continuation, std::string_view bytes, GeneratedToken& token);

  Context* context_;
  std::shared_ptr<Hooks> hooks_;  // of the context, which others may set while this is suspended
  const Tokenizer* tokenizer_;
  GenerateOptions options_;
  std::vector<Continuation> continuations_;  // of context sequence 0, 1, ...
  bool has_prompt_ = false;                  // if not, all continuations share sequence 0
  PrefillProgress prefill_;
  std::vector<GeneratedToken> tokens_;              // of the last step
  std::vector<Candidate> best_;                     // of the last token
  std::vector<std::vector<std::int32_t>> windows_;  // of the sequences, while suspended
  LookupDrafter drafter_;
  std::size_t reused_tokens_ = 0;
  Healing healing_;
  std::vector<std::int32_t> before_;  // the window before healing_.text
  std::size_t drafted_tokens_ = 0;
  std::size_t accepted_tokens_ = 0;
};

}  // namespace gpt2
