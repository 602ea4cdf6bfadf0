#include "weights_tools/standard_streams.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/quoted.h"
#include "engine/text/utf8.h"
#include "weights_tools/files.h"

namespace gpt2::tools {
namespace {

Error CannotReadInput() {
  return Error{ErrorCode::kIo, std::string("cannot read standard input: ") + SystemReason()};
}

}  // namespace

void HoldStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this one.
    const int opened = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != -1 && opened != descriptor) close(opened);
  }
}

Result<std::string> ReadStandardInput() {
  std::string text;
  char block[1 << 16];
  errno = 0;
  while (const std::size_t read = std::fread(block, 1, sizeof block, stdin)) {
    text.append(block, read);
  }
  if (std::ferror(stdin) != 0) return CannotReadInput();
  return text;
}

Status ForLinesOfStandardInput(FunctionRef<Status(const std::string& line)> answer) {
  char* buffer = nullptr;
  std::size_t capacity = 0;
  struct FreeBuffer {
    char** buffer;
    ~FreeBuffer() { std::free(*buffer); }
  } const owner{&buffer};
  for (std::size_t number = 1;; ++number) {
    errno = 0;
    const ssize_t length = getline(&buffer, &capacity, stdin);
    if (length < 0) break;
    std::string line(buffer, static_cast<std::size_t>(length));
    if (line.ends_with('\n')) line.pop_back();
    const Status status = answer(line);
    if (!status.ok()) {
      return Error{status.error().code,
                   "line " + std::to_string(number) + ": " + status.error().message};
    }
    if (std::ferror(stdout) != 0) return FlushStandardOutput();
  }
  if (std::feof(stdin) == 0) return CannotReadInput();
  return Done{};
}

Status CheckPrintable(const char* what, const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Character next = ReadUtf8(std::string_view(text).substr(i));
    if (next.code_point == kInvalidCodePoint) {
      return Error{ErrorCode::kInvalidArgument, std::string(what) + " is " + text +
                                                    ", which is not UTF-8 at byte " +
                                                    std::to_string(i) + ": leave out --json"};
    }
    i += next.size;
  }
  return Done{};
}

void PrintJson(const Json& json) {
  std::printf("%s\n", Visible(json.dump()).c_str());
}

void PrintModelText(const std::string& text) {
  static const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  const std::string shown = is_terminal ? Visible(text, "\n\t") : text;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void PrintNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    std::fprintf(stderr, "gpt2-weights: note: %s\n", Visible(note).c_str());
  }
}

Status FlushStandardOutput() {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  if (is_flushed && std::ferror(stdout) == 0) return Done{};
  // An earlier failed write has set the stream's error flag, but its errno is lost.
  const std::string reason = is_flushed ? "" : std::string(": ") + SystemReason();
  return Error{ErrorCode::kIo, "cannot write standard output" + reason};
}

}  // namespace gpt2::tools
