// Steps of a session that the test expects to succeed.
#pragma once

#include <vector>

#include "engine/generate/session.h"

namespace gpt2::testing {

// The output of the next step, copied: the next call replaces it.
inline std::vector<GeneratedToken> NextTokens(Session& session) {
  const auto tokens = session.Step().value();
  return {tokens.begin(), tokens.end()};
}

}  // namespace gpt2::testing
