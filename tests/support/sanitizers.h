// Whether the tests run with sanitizers, which find other faults than the native run and take ten
// times as long.
#pragma once

namespace gpt2::testing {

#ifdef GPT2_HAS_SANITIZERS
inline constexpr bool kHasSanitizers = true;
#else
inline constexpr bool kHasSanitizers = false;
#endif

}  // namespace gpt2::testing
