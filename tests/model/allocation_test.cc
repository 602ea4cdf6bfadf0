// Counts heap allocations, for which it replaces the global operator new of the whole test program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/test_model.h"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace gpt2::testing {
namespace {

TEST(ForwardPass, AllocatesNothing) {
  const std::string folder = TinyModelFolder("tied");
  const Golden golden(folder);
  TestModel model(folder, WeightFormat::kQ8, KvFormat::kQ8);
  model.context->sequence().SetWindow(golden.ids);
  const std::size_t before = allocations;
  while (!model.context->sequence().is_current()) {
    const std::size_t count = model.context->RunNext(model.context->sequence(), 5);
    model.context->Logits(count - 1, 1);
  }
  EXPECT_EQ(allocations, before);
  void* memory = ::operator new(1);  // the counter itself works
  EXPECT_EQ(allocations, before + 1);
  ::operator delete(memory);
}

}  // namespace
}  // namespace gpt2::testing
