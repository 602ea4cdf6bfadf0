// Draws tokens from logits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/random.h"
#include "engine/generate/options.h"

namespace gpt2 {

struct Candidate {
  std::int32_t id;
  float logit;
};

// Orders by logit, equal ones by id, so that every selection is the same on every build.
inline bool RanksBefore(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// Picks tokens for one sequence. For the penalties it stores which tokens the text so far has, and
// how often each was written; for no_repeat_ngram_size, their order. Only the order takes more
// memory as the text grows. Not thread-safe.
class Sampler {
 public:
  Sampler(const GenerateOptions& options, std::size_t vocab_size);

  // Records that the prompt contains `id`.
  void Notice(std::int32_t id) { seen_[static_cast<std::size_t>(id)] = true; }

  // Records that `id` comes next in the context, from the prompt or generated.
  void Accept(std::int32_t id);

  // Counts `id`, which was accepted, as one that the model has written.
  void Count(std::int32_t id);

  // Draws the next token from logits [vocab_size]. A token with the logit minus infinity is not
  // drawn; at least one logit must be larger.
  std::int32_t Sample(std::span<const float> logits);

  // Draws an index of `logprobs` at this temperature, without filters, among those that are
  // allowed, which must be at least one. Tests only some. Takes one random number.
  std::size_t Choose(std::vector<double> logprobs, FunctionRef<bool(std::size_t)> is_allowed);

 private:
  std::span<const float> Penalize(std::span<const float> logits);
  bool PenalizeScaled(std::span<const float> logits);
  void BanEnd();
  void BanRepeats();
  double ScaledLogit(const Candidate& candidate) const;
  double WeightOf(const Candidate& candidate) const;
  void KeepTopP();
  double KeepTypical(double total);
  std::int32_t Draw();
  std::size_t Pick(double total, double& unit) const;

  GenerateOptions options_;
  std::size_t top_k_;  // at most the number of tokens
  std::size_t ngram_size_;
  float repetition_penalty_;
  std::size_t written_ = 0;
  Random random_;
  std::vector<bool> seen_;             // [vocab_size]
  std::vector<std::uint32_t> counts_;  // [vocab_size] of what was written; empty without a penalty
  std::vector<std::int32_t> history_;  // accepted tokens in order; empty without ngram_size_
  std::vector<float> penalized_;       // logits after the penalties, times scale_
  double scale_ = 1;
  std::vector<Candidate> candidates_;
  float best_logit_ = 0;
  // For each candidate: exp((logit - best_logit_) / (temperature * scale)).
  std::vector<double> weights_;
  struct Surprise {
    double distance;  // between the token's surprise and the expected one, in nats
    std::size_t candidate;
  };
  std::vector<Surprise> surprises_;
};

// Fills `best` with the `count` candidates that have the largest logits, largest first. Takes one
// pass, with one comparison for most candidates. Reuses the memory of `best`.
void SelectTop(std::span<const float> logits, std::size_t count, std::vector<Candidate>& best);

}  // namespace gpt2
