// Steps of a session that the test expects to succeed.
#pragma once

#include <utility>
#include <vector>

#include "engine/generate/session.h"

namespace gpt2::testing {

// What the next step writes. A copy of its own: a loop over `session.Step().value()` would read
// what is gone.
inline std::vector<GeneratedToken> NextTokens(Session& session) {
  return std::move(session.Step().value());
}

}  // namespace gpt2::testing
