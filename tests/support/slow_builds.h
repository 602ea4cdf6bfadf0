// Builds in which a test takes ten times as long as natively, so that brute force tries less there.
#pragma once

namespace gpt2::testing {

#ifdef GPT2_HAS_SANITIZERS
inline constexpr bool kHasSanitizers = true;
#else
inline constexpr bool kHasSanitizers = false;
#endif

// With sanitizers, or in WebAssembly.
#ifdef __EMSCRIPTEN__
inline constexpr bool kIsSlow = true;
#else
inline constexpr bool kIsSlow = kHasSanitizers;
#endif

}  // namespace gpt2::testing
