// Ends a text at the stop string that is complete first, and returns no part of that string. Of
// those that are complete at the same place, the one that begins first counts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpt2 {

// Matches one text; not thread-safe.
class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stop) : stop_(std::move(stop)) {}

  // Returns the text that may be shown after `text`: all except an end that could begin a stop
  // string. When a stop string is complete, returns only the text before it, and stopped() is true.
  std::string Push(std::string_view text);

  // Returns the text that was held back, at the end of the text.
  std::string Flush();

  bool stopped() const { return stopped_; }

 private:
  std::size_t HeldBack() const;

  std::vector<std::string> stop_;
  std::string pending_;
  bool stopped_ = false;
};

}  // namespace gpt2
