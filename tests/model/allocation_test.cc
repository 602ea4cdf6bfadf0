// Counts heap allocations and their bytes, for which it replaces the global operator new of the
// whole test program.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/vocabulary_files.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/options.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/session.h"
#include "engine/text/encoding.h"
#include "tests/support/session_steps.h"
#include "tests/support/slow_builds.h"
#include "tests/support/test_model.h"

namespace {
std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> bytes{0};       // allocated now
std::atomic<std::size_t> peak_bytes{0};  // the most since it was set
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  bytes += malloc_usable_size(memory);
  if (bytes > peak_bytes) peak_bytes = bytes.load();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  bytes -= malloc_usable_size(memory);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
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
    const Pass pass = model.context->Prefill(model.context->sequence(), 5);
    ASSERT_TRUE(pass.Logits(pass.tokens() - 1, 1).ok());
  }
  EXPECT_EQ(allocations, before);
  void* memory = ::operator new(1);  // the counter itself works
  EXPECT_EQ(allocations, before + 1);
  ::operator delete(memory);
}

// Only texts of more than 15 bytes, alternatives and drafts need memory of their own.
TEST(Session, AllocatesNothingForToken) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kQ8, KvFormat::kQ8);
  const GenerateOptions options{.max_new_tokens = 8, .n = 2, .ignore_eos = true};
  const std::array<std::int32_t, 3> prompt = {1, 2, 3};
  Session session = std::move(Session::Begin(*model.context, nullptr, prompt, options).value());
  NextTokens(session);
  NextTokens(session);
  const std::size_t before = allocations;
  while (!session.is_done()) ASSERT_TRUE(session.Step().ok());
  EXPECT_EQ(allocations, before);
}

// With the text itself that is four times the text and half a megabyte. The text is a little longer
// than the fixed-size queue is for.
TEST(Tokenizing, NeedsAtMostThreeTimesTheTextAndHalfAMegabyte) {
  const std::string folder = GPT2_TEST_DATA "/gpt2-tokenizer";
  const Tokenizer tokenizer = std::move(ReadTokenizer(ReadTestFile(folder + "/vocab.json"),
                                                      ReadTestFile(folder + "/merges.txt"), 50257)
                                            .value());
  constexpr std::size_t kSize = 1'050'000;
  Config config;
  config.n_positions = 1024;
  config.vocab_size = tokenizer.vocab_size();
  Random random(1);
  std::string letters(kSize, ' '), words(kSize, ' '), any_bytes(kSize, ' ');
  for (char& c : letters) c = static_cast<char>('a' + random.Next() % 26);
  for (char& c : words)
    c = random.Next() % 6 == 0 ? ' ' : static_cast<char>('a' + random.Next() % 26);
  for (char& c : any_bytes) c = static_cast<char>(random.Next());
  std::vector<std::string> texts = {letters};
  if (!kHasSanitizers) {  // with sanitizers, each takes seconds
    texts.insert(texts.end(), {words, any_bytes, std::string(kSize, 'a'), std::string(kSize, ' ')});
  }
  for (const std::string& text : texts) {
    const std::size_t before = bytes;
    peak_bytes = before;
    std::array<std::int32_t, 4096> portion;
    PromptTokens tokens(config);
    for (Encoding encoding(tokenizer, text, SpecialTokens::kAsText); !encoding.is_done();) {
      const std::size_t count = encoding.Next(portion).value();
      ASSERT_TRUE(tokens.Add(std::span(portion).first(count)).ok());
    }
    EXPECT_LE(peak_bytes - before, 3 * kSize + (1 << 19)) << text.substr(0, 20);
    EXPECT_GT(tokens.size(), kSize / 200);
  }
}

// Once a tensor is complete, the memory that widened its rows is freed.
TEST(Loading, KeepsOnlyTheWeightsInMemory) {
  const auto [config, file] = AsConverted(ModelFiles("tied"), StoredWeights::kF16);
  const std::size_t header = kSafetensorsPrefix + static_cast<unsigned char>(file[0]) +
                             256u * static_cast<unsigned char>(file[1]);
  const auto all = std::as_bytes(std::span(file));
  WeightReader reader(ReadConfigJson(config).value());
  ASSERT_TRUE(reader.Feed(all.first(header)).ok());
  const std::size_t before = bytes;  // weights are not taken by operator new
  ASSERT_TRUE(reader.Feed(all.subspan(header)).ok());
  EXPECT_EQ(bytes, before);
}

TEST(Loading, FreesTheMemoryOfARefusedModel) {
  WeightReader reader(ReadConfigJson(AsConverted(ModelFiles("tied")).config).value());
  constexpr std::size_t kHeader = 1 << 20;  // a megabyte of spaces, which is no JSON
  std::string file(kSafetensorsPrefix + kHeader, ' ');
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    file[i] = static_cast<char>(std::uint64_t{kHeader} >> (8 * i));
  }
  const std::size_t before = bytes;
  ASSERT_TRUE(reader.Feed(std::as_bytes(std::span(file)).first(kHeader)).ok());
  EXPECT_GT(bytes, before + kHeader / 2);
  ASSERT_FALSE(reader.Feed(std::as_bytes(std::span(file)).subspan(kHeader)).ok());
  EXPECT_LT(bytes, before + 1024);
}

}  // namespace
}  // namespace gpt2::testing
