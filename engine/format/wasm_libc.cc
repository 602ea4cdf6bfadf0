// The functions of the C library that nlohmann/json and libc++abi need, for WebAssembly. The
// library's own strtod and snprintf compute in 128 bits, in software, and take 23 kB of code. The
// linker's --wrap replaces them, and removes the code that prints.
#include <emscripten/em_js.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "engine/format/number_text.h"

// Texts pass to JavaScript and back one character at a time, not through memory. If another thread
// has grown the memory, JavaScript may notice that late, and would read an empty text there.

// JavaScript reads numbers as IEEE 754 requires: the nearest double, ties to even, like strtod.
// Takes one more ASCII character or, with 0, returns the number that they form.
EM_JS(double, gpt2_number, (int character), {
  const text = gpt2_number.text || "";
  gpt2_number.text = character ? text + String.fromCharCode(character) : "";
  return character ? 0 : Number(text);
});

// JavaScript writes the shortest text that reads back: returns its character at `place`; 0 after
// the last.
EM_JS(int, gpt2_number_text, (double value, int place),
      { return String(value).charCodeAt(place) | 0; });

namespace gpt2 {

std::string ShortestDigits(double value) {
  std::string digits;
  for (int place = 0; const int character = gpt2_number_text(value, place); ++place) {
    digits += static_cast<char>(character);
  }
  return digits;
}

}  // namespace gpt2

extern "C" {

// `text` is exactly one number of a JSON text.
double __wrap_strtod(const char* text, char** end) {
  for (; *text != '\0'; ++text) gpt2_number(*text);
  if (end != nullptr) *end = const_cast<char*>(text);
  return gpt2_number(0);
}

// Only called for the position in an error message, which ParseJson replaces by its own.
int __wrap_snprintf(char* text, std::size_t size, const char*, ...) {
  if (size > 0) *text = '\0';
  return 0;
}

// libc++abi calls this when it cannot continue. The worker's error event then reports the end.
// libc++abi's own version would print the reason, with all of printf.
void abort_message(const char*, ...) {
  __builtin_trap();
}
extern std::terminate_handler __cxa_terminate_handler;
extern std::terminate_handler __cxa_unexpected_handler;
extern std::new_handler __cxa_new_handler;
std::terminate_handler __cxa_terminate_handler = std::abort;
std::terminate_handler __cxa_unexpected_handler = std::abort;
std::new_handler __cxa_new_handler = nullptr;

}  // extern "C"
