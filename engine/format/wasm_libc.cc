// What nlohmann/json and libc++abi ask of the C library, for WebAssembly. The library's own strtod
// and snprintf compute in 128 bits, by software, in 23 kB of code: the linker's --wrap puts these
// in their place, and what prints is left out.
#include <emscripten/em_js.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "engine/format/number_text.h"

// JavaScript reads numbers as IEEE 754 has it: the nearest double, ties to even, as strtod does.
// Not UTF8ToString: no other text goes this way, and a number is ASCII.
EM_JS(double, gpt2_number, (const char* text), {
  let number = "";
  while (HEAPU8[text]) number += String.fromCharCode(HEAPU8[text++]);
  return Number(number);
});

// It writes the shortest text that reads back. 25 characters at most.
EM_JS(int, gpt2_number_text, (double value, char* text), {
  const number = String(value);
  for (let i = 0; i < number.length; ++i) HEAPU8[text + i] = number.charCodeAt(i);
  return number.length;
});

namespace gpt2 {

std::string ShortestDigits(double value) {
  char digits[32];
  return {digits, static_cast<std::size_t>(gpt2_number_text(value, digits))};
}

}  // namespace gpt2

extern "C" {

// `text` is one number of a JSON text, whole.
double __wrap_strtod(const char* text, char** end) {
  if (end != nullptr) *end = const_cast<char*>(text) + std::strlen(text);
  return gpt2_number(text);
}

// Asked only for the place of an error in a message, of which ParseJson makes its own.
int __wrap_snprintf(char* text, std::size_t size, const char*, ...) {
  if (size > 0) *text = '\0';
  return 0;
}

// What libc++abi calls where it cannot go on: a worker that ends so is told of by its error event.
// Its own would print why, with all of printf.
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
