// Computes log-probabilities from logits.
#pragma once

#include <span>

#include "engine/model/forward.h"

namespace gpt2 {

// The log-probability (natural logarithm) of each token, from the logits at one place. Immutable.
class LogSoftmax {
 public:
  LogSoftmax(const Compute& compute, std::span<const float> logits);
  float operator()(float logit) const { return static_cast<float>(Exact(logit)); }
  // The same, not rounded to float.
  double Exact(float logit) const { return static_cast<double>(logit) - log_sum_; }

 private:
  double log_sum_;  // the logarithm of the sum of exp(logit)
};

}  // namespace gpt2
