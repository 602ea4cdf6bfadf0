#include "weights_tools/interruption.h"

#include <signal.h>

#include <csignal>
#include <cstddef>
#include <iterator>

namespace gpt2::tools {
namespace {

volatile std::sig_atomic_t wanted_signal = 0;  // 0: none

void Remember(int signal) {
  wanted_signal = signal;
}

}  // namespace

Interruption::Interruption() {
  static_assert(std::size(kSignals) == std::size(decltype(previous_){}));
  wanted_signal = 0;
  struct sigaction action{};
  action.sa_handler = Remember;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &previous_[i]);
    if (previous_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);  // nohup
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &previous_[i], nullptr);
  }
  const int signal = wanted_signal;
  wanted_signal = 0;
  if (signal != 0) std::raise(signal);
}

bool Interruption::is_wanted() {
  return wanted_signal != 0;
}

}  // namespace gpt2::tools
