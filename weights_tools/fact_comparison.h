// Compares a model with published facts: see published_facts.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "weights_tools/published_facts.h"
#include "weights_tools/runner.h"

namespace gpt2::tools {

enum class Verdict { kPassed, kFailed, kNotApplicable };
inline constexpr std::string_view kVerdictNames[] = {"passed", "failed", "not applicable"};

// A fact and the model's result.
struct Finding {
  Verdict verdict;
  std::string fact;      // what is compared
  std::string expected;  // what is published
  std::string found;     // the model's value, or why the fact does not apply
  std::string source;    // where it is published
};

// A text whose perplexity is to be compared, and its name.
struct NamedText {
  std::string name;
  std::string text;
};

// Compares `model` with each of `facts`. Quantized weights need to have the published token only
// among the first three. Their perplexity may be higher (5 % in q4, 0.5 % in q8), and figures of
// single texts do not apply to them.
Result<std::vector<Finding>> CompareWithFacts(Runner& model, const Facts& facts,
                                              const std::optional<NamedText>& text);

}  // namespace gpt2::tools
