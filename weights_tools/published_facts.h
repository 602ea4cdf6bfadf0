// Published facts about GPT-2 as OpenAI released it, each with its source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/config.h"

namespace gpt2::tools {

// A released size.
struct Release {
  std::string_view name;
  std::size_t n_layer, n_head, n_embd, n_positions, vocab_size;
  std::size_t parameters;
  std::string_view source;

  bool Fits(const Config& config) const;
};

// The ids of a text, the same for all releases.
struct TokenFact {
  std::string_view text;
  std::span<const std::int32_t> ids;
  std::string_view source;
};

// The continuation of a release after `prompt` if the most probable token is always taken, in
// float32.
struct ContinuationFact {
  std::string_view release;
  std::string_view prompt;
  std::string_view continuation;
  std::string_view source;
};

// The most probable token after `prompt`, and its logit, in float32.
struct LogitFact {
  std::string_view release;
  std::string_view prompt;
  std::int32_t id;
  double logit;
  std::string_view source;
};

// Nats per token of `text` behind the end-of-text token, in float32.
struct LossFact {
  std::string_view release;
  std::string_view text;
  double loss;
  std::string_view source;
};

// The perplexity of a text that is too long to include, identified by its number of tokens. It is
// measured in windows of n_positions that advance by `stride`, in float32.
struct PerplexityFact {
  std::string_view release;
  std::string_view text;  // its name
  std::size_t tokens;
  std::size_t stride;
  double perplexity;
  std::string_view source;
};

struct Facts {
  std::span<const Release> releases;
  std::span<const TokenFact> tokens;
  std::span<const ContinuationFact> continuations;
  std::span<const LogitFact> logits;
  std::span<const LossFact> losses;
  std::span<const PerplexityFact> perplexities;
};

const Facts& PublishedFacts();

}  // namespace gpt2::tools
