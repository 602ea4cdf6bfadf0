// Makes every allocation of every call of the C API fail, one after the other. A separate program:
// it replaces the global operator new and, with the linker's --wrap, malloc and calloc.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/api.h"
#include "engine/api/convert.h"
#include "engine/api/engine.h"
#include "engine/api/memory.h"
#include "engine/format/vocabulary_files.h"
#include "tests/support/api_output.h"
#include "tests/support/hook_numbers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_model.h"

namespace {

// The number of allocations before one fails; negative: none fails. g_all_others makes all later
// ones fail, too.
std::atomic<long> g_left{-1};
std::atomic<bool> g_all_others{false};
// Bytes that were requested so far.
std::atomic<std::size_t> g_bytes{0};

bool Fails(std::size_t size) {
  g_bytes += size;
  if (g_left < 0) return false;
  if (g_left > 0) {
    --g_left;
    return false;
  }
  if (!g_all_others) g_left = -1;
  return true;
}

}  // namespace

extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_malloc(std::size_t size) {
  return Fails(size) ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
  return Fails(count * size) ? nullptr : __real_calloc(count, size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return Fails(size) ? nullptr : __real_aligned_alloc(alignment, size);
}
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = Fails(size) ? nullptr : __real_malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return Fails(size) ? nullptr : __real_malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace gpt2::testing {
namespace {

// A model with a tokenizer of single bytes and a few merges.
struct FolderFiles : ModelFiles {
  FolderFiles() : ModelFiles(AsConverted(ModelFiles("tied"))) {
    Json json = Json::object();
    for (int byte = '!'; byte <= '~'; ++byte) json[std::string(1, static_cast<char>(byte))] = byte;
    json["ab"] = 127;
    json["abc"] = 128;
    vocab = json.dump();
    merges = "#version: 0.2\na b\nab c\n";
  }
  std::string vocab, merges;
};

const FolderFiles& Files() {
  static const FolderFiles files;
  return files;
}

// Calls of an engine, in the order of a session. Each returns the replies to compare.
class Caller {
 public:
  explicit Caller(Gpt2Engine* engine) : engine_(engine) {}

  Gpt2Engine* engine() const { return engine_; }
  // The result of Suspend, for Resume.
  void SetSuspended(std::uint32_t number) { suspended_ = number; }

  const char* LoadBegin() {
    const FolderFiles& f = Files();
    return gpt2_load_begin(engine_, f.config.data(), f.config.size(), f.vocab.data(),
                           f.vocab.size(), f.merges.data(), f.merges.size(), kLoadOptions.data(),
                           kLoadOptions.size());
  }
  const char* LoadWeights() {
    const std::string& bytes = Files().file;
    return gpt2_load_weights(engine_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  const char* LoadPrompt() {
    return gpt2_load_prompt(engine_, kText.data(), kText.size(), /*is_ids=*/false);
  }
  const char* LoadStep() { return gpt2_load_step(engine_); }
  const char* LoadEnd() { return gpt2_load_end(engine_); }
  const char* Tune() { return gpt2_tune_threads(engine_); }
  const char* Tokenize() {
    return gpt2_tokenize(engine_, kText.data(), kText.size(), kTokenizeOptions.data(),
                         kTokenizeOptions.size());
  }
  const char* TokenizeStep() { return gpt2_tokenize_step(engine_); }
  const char* Detokenize() { return gpt2_detokenize(engine_, kIds.data(), kIds.size()); }
  const char* Generate() { return GenerateWith(kText, kOptions); }
  const char* GenerateHealing() { return GenerateWith(kText, kHealing); }
  const char* GenerateFour() { return GenerateWith(kShortText, R"({"n": 4})"); }
  const char* GenerateElse() { return GenerateWith("something-else,of-more-tokens", kOptions); }
  const char* Step() { return gpt2_step(engine_); }
  // Prefills a prompt; GenerateMore then generates from a longer one.
  const char* Prefill() { return GenerateWith(kShortText, R"({"maxNewTokens": 0})"); }
  const char* GenerateMore() { return GenerateWith(kShortText + "b~abc", kOptions); }
  const char* PrefillStep() { return gpt2_prefill_step(engine_); }
  const char* Inspect() { return gpt2_inspect(engine_, /*top=*/3); }
  const char* PrefillChanged() { return Changed(&Caller::Prefill); }
  const char* GenerateChanged() { return Changed(&Caller::Generate); }
  const char* Suspend() { return gpt2_suspend(engine_); }
  const char* Resume() { return gpt2_resume(engine_, suspended_); }
  const char* Score() {
    return gpt2_score(engine_, kIds.data(), kIds.size() * sizeof kIds[0], /*is_ids=*/true,
                      kScoreOptions.data(), kScoreOptions.size());
  }
  const char* ScoreStep() { return gpt2_score_step(engine_); }
  const char* Summary() { return gpt2_summary(engine_); }

 private:
  // `call` with scaled scores in a layer, and its patterns captured.
  const char* Changed(const char* (Caller::*call)()) {
    static const std::vector<double> numbers =
        HookNumbers({{.at = {Place::kScores, 0}, .kind = Change::Kind::kScale, .factor = 2}},
                    {{Place::kPattern, 0}});
    const char* error = gpt2_set_hooks(engine_, numbers.data(), numbers.size());
    return error != nullptr ? error : (this->*call)();
  }
  const char* GenerateWith(const std::string& text, const std::string& options) {
    return gpt2_generate(engine_, text.data(), text.size(), /*is_ids=*/false, options.data(),
                         options.size());
  }

  static inline const std::string kShortText = "abcabxabc~!ab";
  static inline const std::string kText = "abcabxabc~!ab" + std::string(300, 'a') + "abc";
  static inline const std::string kHealing = R"({"heal": true, "maxNewTokens": 2, "seed": 1})";
  static inline const std::string kOptions =
      R"({"maxNewTokens": 12, "logprobs": 2, "seed": 1, "stop": ["no such text", "nor this"]})";
  static inline const std::string kLoadOptions = R"({"kv": "q8"})";
  static inline const std::string kTokenizeOptions = R"({"allowSpecial": true})";
  static inline const std::string kScoreOptions = R"({"stride": 5})";
  static inline const std::vector<std::int32_t> kIds = {65, 97, 98, 99, 127, 128, 70, 71, 72};

  Gpt2Engine* engine_;
  std::uint32_t suspended_ = 0;
};

using Call = const char* (Caller::*)();

bool IsOutOfMemory(const std::string& reply) {
  const Json json = Json::parse(reply);
  return json.contains("error") && json["error"]["code"] == "out-of-memory";
}

// The replies of `calls`, one after the other.
std::vector<std::string> Replies(Caller& caller, const std::vector<Call>& calls) {
  std::vector<std::string> replies;
  for (const Call call : calls) {
    Json reply = ReplyJson((caller.*call)());
    if (reply.contains("result")) reply["output"] = OutputJson(caller.engine());
    if (call == &Caller::Suspend && reply.contains("result")) {
      caller.SetSuspended(std::exchange(reply["result"], Json()).get<std::uint32_t>());
    }
    // These depend on the tokens of earlier calls in the cache.
    for (const auto& [part, name] : {std::pair("result", "reusedTokens"), {"output", "done"}}) {
      if (reply.contains(part) && reply[part].is_object()) reply[part].erase(name);
    }
    replies.push_back(reply.dump());
  }
  return replies;
}

struct Failure {
  std::string reply;
  bool has_failed;  // whether an allocation of the call failed
};

// Makes an allocation of `call` fail, after `left` others, and all that follow if `all_others`.
template <typename Callable>
Failure Fail(long left, bool all_others, Callable call) {
  g_all_others = all_others;
  g_left = left;
  const char* reply = call();
  const bool has_failed = g_left <= 0 && (all_others ? g_left == 0 : g_left == -1);
  g_left = -1;
  return {ReplyJson(reply).dump(), has_failed};
}

const std::vector<Call> kLoad = {&Caller::LoadBegin, &Caller::LoadWeights, &Caller::LoadEnd};

// Calls that return the error of a failed load.
const std::vector<Call> kLoadSteps = {&Caller::LoadWeights, &Caller::LoadPrompt, &Caller::LoadStep,
                                      &Caller::LoadEnd};

struct Case {
  const char* name;
  std::vector<Call> calls;  // the allocations of the last one fail
  bool is_load = false;
  std::vector<Call> then = {};  // made right after the failure
};

const Case kCases[] = {
    {"load_begin", {&Caller::LoadBegin}, true},
    {"load_weights", {&Caller::LoadBegin, &Caller::LoadWeights}, true},
    {"load_end", {&Caller::LoadBegin, &Caller::LoadWeights, &Caller::LoadEnd}, true},
    {"load_prompt", {&Caller::LoadBegin, &Caller::LoadPrompt}, true},
    {"load_step",
     {&Caller::LoadBegin, &Caller::LoadPrompt, &Caller::LoadWeights, &Caller::LoadStep},
     true},
    {"load_end after a step",
     {&Caller::LoadBegin, &Caller::LoadPrompt, &Caller::LoadWeights, &Caller::LoadStep,
      &Caller::LoadEnd},
     true},
    {"tune", {&Caller::Tune}},
    {"tokenize", {&Caller::Tokenize}},
    {"tokenize_step", {&Caller::Tokenize, &Caller::TokenizeStep}},
    {"detokenize", {&Caller::Detokenize}},
    {"generate", {&Caller::Generate}},
    {"step", {&Caller::Generate, &Caller::Step}},
    {"generate that heals", {&Caller::GenerateHealing}},
    {"step that heals", {&Caller::GenerateHealing, &Caller::Step}},
    {"fourth step",
     {&Caller::Generate, &Caller::Step, &Caller::Step, &Caller::Step, &Caller::Step}},
    {"summary", {&Caller::Generate, &Caller::Step, &Caller::Step, &Caller::Step, &Caller::Step,
                 &Caller::Step,     &Caller::Step, &Caller::Step, &Caller::Step, &Caller::Step,
                 &Caller::Step,     &Caller::Step, &Caller::Step, &Caller::Step, &Caller::Step,
                 &Caller::Step,     &Caller::Step, &Caller::Step, &Caller::Step, &Caller::Step,
                 &Caller::Summary}},
    {"prefill_step",
     {&Caller::GenerateElse, &Caller::Step, &Caller::Prefill, &Caller::PrefillStep}},
    {"inspect",
     {&Caller::GenerateElse, &Caller::Step, &Caller::Prefill, &Caller::PrefillStep,
      &Caller::Inspect},
     false,
     {&Caller::GenerateMore, &Caller::Step, &Caller::Step}},
    {"generate changed", {&Caller::GenerateChanged}},
    {"inspect changed", {&Caller::PrefillChanged, &Caller::PrefillStep, &Caller::Inspect}},
    {"step changed", {&Caller::GenerateChanged, &Caller::Step}},
    {"suspend", {&Caller::Generate, &Caller::Step, &Caller::Suspend}},
    {"resume",
     {&Caller::Generate, &Caller::Step, &Caller::Suspend, &Caller::GenerateElse, &Caller::Step,
      &Caller::Resume}},
    {"step after resume",
     {&Caller::Generate, &Caller::Step, &Caller::Suspend, &Caller::GenerateElse, &Caller::Step,
      &Caller::Resume, &Caller::Step}},
    {"score", {&Caller::Score}},
    {"score_step", {&Caller::Score, &Caller::ScoreStep}},
};

class OutOfMemory : public ::testing::TestWithParam<Case> {};

// Runs the case with every allocation of its last call failing in turn. Then runs all of it again,
// which must give the same as an engine that never failed.
void FailEach(const Case& param, bool all_others) {
  const auto& [name, calls, is_load, then] = param;
  const auto go_on = [&](Caller& caller) {
    std::vector<std::string> replies = Replies(caller, then);
    std::ranges::move(Replies(caller, calls), std::back_inserter(replies));
    return replies;
  };
  Caller cold(gpt2_create(1));
  if (!is_load) Replies(cold, kLoad);
  const std::vector<std::string> expected = go_on(cold);
  gpt2_destroy(cold.engine());

  Caller caller(gpt2_create(1));
  if (!is_load) Replies(caller, kLoad);
  long failures = 0;
  for (long i = 0;; ++i) {
    ASSERT_LT(i, 100000) << "never gets through";
    Replies(caller, {calls.begin(), calls.end() - 1});
    const auto [reply, has_failed] = Fail(i, all_others, [&] { return (caller.*calls.back())(); });
    if (IsOutOfMemory(reply)) {
      ++failures;
    } else {
      // Some allocations are optional.
      EXPECT_TRUE(Json::parse(reply).contains("result")) << reply;
    }
    if (is_load && IsOutOfMemory(reply)) {
      EXPECT_FALSE(Json::parse(caller.Tune()).contains("result"));
      for (const Call call : kLoadSteps) {
        EXPECT_TRUE(IsOutOfMemory(Replies(caller, {call})[0])) << "after allocation " << i;
      }
    }
    EXPECT_EQ(go_on(caller), expected) << "after allocation " << i;
    if (!has_failed) break;
  }
  std::printf("%s: %ld allocations failed\n", name, failures);
  gpt2_destroy(caller.engine());
}

TEST_P(OutOfMemory, OneFailedAllocationReturnsAnErrorAndTheEngineStaysUsable) {
  FailEach(GetParam(), /*all_others=*/false);
}

TEST_P(OutOfMemory, TheErrorNeedsNoMemory) {
  FailEach(GetParam(), /*all_others=*/true);
}

INSTANTIATE_TEST_SUITE_P(EachCall, OutOfMemory, ::testing::ValuesIn(kCases), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name) {
    if (c == ' ') c = '_';
  }
  return name;
});

TEST(FailedAllocation, InALoadCallInTheWrongOrderKeepsTheLoadedModel) {
  Caller caller(gpt2_create(1));
  Replies(caller, kLoad);
  const std::vector<Call> calls = {&Caller::Generate, &Caller::Step};
  const std::vector<std::string> expected = Replies(caller, calls);
  for (const Call step : kLoadSteps) {
    bool has_failed = true;
    for (long i = 0; has_failed; ++i) {
      const Failure failure = Fail(i, /*all_others=*/false, [&] { return (caller.*step)(); });
      has_failed = failure.has_failed;
      EXPECT_EQ(IsOutOfMemory(failure.reply), has_failed);
      EXPECT_EQ(Replies(caller, calls), expected) << "after allocation " << i;
    }
  }
  gpt2_destroy(caller.engine());
}

TEST(FailedAllocation, DuringALoadEndsTheLoad) {
  Caller caller(gpt2_create(1));
  Replies(caller, {&Caller::LoadBegin, &Caller::LoadWeights});
  // No generation has started, and the error message finds no memory.
  const Failure failure = Fail(0, /*all_others=*/false, [&] { return caller.Generate(); });
  EXPECT_TRUE(IsOutOfMemory(failure.reply));
  for (const Call step : kLoadSteps) EXPECT_TRUE(IsOutOfMemory(Replies(caller, {step})[0]));
  for (const std::string& reply : Replies(caller, kLoad)) {
    EXPECT_TRUE(Json::parse(reply).contains("result")) << reply;
  }
  EXPECT_FALSE(IsOutOfMemory(Replies(caller, {&Caller::LoadEnd})[0]));
  gpt2_destroy(caller.engine());
}

TEST(FailedAllocation, OfOneContinuationFreesTheCachesOfTheOthers) {
  Caller caller(gpt2_create(1));
  Replies(caller, kLoad);
  const std::size_t before = caller.engine()->context->bytes();
  long failures = 0;
  for (long i = 0;; ++i) {
    const Failure failure = Fail(i, /*all_others=*/false, [&] { return caller.GenerateFour(); });
    if (!failure.has_failed) break;
    if (IsOutOfMemory(failure.reply)) {
      ++failures;
      EXPECT_EQ(caller.engine()->context->bytes(), before) << "after allocation " << i;
    }
    Replies(caller, {&Caller::Generate});  // with one continuation
  }
  EXPECT_GT(failures, 4);
  EXPECT_EQ(caller.engine()->context->sequence(3).bytes() * 3 + before,
            caller.engine()->context->bytes());
  gpt2_destroy(caller.engine());
}

TEST(FailedAllocation, InSuspendStoresNoGeneration) {
  Caller caller(gpt2_create(1));
  Replies(caller, kLoad);
  bool has_failed = true;
  for (std::uint32_t i = 0; has_failed; ++i) {
    Replies(caller, {&Caller::Generate, &Caller::Step});
    const Failure failure =
        Fail(static_cast<long>(i), /*all_others=*/true, [&] { return caller.Suspend(); });
    has_failed = IsOutOfMemory(failure.reply);
    for (std::uint32_t number = 0; has_failed && number <= i + 1; ++number) {
      EXPECT_NE(gpt2_resume(caller.engine(), number), nullptr) << "after allocation " << i;
    }
  }
  gpt2_destroy(caller.engine());
}

// The output of a conversion, up to the first call that fails.
struct Conversion {
  std::string error;
  std::string folder;
  std::string weights;
  bool has_failed = false;  // whether an allocation failed
};

// A LoRA adapter of the model, with its own head.
struct AdapterFiles {
  AdapterFiles() {
    const Config shape = Files().parsed();
    const auto tensor = [](std::uint64_t rows, std::uint64_t cols) {
      return FileTensor{{rows, cols},
                        std::vector<float>(static_cast<std::size_t>(rows * cols), 0.5f)};
    };
    tensors = SafetensorsFile({{"h.0.attn.c_attn.lora_A.weight", tensor(2, shape.n_embd)},
                               {"h.0.attn.c_attn.lora_B.weight", tensor(3 * shape.n_embd, 2)},
                               {"lm_head.weight", tensor(shape.vocab_size, shape.n_embd)}});
  }

  std::string config = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "layers_to_transform": [0],
                           "target_modules": ["c_attn"], "modules_to_save": ["lm_head"]})";
  std::string tensors;
};

// Converts the model, merged with an adapter, with an allocation failing after `left` others;
// negative: none fails.
Conversion Convert(Gpt2Converter* converter, long left, bool all_others) {
  static const AdapterFiles adapter;
  static const ModelFiles f("tied");
  const std::string format = "q8";
  Conversion done;
  const auto succeeds = [&](auto call, std::string* result = nullptr) {
    g_all_others = all_others;
    g_left = left;
    const char* pointer = call();
    const long still_left = g_left.exchange(-1);
    const Json reply = ReplyJson(pointer);
    if (reply.contains("error")) done.error = reply.dump();
    done.has_failed |= !done.error.empty() || (left >= 0 && still_left < 0);
    left = still_left;
    if (result != nullptr) *result = reply.dump();
    return done.error.empty();
  };
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<const uint8_t*>(text.data());
  };
  const bool is_fed =
      succeeds([&] {
        return gpt2_converter_adapter(converter, adapter.config.data(), adapter.config.size(),
                                      bytes(adapter.tensors), adapter.tensors.size(), 1);
      }) &&
      succeeds([&] {
        return gpt2_converter_begin(converter, f.config.data(), f.config.size(), nullptr, 0,
                                    format.data(), format.size());
      }) &&
      succeeds([&] { return gpt2_converter_feed(converter, bytes(f.file), f.file.size()); });
  if (!is_fed) return done;
  while (succeeds([&] { return gpt2_converter_step(converter); })) {
    const Gpt2Bytes& output = *gpt2_converter_output(converter);
    if (output.size == 0) break;
    done.weights.append(reinterpret_cast<const char*>(output.bytes), output.size);
  }
  if (!done.error.empty()) return done;
  if (succeeds([&] { return gpt2_converter_folder(converter); }, &done.folder)) {
    succeeds([&] { return gpt2_converter_end(converter); });
  }
  return done;
}

TEST(FailedAllocation, InAConversionReturnsAnErrorAndKeepsTheConverterUsable) {
  Gpt2Converter* const cold = gpt2_converter_create();
  const Conversion expected = Convert(cold, -1, false);
  EXPECT_EQ(expected.error, "");
  EXPECT_FALSE(expected.weights.empty() || expected.folder.empty());
  gpt2_converter_destroy(cold);

  for (const bool all_others : {false, true}) {
    Gpt2Converter* const converter = gpt2_converter_create();
    Conversion last;
    long failures = 0;
    do {
      last = Convert(converter, failures, all_others);
      if (last.error.empty()) continue;
      EXPECT_TRUE(IsOutOfMemory(last.error)) << last.error;
      EXPECT_NE(gpt2_converter_end(converter), nullptr) << "after allocation " << failures;
    } while (last.has_failed && ++failures < 100000);
    EXPECT_EQ(last.folder, expected.folder);
    EXPECT_TRUE(last.weights == expected.weights);
    std::printf("conversion: %ld allocations failed\n", failures);
    EXPECT_GT(failures, 100);
    gpt2_converter_destroy(converter);
  }
}

TEST(FailedAllocation, InCreateReturnsNull) {
#ifdef __EMSCRIPTEN__
  constexpr std::size_t kThreads = 1;  // this build has only one thread
#else
  constexpr std::size_t kThreads = 3;
#endif
  long i = 0;
  for (Gpt2Engine* engine = nullptr; engine == nullptr; ++i) {
    ASSERT_LT(i, 100);
    g_left = i;
    engine = gpt2_create(kThreads);
    g_left = -1;
    gpt2_destroy(engine);
  }
  EXPECT_GT(i, 1);
}

TEST(VocabularyMemory, DoesNotGrowWithTheLargestId) {
  const std::size_t before = g_bytes;
  const auto tokenizer = ReadTokenizer(R"({"a": 16777215})", "#version: 0.2\n", kMostVocabulary);
  EXPECT_FALSE(tokenizer.ok());
  EXPECT_LT(g_bytes - before, 100'000u);
}

TEST(FailedAllocation, InAllocateReturnsNull) {
  g_left = 0;
  EXPECT_EQ(gpt2_allocate(10), nullptr);
  g_left = -1;
}

}  // namespace
}  // namespace gpt2::testing
