// The tokens of a step, in the form of api.h. They are not JSON: building, copying and parsing it
// took 2 to 3 % of a decode step of the demo model (docs/notes/2026-11-performance.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/api.h"

namespace gpt2 {

// The next step reuses its memory. Not thread-safe.
class Output {
 public:
  // Begins a step without tokens; `done` of `total` tokens are prefilled or scored.
  void Begin(std::size_t done, std::size_t total, bool is_done);

  // Appends a token and its text, and sets the token's length. Bytes that are not valid UTF-8
  // become U+FFFD.
  void Add(Gpt2Token token, std::string_view text);

  // Frees its memory.
  void Clear() { *this = Output(); }

  // Valid until the next change.
  const Gpt2Output& view() const { return view_; }

 private:
  std::vector<Gpt2Token> tokens_;
  std::string text_;
  Gpt2Output view_{};
};

}  // namespace gpt2
