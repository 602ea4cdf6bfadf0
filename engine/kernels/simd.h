// The wasm SIMD intrinsics: the compiler's own for WebAssembly, SIMDe's translation natively.
#pragma once

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/wasm/simd128.h>
#endif
