// A progress bar on the terminal.
#pragma once

#include <cstdint>
#include <string>

namespace gpt2::tools {

// Draws on standard error while it lives, if that is a terminal, and wipes itself off at the end.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(std::uint64_t done, std::uint64_t total);

 private:
  std::string label_;
  bool is_terminal_;
  int shown_permille_ = -1;
};

}  // namespace gpt2::tools
