// Text in chunks, as tokens deliver it: UTF-8 and stop strings, compared with plain versions
// that look at the whole text each time.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/generate/stop_matcher.h"
#include "engine/text/utf8.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {
namespace {

std::vector<std::string> Chunks(FuzzedDataProvider& input) {
  std::vector<std::string> chunks;
  while (input.remaining_bytes() > 0 && chunks.size() < 24) {
    const auto size = input.ConsumeIntegralInRange<std::size_t>(0, 6);
    chunks.push_back(input.ConsumeBytesAsString(size));
  }
  return chunks;
}

// Whether some bytes after `bytes` complete one character. These second bytes are enough to try,
// because each lead byte accepts one of them.
bool CanBegin(std::string_view bytes) {
  for (const char* rest : {"\x80\x80\x80", "\xa0\x80\x80", "\x90\x80\x80"}) {
    char whole[6];
    const std::size_t size = bytes.copy(whole, 3);
    std::copy(rest, rest + 3, whole + size);
    if (Utf8Size({whole, size + 3}) > size) return true;
  }
  return false;
}

// The whole text with U+FFFD for bytes that belong to no character. One stands for a byte, or for
// as many bytes as could begin a character.
std::string PlainUtf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    std::size_t size = Utf8Size(bytes);
    text += size == 0 ? "\xef\xbf\xbd" : bytes.substr(0, size);
    if (size == 0) {
      size = std::min<std::size_t>(3, bytes.size());
      while (size > 1 && !CanBegin(bytes.substr(0, size))) --size;
    }
    bytes.remove_prefix(size);
  }
  return text;
}

void CheckUtf8(const std::vector<std::string>& chunks) {
  Utf8Stream stream;
  std::string bytes, shown;
  for (const std::string& chunk : chunks) {
    bytes += chunk;
    shown += stream.Push(chunk);
    // Only bytes that could still become a character are held back.
    std::size_t held = 0;
    for (std::size_t size = 1; size <= std::min<std::size_t>(3, bytes.size()); ++size) {
      if (CanBegin(std::string_view(bytes).substr(bytes.size() - size))) held = size;
    }
    const std::string due = PlainUtf8(std::string_view(bytes).substr(0, bytes.size() - held));
    Check(shown == due, "Utf8Stream shows too much, too little or something else");
    Check(IsUtf8(shown), "Utf8Stream gives no UTF-8");
  }
  shown += stream.Flush();
  Check(shown == PlainUtf8(bytes), "chunks change the text");
  Check(stream.Flush().empty(), "a second Flush has text");
}

void CheckStop(const std::vector<std::string>& chunks, const std::vector<std::string>& stops) {
  StopMatcher matcher(stops);
  std::string text, shown;
  bool stopped = false;
  for (const std::string& chunk : chunks) {
    const std::string now = matcher.Push(chunk);
    if (stopped) {
      Check(now.empty() && matcher.stopped(), "text after the stop");
      continue;
    }
    text += chunk;
    shown += now;
    std::pair<std::size_t, std::size_t> first = {text.size() + 1, text.size()};  // end, begin
    for (const std::string& stop : stops) {
      const std::size_t found = text.find(stop);
      if (found == std::string::npos) continue;
      stopped = true;
      first = std::min(first, {found + stop.size(), found});
    }
    std::size_t held = 0;
    for (const std::string& stop : stops) {
      for (std::size_t size = 1; !stopped && size < stop.size(); ++size) {
        if (text.ends_with(stop.substr(0, size))) held = std::max(held, size);
      }
    }
    Check(matcher.stopped() == stopped, "stopped too early or too late");
    Check(shown == text.substr(0, first.second - held),
          "another text than the plain version shows");
  }
  shown += matcher.Flush();
  if (!stopped) Check(shown == text, "the end of the text is lost");
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  // Few different letters make stop strings that overlap.
  const bool is_narrow = input.ConsumeBool();
  const auto narrow = [&](std::string text) {
    for (char& c : text) c = is_narrow ? static_cast<char>('a' + (c & 1)) : c;
    return text;
  };
  std::vector<std::string> stops;
  const auto count = input.ConsumeIntegralInRange<std::size_t>(0, 4);
  while (stops.size() < count) {
    const auto stop_size = input.ConsumeIntegralInRange<std::size_t>(1, 6);
    std::string stop = narrow(input.ConsumeBytesAsString(stop_size));
    if (stop.empty()) break;  // SetStop refuses an empty string
    stops.push_back(std::move(stop));
  }
  std::vector<std::string> chunks = Chunks(input);
  CheckUtf8(chunks);
  for (std::string& chunk : chunks) chunk = narrow(std::move(chunk));
  CheckStop(chunks, stops);
  return 0;
}
