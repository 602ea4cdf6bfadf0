// Steps of a session that the test expects to succeed.
#pragma once

#include <utility>
#include <vector>

#include "engine/generate/session.h"

namespace gpt2::testing {

// The output of the next step, copied: a loop over `session.Step().value()` would read
// a destroyed value.
inline std::vector<GeneratedToken> NextTokens(Session& session) {
  return std::move(session.Step().value());
}

}  // namespace gpt2::testing
