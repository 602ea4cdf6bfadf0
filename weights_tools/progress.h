// Shows the progress of a long step, and its remaining time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpt2::tools {

// "12 s", "3 min 20 s", "1 h 5 min": rounded to the accuracy of an estimate.
std::string ShownDuration(double seconds);

// A line of progress, "LABEL: 40 %, 3 min 20 s left". The time is left out until it can be
// estimated: below 2 %, or in the first two seconds.
std::string ProgressLine(const std::string& label, double part, double seconds);

// While it exists, draws a bar on standard error if that is a terminal, and erases it at the end.
// Elsewhere, as in a log, writes a ProgressLine every half minute: short steps write nothing.
class Progress {
 public:
  // `total` is the end of Advance's count, in any unit; 0 if Update passes both numbers.
  explicit Progress(std::string_view label, std::uint64_t total = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(std::uint64_t done, std::uint64_t total);
  // `amount` more is done.
  void Advance(std::uint64_t amount) { Update(done_ + amount, total_); }

 private:
  using Clock = std::chrono::steady_clock;

  void Draw(double part, double seconds);

  std::string label_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  bool is_terminal_;
  Clock::time_point start_;
  Clock::time_point written_;       // time of the last line, outside of a terminal
  std::optional<double> shown_at_;  // seconds, when the bar was drawn
};

}  // namespace gpt2::tools
