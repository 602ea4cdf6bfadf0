// The kernel tables of this build, and the choice of the best one.
#include <array>
#include <span>

#include "engine/kernels/kernels.h"
#ifdef __wasm_relaxed_simd__
#include "engine/kernels/simd_dot.h"
#endif

namespace gpt2 {
namespace {

constexpr KernelTable MakeReference() {
  KernelTable table{.name = "reference"};
#define KERNEL(operation, isa) KERNEL_##isa(operation)
#define KERNEL_Reference(operation) table.operation = &operation##_Reference;
#define KERNEL_Simd128(operation)
#include "engine/kernels/kernels.inc"
#undef KERNEL_Reference
#undef KERNEL_Simd128
  return table;
}

constexpr KernelTable MakeSimd128() {
  KernelTable table{.name = "simd128"};
#define KERNEL(operation, isa) KERNEL_##isa(operation)
#define KERNEL_Reference(operation)
#define KERNEL_Simd128(operation) table.operation = &operation##_Simd128;
#include "engine/kernels/kernels.inc"
#undef KERNEL_Reference
#undef KERNEL_Simd128
  return table;
}

constexpr KernelTable kReference = MakeReference();
constexpr KernelTable kSimd128 = MakeSimd128();

#ifdef __wasm_relaxed_simd__
constexpr KernelTable MakeRelaxed() {
  KernelTable table = MakeSimd128();
  table.name = "relaxed";
#define KERNEL(operation, isa)
#define KERNEL_RELAXED(operation) table.operation = &operation##_RelaxedSimd;
#include "engine/kernels/kernels.inc"
  return table;
}

constexpr KernelTable MakeRelaxedPairs() {
  KernelTable table = MakeSimd128();
  table.name = "relaxed-pairs";
#define KERNEL(operation, isa)
#define KERNEL_RELAXED(operation) table.operation = &operation##_RelaxedPairs;
#include "engine/kernels/kernels.inc"
  return table;
}

constexpr KernelTable kRelaxed = MakeRelaxed();
constexpr KernelTable kRelaxedPairs = MakeRelaxedPairs();
constexpr std::array kTables = {&kReference, &kSimd128, &kRelaxed, &kRelaxedPairs};
#else
constexpr std::array kTables = {&kReference, &kSimd128};
#endif

}  // namespace

std::span<const KernelTable* const> KernelTables() {
  return kTables;
}

const KernelTable& BestKernels() {
#ifdef __wasm_relaxed_simd__
  return simd::RelaxedDotIsMadeOfPairs() ? kRelaxedPairs : kRelaxed;
#else
  return kSimd128;
#endif
}

bool BestKernelsAreExact() {
#ifdef __wasm_relaxed_simd__
  return simd::RelaxedDotIsExact();
#else
  return true;
#endif
}

}  // namespace gpt2
