#include "engine/generate/session.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/generate/log_softmax.h"
#include "engine/generate/lookup_drafter.h"
#include "engine/generate/not_finite.h"
#include "engine/generate/options.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/rank.h"
#include "engine/generate/sampler.h"
#include "engine/generate/sequence.h"
#include "engine/generate/stop_matcher.h"
#include "engine/generate/token_healer.h"
#include "engine/model/config.h"
#include "engine/model/forward.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {
namespace {

// `most` is the limit for the prompt, whose healed end counts one token per byte.
Status CheckFits(std::size_t prompt, std::size_t most, const GenerateOptions& options,
                 std::size_t capacity) {
  if (!options.strict || most + options.max_new_tokens <= capacity) return Done{};
  const std::string healed =
      most > prompt ? Concat(" (up to ", most, " if its end is healed)") : "";
  return Error{
      ErrorCode::kCapacity,
      Concat("the text is longer than the context: ", prompt, " prompt tokens", healed, " and ",
             options.max_new_tokens, " new ones, but the context holds ", capacity)};
}

// The number of new tokens that max_length allows.
Result<std::size_t> MostNewTokens(std::size_t prompt, const GenerateOptions& options) {
  if (prompt < options.max_length) {
    return std::min(options.max_new_tokens, options.max_length - prompt);
  }
  return Error{
      ErrorCode::kInvalidArgument,
      Concat("the prompt has ", prompt, " tokens, and max_length in generation_config.json, ",
             "which counts the prompt, is ", options.max_length, ": set maxNewTokens")};
}

std::vector<std::int32_t> Joined(std::span<const std::int32_t> first,
                                 std::span<const std::int32_t> second) {
  std::vector<std::int32_t> both(first.begin(), first.end());
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

bool IsToWeigh(const std::pair<const Healing::Tokens, Healing::Beginning>& beginning) {
  return !beginning.second.is_weighed;
}

}  // namespace

// The tokens whose logits one pass computes.
static_assert(kMostContinuations <= Context::kLogitTokens);
static_assert(LookupDrafter::kMostTokens + 1 <= Context::kLogitTokens);

std::string_view FinishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kNone:
      return "none";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kEos:
      return "eos";
    case FinishReason::kStop:
      return "stop";
  }
  return "none";
}

Result<Session> Session::Begin(Context& context, const Tokenizer* tokenizer,
                               std::span<const std::int32_t> prompt,
                               const GenerateOptions& options) {
  PromptTokens tokens(context.config());
  GPT2_TRY(tokens.Add(prompt));
  return Begin(context, tokenizer, tokens, options);
}

Result<Session> Session::Begin(Context& context, const Tokenizer* tokenizer,
                               const PromptTokens& prompt, const GenerateOptions& options) {
  const Config& config = context.config();
  if (prompt.size() == 0) {
    if (!config.eos_token_id) {
      return Error{ErrorCode::kInvalidArgument,
                   "the prompt is empty, and config.json names no eos_token_id to start from"};
    }
    const std::array<std::int32_t, 1> start = {*config.eos_token_id};
    return Begin(context, tokenizer, start, options);
  }
  if (options.max_length > 0) {
    GenerateOptions limited = options;
    GPT2_ASSIGN(limited.max_new_tokens, MostNewTokens(prompt.size(), options));
    limited.max_length = 0;
    return Begin(context, tokenizer, prompt, limited);
  }
  if (tokenizer == nullptr && (options.heal || !options.stop.empty())) {
    return Error{ErrorCode::kInvalidArgument,
                 options.heal ? "heal needs a tokenizer, which the model lacks"
                              : "stop needs a tokenizer, which the model lacks"};
  }
  std::span<const std::int32_t> window = prompt.window();
  std::size_t dropped = prompt.size() - window.size();
  Healing healing;
  if (options.heal && options.max_new_tokens > 0) {
    // All tokens may be removed if there is an end-of-text token to start from; otherwise the first
    // stays.
    const bool can_start = config.eos_token_id && dropped == 0;
    const TokenHealer healer(*tokenizer, config.eos_token_id);
    healing = healer.TakeBack(window.subspan(can_start ? 0 : 1));
    // The longest beginning must fit the context, too.
    while (std::max<std::size_t>(window.size() - healing.tokens, 1) + healing.Longest() >
           config.n_positions) {
      const std::size_t part = std::min(DroppedWhenFull(config.n_positions), window.size() - 1);
      window = window.subspan(part);
      dropped += part;
      healing = healer.TakeBack(window.subspan(1));
    }
    window = window.first(window.size() - healing.tokens);
    if (window.empty()) window = {&*config.eos_token_id, 1};
  }
  const std::size_t kept = prompt.size() - healing.tokens;
  const std::size_t most = std::max(prompt.size(), kept + healing.bytes.size());
  GPT2_TRY(CheckFits(prompt.size(), most, options, config.n_positions));
  GPT2_TRY(context.SetSequences(options.n));
  GenerateOptions seeded = options;
  // As in transformers, which reads config.json if generation_config.json has no such token.
  if (seeded.eos_token_ids.empty()) {
    seeded.eos_token_ids = config.other_eos_token_ids;
    if (config.eos_token_id) seeded.eos_token_ids.push_back(*config.eos_token_id);
  }
  Session session(context, tokenizer, seeded);
  context.sequence().SetWindow(window);
  session.reused_tokens_ = context.sequence().cached();
  session.prefill_ = {session.reused_tokens_, window.size()};
  if (healing.tokens > 0) {
    const std::size_t words = healing.Kept().size();
    session.before_.assign(window.begin(), window.end() - static_cast<std::ptrdiff_t>(words));
  }
  session.healing_ = std::move(healing);
  for (; session.continuations_.size() < options.n; ++seeded.seed) {
    session.continuations_.push_back({.sampler = Sampler(seeded, config.vocab_size),
                                      .stop = StopMatcher(options.stop),
                                      .dropped_tokens = dropped});
    Continuation& continuation = session.continuations_.back();
    for (std::size_t id = 0; id < config.vocab_size; ++id) {
      if (prompt.IsAmong(kept, id)) continuation.sampler.Notice(static_cast<std::int32_t>(id));
    }
    for (const std::int32_t id : window) continuation.sampler.Accept(id);
    if (options.max_new_tokens == 0) continuation.finish = FinishReason::kLength;
  }
  return session;
}

void Session::Suspend() {
  // Until the prompt is prefilled, only sequence 0 exists.
  windows_.resize(has_prompt_ ? continuations_.size() : 1);
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const std::span<const std::int32_t> window = context_->sequence(i).window();
    windows_[i].assign(window.begin(), window.end());
  }
}

Status Session::Resume() {
  GPT2_TRY(context_->SetSequences(continuations_.size()));
  context_->SetHooks(hooks_);
  for (std::size_t i = 0; i < windows_.size(); ++i) context_->sequence(i).SetWindow(windows_[i]);
  windows_.clear();
  return Done{};
}

bool Session::is_done() const {
  return std::all_of(continuations_.begin(), continuations_.end(),
                     [](const Continuation& c) { return c.finish != FinishReason::kNone; });
}

std::size_t Session::dropped_tokens() const {
  std::size_t most = 0;
  for (const Continuation& c : continuations_) most = std::max(most, c.dropped_tokens);
  return most;
}

Result<std::span<const GeneratedToken>> Session::Step() {
  tokens_.clear();
  // More than the last sampled token is pending. It may be a prompt, a context that was cut, or one
  // that others have used.
  for (std::size_t i = 0; i < continuations_.size(); ++i) {
    const bool is_prefilled = has_prompt_ && context_->sequence(i).pending() <= 1;
    if (continuations_[i].finish != FinishReason::kNone || is_prefilled) continue;
    GPT2_TRY(Prefill(i));
    return std::span<const GeneratedToken>(tokens_);
  }
  if (continuations_.size() == 1 && options_.lookup) {
    GPT2_TRY(DecodeDraft());
  } else {
    GPT2_TRY(DecodeBatch());
  }
  return std::span<const GeneratedToken>(tokens_);
}

// Runs pending tokens of sequence `index`, and samples when none are left.
Status Session::Prefill(std::size_t index) {
  if (!has_prompt_ && healing_.tokens > 0) return PrefillHealed();
  Sequence& sequence = context_->sequence(index);
  const Pass pass = context_->Prefill(sequence, kMaxBatch);
  prefill_ = {sequence.cached(), sequence.window().size()};
  if (!sequence.is_current()) return Done{};
  std::size_t first = index, last = index + 1;
  if (!has_prompt_) {
    has_prompt_ = true;
    first = 0;
    last = continuations_.size();
    for (std::size_t i = 1; i < last; ++i) context_->sequence(i).CopyFrom(sequence);
  }
  GPT2_ASSIGN(const MatView<const float> logits, pass.Logits(pass.tokens() - 1, 1));
  for (std::size_t i = first; i < last; ++i) {
    Push(i, Write(i, logits.Row(0)).id);
  }
  return Done{};
}

// Runs one beginning of covers after the other, to weigh all, and then draws. Those that begin one
// another run together.
Status Session::PrefillHealed() {
  // The last one that is not weighed begins no other one.
  const auto longest =
      std::find_if(healing_.beginnings.rbegin(), healing_.beginnings.rend(), IsToWeigh);
  Sequence& sequence = context_->sequence();
  sequence.SetWindow(Joined(before_, longest->first));
  const std::size_t kept = before_.size() + healing_.Kept().size();
  const std::size_t begin = sequence.cached();
  const std::size_t first = std::max(begin, kept - 1);  // the first token whose logits are needed
  const Pass pass = context_->Prefill(sequence, first - begin + Context::kLogitTokens);
  const std::size_t end = sequence.cached();
  prefill_ = {std::min(end, kept), kept};
  if (end <= first) return Done{};
  GPT2_ASSIGN(const MatView<const float> logits, pass.Logits(first - begin, end - first));
  const TokenHealer healer(*tokenizer_, context_->config().eos_token_id);
  for (std::size_t i = 0; i < logits.rows; ++i) {
    const auto ids = sequence.window().first(first + i + 1).subspan(before_.size());
    const LogSoftmax logprob(context_->compute(), logits.Row(i));
    healer.Weigh({ids.begin(), ids.end()}, logits.Row(i), logprob, healing_);
  }
  if (std::ranges::none_of(healing_.beginnings, IsToWeigh)) DrawCovers();
  return Done{};
}

// Draws a cover for each continuation. The next passes run it, and write it with its logits.
void Session::DrawCovers() {
  const TokenHealer healer(*tokenizer_, context_->config().eos_token_id);
  const Healing::Tokens& kept = healing_.Kept();
  context_->sequence().SetWindow(Joined(before_, kept));
  for (std::size_t i = 0; i < continuations_.size(); ++i) {
    if (i > 0) context_->sequence(i).CopyFrom(context_->sequence());
    const auto is_allowed = [&](std::size_t cover) {
      return healer.Admits(healing_, *healing_.covers[cover].beginning,
                           healing_.covers[cover].last);
    };
    const std::size_t drawn = continuations_[i].sampler.Choose(healing_.logprobs, is_allowed);
    const auto& [beginning, last] = healing_.covers[drawn];
    continuations_[i].cover = Joined(std::span(*beginning).subspan(kept.size()), {&last, 1});
  }
  healing_.covers = {};
  healing_.logprobs = {};
  has_prompt_ = true;
}

Status Session::DecodeBatch() {
  std::array<Sequence*, kMostContinuations> sequences;
  std::array<std::size_t, kMostContinuations> indices;
  std::size_t count = 0;
  for (std::size_t i = 0; i < continuations_.size(); ++i) {
    if (continuations_[i].finish != FinishReason::kNone) continue;
    sequences[count] = &context_->sequence(i);
    indices[count++] = i;
  }
  const Pass pass = context_->Decode({sequences.data(), count});
  GPT2_ASSIGN(const MatView<const float> logits, pass.Logits(0, count));
  for (std::size_t i = 0; i < count; ++i) {
    Push(indices[i], Write(indices[i], logits.Row(i)).id);
  }
  return Done{};
}

// Logits i follow the first i tokens of the draft. As long as the token that is sampled from them
// equals the draft's next token, the next logits are valid, too.
Status Session::DecodeDraft() {
  Sequence& sequence = context_->sequence();
  const std::size_t room = std::min(context_->config().n_positions - sequence.window().size(),
                                    options_.max_new_tokens - continuations_[0].written - 1);
  const std::span<const std::int32_t> cover =
      std::span(continuations_[0].cover).subspan(continuations_[0].covered);
  const std::span<const std::int32_t> draft =
      cover.empty() ? drafter_.Draft(sequence.window(), room)
                    : cover.first(std::min({cover.size(), room, LookupDrafter::kMostTokens}));
  const Pass pass = context_->Verify(sequence, draft);
  GPT2_ASSIGN(const MatView<const float> logits, pass.DraftLogits());
  std::size_t accepted = 0;
  do {
    const std::int32_t id = Write(0, logits.Row(accepted)).id;
    if (accepted == draft.size() || id != draft[accepted]) break;
    // If the generation continues, the next pass reports it, as without a draft.
    if (!AllFinite(logits.Row(accepted + 1))) break;
    ++accepted;
  } while (continuations_[0].finish == FinishReason::kNone);
  sequence.Accept(draft.first(accepted));
  Push(0, tokens_.back().id);
  if (!cover.empty()) return Done{};
  drafter_.Update(draft.size(), accepted);
  drafted_tokens_ += draft.size();
  accepted_tokens_ += accepted;
  return Done{};
}

void Session::Push(std::size_t index, std::int32_t id) {
  Continuation& continuation = continuations_[index];
  if (continuation.finish != FinishReason::kNone) return;  // nothing follows the last token
  continuation.dropped_tokens += context_->sequence(index).Push(id);
}

bool Session::IsEnd(std::int32_t id) const {
  return std::ranges::find(options_.eos_token_ids, id) != options_.eos_token_ids.end();
}

// Writes the next token of continuation `index`.
const GeneratedToken& Session::Write(std::size_t index, std::span<const float> logits) {
  Continuation& continuation = continuations_[index];
  GeneratedToken& token = tokens_.emplace_back();
  token.continuation = index;
  Choose(continuation, logits, token);
  const std::string_view bytes = Heal(continuation, token);
  Finish(continuation, bytes, token);
  return token;
}

// Draws a token, or takes the next one of the cover, with its probability and its alternatives.
void Session::Choose(Continuation& continuation, std::span<const float> logits,
                     GeneratedToken& token) {
  const LogSoftmax logprob(context_->compute(), logits);
  const bool is_healing = continuation.covered < continuation.cover.size();
  if (options_.logprobs > 0) {
    SelectTop(logits, is_healing ? logits.size() : options_.logprobs, best_);
    for (const Candidate& c : best_) {
      if (is_healing && !MayCover(continuation, c.id)) continue;
      token.top.push_back({c.id, logprob(c.logit)});
      if (token.top.size() == options_.logprobs) break;
    }
  }
  token.id =
      is_healing ? continuation.cover[continuation.covered++] : continuation.sampler.Sample(logits);
  const float logit = logits[static_cast<std::size_t>(token.id)];
  token.logprob = logprob(logit);
  token.rank = RankOf(logits, logit);
  continuation.sampler.Accept(token.id);
}

// Returns the bytes of `token` that do not repeat the end of the healed prompt.
std::string_view Session::Heal(Continuation& continuation, GeneratedToken& token) {
  std::string_view bytes;
  if (tokenizer_ != nullptr) bytes = tokenizer_->TokenBytes(token.id);
  const std::size_t healed =
      std::min(bytes.size(), healing_.bytes.size() - continuation.healed_bytes);
  if (healed > 0) token.healed = healed < bytes.size() ? Healed::kSome : Healed::kAll;
  if (token.healed != Healed::kAll) {
    ++continuation.written;
    continuation.sampler.Count(token.id);
  }
  continuation.healed_bytes += healed;
  return bytes.substr(healed);
}

// Finds whether `token`, which adds `bytes`, is the last one, and which text becomes final with it.
// The end-of-text token has no text.
void Session::Finish(Continuation& continuation, std::string_view bytes, GeneratedToken& token) {
  if (IsEnd(token.id) && !options_.ignore_eos) {
    continuation.finish = FinishReason::kEos;
  } else if (continuation.written == options_.max_new_tokens) {
    continuation.finish = FinishReason::kLength;
  }
  std::string text;
  if (continuation.finish != FinishReason::kEos) text = continuation.characters.Push(bytes);
  const bool is_last = continuation.finish != FinishReason::kNone;
  if (is_last) text += continuation.characters.Flush();
  token.text = continuation.stop.Push(text);
  if (is_last) token.text += continuation.stop.Flush();
  if (continuation.stop.stopped()) continuation.finish = FinishReason::kStop;
}

// Whether the next token of a cover, after those that are written, could be `id`.
bool Session::MayCover(const Continuation& continuation, std::int32_t id) const {
  const TokenHealer healer(*tokenizer_, context_->config().eos_token_id);
  const std::span<const std::int32_t> covered(continuation.cover.data(), continuation.covered);
  return healer.Admits(healing_, Joined(healing_.Kept(), covered), id);
}

}  // namespace gpt2
