// Memory for arguments, exported by every WebAssembly module.
#include "engine/api/memory.h"

#include <cstdlib>

extern "C" {

void* gpt2_allocate(size_t size) {
  return std::malloc(size);
}
void gpt2_free(void* memory) {
  std::free(memory);
}

}  // extern "C"
