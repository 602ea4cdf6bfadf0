// Every allocation of every call of the C API is made to fail, one after the other. A program of
// its own: it replaces the global operator new and, with the linker's --wrap, malloc and calloc.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "engine/api/api.h"
#include "tests/support/api_output.h"
#include "tests/support/test_model.h"

namespace {

// Allocations until the first that fails; negative: none does. After that one all others fail, too,
// or only that one.
std::atomic<long> g_left{-1};
std::atomic<bool> g_all_others{false};

bool Fails() {
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
  return Fails() ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
  return Fails() ? nullptr : __real_calloc(count, size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return Fails() ? nullptr : __real_aligned_alloc(alignment, size);
}
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = Fails() ? nullptr : __real_malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return Fails() ? nullptr : __real_malloc(size == 0 ? 1 : size);
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
struct ModelFiles {
  ModelFiles() {
    const std::string folder = TinyModelFolder("tied");
    config = ReadTestFile(folder + "/config.json");
    weights = ReadTestFile(folder + "/model.safetensors");
    Json json = Json::object();
    for (int byte = '!'; byte <= '~'; ++byte) json[std::string(1, static_cast<char>(byte))] = byte;
    json["ab"] = 127;
    json["abc"] = 128;
    vocab = json.dump();
    merges = "#version: 0.2\na b\nab c\n";
  }
  std::string config, weights, vocab, merges;
};

const ModelFiles& Files() {
  static const ModelFiles files;
  return files;
}

// What an engine is asked, in the order of a session. Each gives the replies that matter.
class Caller {
 public:
  explicit Caller(Gpt2Engine* engine) : engine_(engine) {}

  const char* LoadBegin() {
    const ModelFiles& f = Files();
    return gpt2_load_begin(engine_, f.config.data(), f.config.size(), f.vocab.data(),
                           f.vocab.size(), f.merges.data(), f.merges.size(), kLoadOptions.data(),
                           kLoadOptions.size());
  }
  const char* LoadWeights() {
    const std::string& bytes = Files().weights;
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
  const char* Generate() { return GenerateWith(kOptions); }
  const char* GenerateHealing() { return GenerateWith(kHealing); }
  const char* Step() { return gpt2_step(engine_); }
  const char* Score() {
    return gpt2_score(engine_, kIds.data(), kIds.size() * sizeof kIds[0], /*is_ids=*/true,
                      kScoreOptions.data(), kScoreOptions.size());
  }
  const char* ScoreStep() { return gpt2_score_step(engine_); }
  const char* Summary() { return gpt2_summary(engine_); }

 private:
  const char* GenerateWith(const std::string& options) {
    return gpt2_generate(engine_, kText.data(), kText.size(), /*is_ids=*/false, options.data(),
                         options.size());
  }

  static inline const std::string kText = "abcabxabc~!ab" + std::string(300, 'a') + "abc";
  static inline const std::string kHealing = R"({"heal": true, "maxNewTokens": 2, "seed": 1})";
  static inline const std::string kOptions =
      R"({"maxNewTokens": 12, "logprobs": 2, "seed": 1, "stop": ["no such text", "nor this"]})";
  static inline const std::string kLoadOptions = R"({"kv": "q8"})";
  static inline const std::string kTokenizeOptions = R"({"allowSpecial": true})";
  static inline const std::string kScoreOptions = R"({"stride": 5})";
  static inline const std::vector<std::int32_t> kIds = {65, 97, 98, 99, 127, 128, 70, 71, 72};

  Gpt2Engine* engine_;
};

using Call = const char* (Caller::*)();

bool IsOutOfMemory(const std::string& reply) {
  const Json json = Json::parse(reply);
  return json.contains("error") && json["error"]["code"] == "out-of-memory";
}

// The replies of `calls`, one after the other, by an engine that has run `before`.
std::vector<std::string> Replies(Gpt2Engine* engine, const std::vector<Call>& calls) {
  Caller caller(engine);
  std::vector<std::string> replies;
  for (const Call call : calls) {
    Json reply = ReplyJson((caller.*call)());
    if (reply.contains("result")) reply["output"] = OutputJson(engine);
    // These depend on what the cache holds of earlier calls.
    for (const auto& [part, name] : {std::pair("result", "reusedTokens"), {"output", "done"}}) {
      if (reply.contains(part) && reply[part].is_object()) reply[part].erase(name);
    }
    replies.push_back(reply.dump());
  }
  return replies;
}

const std::vector<Call> kLoad = {&Caller::LoadBegin, &Caller::LoadWeights, &Caller::LoadEnd};

struct Case {
  const char* name;
  std::vector<Call> calls;  // the last of them fails
  bool is_load = false;
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
    {"score", {&Caller::Score}},
    {"score_step", {&Caller::Score, &Caller::ScoreStep}},
};

class OutOfMemory : public ::testing::TestWithParam<Case> {};

// Runs the case with every allocation of its last call failing in turn; then all of it again, which
// must give what an engine gives that never failed.
void FailEach(const Case& param, bool all_others) {
  const bool is_load = param.is_load;
  Gpt2Engine* cold = gpt2_create(1);
  if (!is_load) Replies(cold, kLoad);
  const std::vector<std::string> expected = Replies(cold, param.calls);
  gpt2_destroy(cold);

  Gpt2Engine* engine = gpt2_create(1);
  if (!is_load) Replies(engine, kLoad);
  long failures = 0;
  for (long i = 0;; ++i) {
    ASSERT_LT(i, 100000) << "never gets through";
    const std::vector<Call> first(param.calls.begin(), param.calls.end() - 1);
    Replies(engine, first);
    Caller caller(engine);
    g_all_others = all_others;
    g_left = i;
    const char* pointer = (caller.*param.calls.back())();
    const bool has_failed = g_left <= 0 && (all_others ? g_left == 0 : g_left == -1);
    g_left = -1;
    const std::string reply = ReplyJson(pointer).dump();
    if (IsOutOfMemory(reply)) {
      ++failures;
    } else {
      // Some memory is only wished for.
      EXPECT_TRUE(Json::parse(reply).contains("result")) << reply;
    }
    if (is_load && IsOutOfMemory(reply)) {
      EXPECT_FALSE(Json::parse(gpt2_tune_threads(engine)).contains("result"));
    }
    EXPECT_EQ(Replies(engine, param.calls), expected) << "after allocation " << i;
    if (!has_failed) break;
  }
  std::printf("%s: %ld allocations failed\n", param.name, failures);
  gpt2_destroy(engine);
}

TEST_P(OutOfMemory, IsAReplyAndTheEngineGoesOn) {
  FailEach(GetParam(), /*all_others=*/false);
}

TEST_P(OutOfMemory, IsAReplyAlsoWhereNoMoreMemoryComes) {
  FailEach(GetParam(), /*all_others=*/true);
}

INSTANTIATE_TEST_SUITE_P(EachCall, OutOfMemory, ::testing::ValuesIn(kCases), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name) {
    if (c == ' ') c = '_';
  }
  return name;
});

TEST(OutOfMemoryAtFirst, CreateGivesNull) {
#ifdef __EMSCRIPTEN__
  constexpr std::size_t kThreads = 1;  // this build has no others
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

TEST(OutOfMemoryAtFirst, AllocateGivesNull) {
  g_left = 0;
  EXPECT_EQ(gpt2_allocate(10), nullptr);
  g_left = -1;
}

}  // namespace
}  // namespace gpt2::testing
