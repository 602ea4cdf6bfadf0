#include "engine/api/output.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/api/api.h"
#include "engine/text/utf8.h"

namespace gpt2 {

void Output::Begin(std::size_t done, std::size_t total, bool is_done) {
  tokens_.clear();
  text_.clear();
  view_ = {.done = done, .total = total, .is_done = is_done ? 1u : 0u};
}

void Output::Add(Gpt2Token token, std::string_view text) {
  const std::size_t before = text_.size();
  AppendUtf8(text, text_);
  const std::string_view added = std::string_view(text_).substr(before);
  token.text_length = static_cast<std::uint32_t>(Utf16Length(added));
  tokens_.push_back(token);
  view_.tokens = tokens_.data();
  view_.token_count = tokens_.size();
  view_.text = text_.data();
  view_.text_size = text_.size();
}

}  // namespace gpt2
