// convert.h for a build that does not convert: nothing calls these.
#include "engine/api/convert.h"

extern "C" {

Gpt2Converter* gpt2_converter_create(void) {
  return nullptr;
}
void gpt2_converter_destroy(Gpt2Converter*) {}
const char* gpt2_converter_torch_file(Gpt2Converter*, const char*, size_t, double) {
  return nullptr;
}
const char* gpt2_converter_torch_part(Gpt2Converter*, const uint8_t*, size_t) {
  return nullptr;
}
const char* gpt2_converter_adapter(Gpt2Converter*, const char*, size_t, const uint8_t*, size_t,
                                   double) {
  return nullptr;
}
const char* gpt2_converter_begin(Gpt2Converter*, const char*, size_t, const uint8_t*, size_t,
                                 const char*, size_t) {
  return nullptr;
}
const char* gpt2_converter_feed(Gpt2Converter*, const uint8_t*, size_t) {
  return nullptr;
}
const char* gpt2_converter_step(Gpt2Converter*) {
  return nullptr;
}
const Gpt2Bytes* gpt2_converter_output(const Gpt2Converter*) {
  return nullptr;
}
const char* gpt2_converter_folder(Gpt2Converter*) {
  return nullptr;
}
const char* gpt2_converter_end(Gpt2Converter*) {
  return nullptr;
}

}  // extern "C"
