// Ending on a signal, but not before what is half written is removed.
#pragma once

#include <csignal>

namespace gpt2::tools {

// While one lives, SIGINT, SIGTERM and SIGHUP do not end the process at once: they are remembered,
// and end it when this goes. A second one of a kind ends it at once. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Whether the process was asked to end.
  static bool is_wanted();

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction previous_[3] = {};
};

}  // namespace gpt2::tools
