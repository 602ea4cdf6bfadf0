#include "weights_tools/progress.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/text/quoted.h"

namespace gpt2::tools {
namespace {

constexpr double kBetweenDrawings = 0.1;  // seconds: the bar moves smoothly and costs nothing
constexpr std::chrono::seconds kBetweenLines{30};

// Below either of these, the bar and the line show no remaining time.
constexpr double kLeastPart = 0.02, kLeastSeconds = 2;

// ", 20 s left", or nothing.
std::string TimeLeft(double part, double seconds) {
  if (part < kLeastPart || seconds < kLeastSeconds) return "";
  return ", " + ShownDuration(seconds * (1 - part) / part) + " left";
}

}  // namespace

std::string ShownDuration(double seconds) {
  constexpr int kMinute = 60, kHour = 3600;
  constexpr int kCoarse = 10;  // seconds, from a minute on
  const int whole = static_cast<int>(std::lround(seconds));
  if (whole < kMinute) return std::to_string(whole) + " s";
  const int rounded = static_cast<int>(std::lround(seconds / kCoarse)) * kCoarse;
  if (rounded < kHour) {
    const int rest = rounded % kMinute;
    return std::to_string(rounded / kMinute) + " min" +
           (rest == 0 ? "" : " " + std::to_string(rest) + " s");
  }
  const int minutes = static_cast<int>(std::lround(seconds / kMinute));
  return std::to_string(minutes / kMinute) + " h " + std::to_string(minutes % kMinute) + " min";
}

std::string ProgressLine(const std::string& label, double part, double seconds) {
  return label + ": " + std::to_string(static_cast<int>(part * 100)) + " %" +
         TimeLeft(part, seconds);
}

Progress::Progress(std::string_view label, std::uint64_t total)
    : label_(Visible(label)),
      total_(total),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      written_(start_) {}

Progress::~Progress() {
  if (is_terminal_ && shown_at_) std::fprintf(stderr, "\r\x1b[K");
}

void Progress::Update(std::uint64_t done, std::uint64_t total) {
  done_ = done;
  if (total == 0) return;
  const double part = static_cast<double>(done) / static_cast<double>(total);
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (is_terminal_) {
    if (!shown_at_ || seconds - *shown_at_ >= kBetweenDrawings) Draw(part, seconds);
  } else if (now - written_ >= kBetweenLines) {
    written_ = now;
    std::fprintf(stderr, "%s\n", ProgressLine(label_, part, seconds).c_str());
  }
}

void Progress::Draw(double part, double seconds) {
  shown_at_ = seconds;
  constexpr std::size_t kWidth = 30;
  const auto filled = static_cast<std::size_t>(part * kWidth);
  std::fprintf(stderr, "\r\x1b[K%s [%s%s] %.1f %%%s", label_.c_str(),
               std::string(filled, '#').c_str(), std::string(kWidth - filled, '.').c_str(),
               part * 100, TimeLeft(part, seconds).c_str());
}

}  // namespace gpt2::tools
