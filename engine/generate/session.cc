#include "engine/generate/session.h"

#include <algorithm>
#include <array>

namespace gpt2 {
namespace {

Status CheckFits(std::size_t prompt, const GenerateOptions& options, std::size_t capacity) {
  if (!options.strict || prompt + options.max_new_tokens <= capacity) return Done{};
  return Error{ErrorCode::kCapacity,
               "sequence longer than model capacity: " + std::to_string(prompt) +
                   " prompt tokens and " + std::to_string(options.max_new_tokens) +
                   " new ones, the context holds " + std::to_string(capacity)};
}

}  // namespace

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
  const Config& config = context.config();
  GPT2_TRY(context.CheckIds(prompt));
  std::array<std::int32_t, 1> start{};
  if (prompt.empty()) {
    if (!config.eos_token_id) {
      return Error{ErrorCode::kInvalidArgument,
                   "the prompt is empty, and config.json names no eos_token_id to start from"};
    }
    start[0] = *config.eos_token_id;
    prompt = start;
  }
  if (!options.stop.empty() && tokenizer == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "stop needs vocab.json and merges.txt"};
  }
  GPT2_TRY(CheckFits(prompt.size(), options, config.n_positions));
  Session session(context, tokenizer, options);
  session.dropped_tokens_ = prompt.size() - std::min(prompt.size(), config.n_positions);
  context.SetWindow(prompt.subspan(session.dropped_tokens_));
  session.reused_tokens_ = context.cached();
  for (const std::int32_t id : prompt) session.sampler_.See(id);
  if (options.max_new_tokens == 0) session.finish_ = FinishReason::kLength;
  return session;
}

StepResult Session::Step() {
  StepResult result;
  const std::size_t ran = context_->RunNext(kMaxRows);
  if (context_->is_current()) result.token = TakeToken(context_->Logits(ran - 1, 1).Row(0));
  result.finish = finish_;
  return result;
}

GeneratedToken Session::TakeToken(std::span<const float> logits) {
  GeneratedToken token;
  const LogSoftmax logprob(context_->compute(), logits);
  if (options_.logprobs > 0) {
    std::vector<Candidate> best;
    SelectTop(logits, options_.logprobs, best);
    for (const Candidate& c : best) token.top.push_back({c.id, logprob(c.logit)});
  }
  token.id = sampler_.Sample(logits);
  token.logprob = logprob(logits[static_cast<std::size_t>(token.id)]);
  sampler_.See(token.id);
  ++written_;

  if (context_->config().eos_token_id == token.id && !options_.ignore_eos) {
    finish_ = FinishReason::kEos;
  } else if (written_ == options_.max_new_tokens) {
    finish_ = FinishReason::kLength;
  }
  token.text = TextOf(token.id);
  if (stop_.stopped()) finish_ = FinishReason::kStop;
  if (finish_ == FinishReason::kNone) dropped_tokens_ += context_->Push(token.id);
  return token;
}

// The text that becomes final with token `id`; end of text itself has none.
std::string Session::TextOf(std::int32_t id) {
  if (tokenizer_ == nullptr) return {};
  std::string text;
  if (finish_ != FinishReason::kEos && static_cast<std::size_t>(id) < tokenizer_->vocab_size()) {
    text = characters_.Push(tokenizer_->TokenBytes(id));
  }
  const bool is_last = finish_ != FinishReason::kNone;
  if (is_last) text += characters_.Flush();
  text = stop_.Push(text);
  if (is_last) text += stop_.Flush();
  return text;
}

}  // namespace gpt2
