// Log-probabilities out of logits.
#pragma once

#include <span>

#include "engine/model/forward.h"

namespace gpt2 {

// The log-probability (natural logarithm) that the logits of one token give to each that may
// follow. Immutable.
class LogSoftmax {
 public:
  LogSoftmax(const Compute& compute, std::span<const float> logits);
  float operator()(float logit) const {
    return static_cast<float>(static_cast<double>(logit) - log_sum_);
  }

 private:
  double log_sum_;  // of exp(logit)
};

}  // namespace gpt2
