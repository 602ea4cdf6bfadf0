#include "engine/api/output.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/text/utf8.h"

namespace gpt2 {

void Output::Begin(std::size_t done, std::size_t total, bool is_done) {
  tokens_.clear();
  text_.clear();
  view_ = {.done = done, .total = total, .is_done = is_done ? 1u : 0u};
}

void Output::Add(std::size_t index, std::int32_t id, float logprob, std::string_view text,
                 std::size_t top_count) {
  const std::size_t before = text_.size();
  AppendUtf8(text, text_);
  const std::size_t length = Utf16Length(std::string_view(text_).substr(before));
  tokens_.push_back({.index = static_cast<std::uint32_t>(index),
                     .id = id,
                     .logprob = logprob,
                     .text_length = static_cast<std::uint32_t>(length),
                     .top_count = static_cast<std::uint32_t>(top_count)});
  view_.tokens = tokens_.data();
  view_.token_count = tokens_.size();
  view_.text = text_.data();
  view_.text_size = text_.size();
}

}  // namespace gpt2
