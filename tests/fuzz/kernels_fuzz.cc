// Compares every kernel of kernels.inc with its reference twin, on any shape and any values, NaN
// and infinities among them. Arrays end where the address sanitizer's red zone begins; it guards
// their beginning, too, unless they start misaligned.
#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/kernels/kernels.h"
#include "tests/fuzz/support/fuzz.h"
#include "tests/kernels/kernel_cases.h"

namespace gpt2::fuzz {
namespace {

using Case = void (*)(Source&);
std::vector<Case> Cases() {
  std::vector<Case> cases;
#define KERNEL(operation, isa)                                                                    \
  if (std::string_view(#isa) != "Reference") {                                                    \
    cases.push_back([](Source& s) {                                                               \
      Check(FindFault(s, operation##_##isa, operation##_Reference).empty(), #operation "_" #isa); \
    });                                                                                           \
  }
#include "engine/kernels/kernels.inc"
  return cases;
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2::fuzz;
  static const std::vector<Case> cases = Cases();
  FuzzedDataProvider input(data, size);
  const Case run = cases[input.ConsumeIntegralInRange<std::size_t>(0, cases.size() - 1)];
  const auto seed = input.ConsumeIntegral<std::uint64_t>();
  // Sizes are mostly small, so that many are tried; at times up to `most`.
  const auto choose = [&](std::size_t least, std::size_t most, std::size_t /*usual*/) {
    const bool is_large = least == 0 || input.ConsumeIntegralInRange<int>(0, 31) == 31;
    return input.ConsumeIntegralInRange(least, is_large ? most : std::min<std::size_t>(most, 40));
  };
  constexpr std::uint64_t kOneIn[] = {0, 2, 64};
  gpt2::Source source(choose, seed, /*behind=*/0, kOneIn[input.ConsumeIntegralInRange(0, 2)]);
  run(source);
  return 0;
}
