// The functions that every WebAssembly module exports in addition to those of api.h, convert.h or
// languages.h.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Allocates `size` bytes for arguments; null without memory.
void* gpt2_allocate(size_t size);
void gpt2_free(void* memory);

#ifdef __cplusplus
}  // extern "C"
#endif
