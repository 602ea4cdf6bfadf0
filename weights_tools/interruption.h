// Ends the process on a signal after half-written files are removed.
#pragma once

#include <csignal>

namespace gpt2::tools {

// While an object exists, SIGINT, SIGTERM and SIGHUP are only recorded, and end the process when it
// is destroyed. A second signal of the same kind ends it at once. At most one object may exist.
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
