// What nlohmann/json asks of the C library, for WebAssembly: the library's own strtod and snprintf
// compute in 128 bits, by software, in 23 kB of code. The linker's --wrap puts these in their
// place.
#include <emscripten/em_js.h>

#include <cstddef>
#include <cstring>

EM_JS_DEPS(gpt2_number, "$UTF8ToString");

// JavaScript reads numbers as IEEE 754 has it: the nearest double, ties to even, as strtod does.
EM_JS(double, gpt2_number, (const char* text), { return Number(UTF8ToString(text)); });

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
}
