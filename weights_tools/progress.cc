#include "weights_tools/progress.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace gpt2::tools {

Progress::Progress(std::string label)
    : label_(std::move(label)), is_terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (is_terminal_ && shown_permille_ >= 0) std::fprintf(stderr, "\r\x1b[K");
}

void Progress::Update(std::uint64_t done, std::uint64_t total) {
  if (!is_terminal_ || total == 0) return;
  const int permille = static_cast<int>(done * 1000 / total);
  if (permille == shown_permille_) return;
  shown_permille_ = permille;
  constexpr int kWidth = 30;
  const int filled = permille * kWidth / 1000;
  std::fprintf(stderr, "\r\x1b[K%s [%s%s] %d.%d %%", label_.c_str(),
               std::string(static_cast<std::size_t>(filled), '#').c_str(),
               std::string(static_cast<std::size_t>(kWidth - filled), '.').c_str(), permille / 10,
               permille % 10);
}

}  // namespace gpt2::tools
