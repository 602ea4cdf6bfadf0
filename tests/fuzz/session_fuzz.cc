// Generation on a tiny model. The work is arranged in many ways: with lookup, several continuations
// at once, others in between, or an earlier text in the cache. The tokens, their text and their
// log-probabilities stay the same.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/thread_pool.h"
#include "engine/format/vocabulary_files.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/session.h"
#include "tests/fuzz/support/fuzz_model.h"

namespace gpt2::fuzz {
namespace {

struct Model {
  std::unique_ptr<Weights> weights;
  std::optional<Tokenizer> tokenizer;
};

// A few models, made once, because weights_fuzz.cc tests loading.
const Model& AnyModel(FuzzedDataProvider& input) {
  constexpr std::size_t kModels = 7;
  static std::array<Model, kModels> models;
  const auto index = input.ConsumeIntegralInRange<std::size_t>(0, kModels - 1);
  Model& model = models[index];
  if (model.weights != nullptr) return model;
  Config config;
  config.n_head = 1 + index % 2;
  if (index == kModels - 1) {
    config.is_bigcode = config.multi_query = true;
    config.n_head = 2;
  }
  config.n_embd = index == 0 ? 32 : 4 * (1 + index);
  config.n_layer = 1 + index % 2;
  config.n_inner = 2 * config.n_embd;
  config.n_positions = std::array{24, 7, 1, 40, 3, 64, 48}[index];
  config.vocab_size = 14 + index;  // more than the tokenizer's 13, or as many
  if (index % 3 != 2) config.eos_token_id = 12;
  const auto tensors = HubTensors(config, DType::kF32, /*seed=*/index);
  const std::string file = SafetensorsFile(HeaderJson(tensors).dump(), tensors);
  WeightReader reader({config, StoredWeights::kHub},
                      index % 2 == 0 ? WeightFormat::kQ8 : WeightFormat::kF32);
  const Status fed = reader.Feed(std::as_bytes(std::span(file)));
  Check(fed.ok(), fed.ok() ? "" : fed.error().message);
  model.weights = std::move(reader.Finish().value());
  const VocabularyFiles files = SmallVocabulary(/*size=*/13);
  auto tokenizer = ReadTokenizer(files.vocab, files.merges, config.vocab_size);
  Check(tokenizer.ok(), tokenizer.ok() ? "" : tokenizer.error().message);
  model.tokenizer = std::move(tokenizer.value());
  return model;
}

GenerateOptions AnyOptions(FuzzedDataProvider& input) {
  GenerateOptions options;
  options.max_new_tokens = input.ConsumeIntegralInRange<std::size_t>(0, 16);
  options.temperature = input.PickValueInArray({0.0, 1e-3, 0.8, 2.0, 100.0});
  options.top_k = input.PickValueInArray<std::size_t>({0, 1, 2, 5, 40});
  options.top_p = input.PickValueInArray({0.0, 0.3, 0.95, 1.0});
  options.min_p = input.PickValueInArray({0.0, 0.1, 1.0});
  options.typical_p = input.PickValueInArray({1.0, 1.0, 0.0, 0.3, 0.95});
  options.no_repeat_ngram_size = input.PickValueInArray<std::size_t>({0, 0, 1, 2, 3, 40});
  options.repetition_penalty = input.PickValueInArray({1.0, 1.0, 0.01, 1.3, 100.0});
  options.seed = input.ConsumeIntegral<std::uint16_t>();
  options.logprobs = input.PickValueInArray<std::size_t>({0, 0, 1, 3, 100});
  options.ignore_eos = input.ConsumeBool();
  options.strict = input.ConsumeIntegralInRange<int>(0, 7) == 0;
  for (auto left = input.ConsumeIntegralInRange<std::size_t>(0, 2); left > 0; --left) {
    options.stop.push_back(
        input.PickValueInArray({"a", "ab", "bb", "\xc3\xa9", "\xef\xbf\xbd", "\n"}));
  }
  return options;
}

std::vector<std::int32_t> AnyPrompt(FuzzedDataProvider& input, const Config& config) {
  std::vector<std::int32_t> ids(input.ConsumeIntegralInRange<std::size_t>(0, 20));
  const auto last = static_cast<std::int32_t>(config.vocab_size) - 1;
  const std::int32_t most = std::min<std::int32_t>(last, input.ConsumeBool() ? 2 : last);
  for (std::int32_t& id : ids) id = input.ConsumeIntegralInRange<std::int32_t>(0, most);
  return ids;
}

// The output of one continuation.
struct Written {
  std::vector<std::int32_t> ids;
  std::vector<std::uint32_t> logprobs;  // their bits, including those of alternatives
  std::string text;
  FinishReason finish = FinishReason::kNone;
  bool operator==(const Written&) const = default;
};

struct Outcome {
  std::optional<Error> error;
  std::vector<Written> written;  // of each continuation
};

// Takes a step unless the session is done.
void Step(Session& session, Outcome& outcome) {
  if (session.is_done()) return;
  const auto add = [](Written& written, std::int32_t id, float logprob) {
    written.ids.push_back(id);
    written.logprobs.push_back(std::bit_cast<std::uint32_t>(logprob));
  };
  const auto tokens = session.Step();
  Check(tokens.ok(), "logits that are not finite, from small weights");
  for (const GeneratedToken& token : tokens.value()) {
    Written& written = outcome.written[token.continuation];
    add(written, token.id, token.logprob);
    for (const TokenLogprob& other : token.top) add(written, other.id, other.logprob);
    written.text += token.text;
  }
  Check(session.prefill().done <= session.prefill().total, "more tokens than there are");
  for (std::size_t i = 0; i < outcome.written.size(); ++i) {
    outcome.written[i].finish = session.finish(i);
  }
}

// Calls between(steps) before each step but the first.
template <typename Between>
Outcome Write(const Model& model, Context& context, std::span<const std::int32_t> prompt,
              const GenerateOptions& options, Between between) {
  auto begun = Session::Begin(context, &*model.tokenizer, prompt, options);
  if (!begun.ok()) return {begun.error(), {}};
  Session& session = begun.value();
  Outcome outcome{{}, std::vector<Written>(options.n)};
  for (std::size_t i = 0; i < options.n; ++i) outcome.written[i].finish = session.finish(i);
  for (std::size_t steps = 0; !session.is_done(); ++steps) {
    Check(steps < 10000, "does not come to an end");
    if (steps > 0) between(session);
    Step(session, outcome);
  }
  return outcome;
}

Outcome Write(const Model& model, Context& context, std::span<const std::int32_t> prompt,
              const GenerateOptions& options) {
  return Write(model, context, prompt, options, [](Session&) {});
}

Context NewContext(const Model& model, KvFormat kv, const KernelTable& kernels) {
  static ThreadPool pool(1);
  auto context = Context::Create(*model.weights, {&kernels, &pool}, kv);
  Check(context.ok(), "no memory for a tiny context");
  return std::move(context.value());
}

void CheckText(const Written& written, const GenerateOptions& options) {
  Check(IsUtf8(written.text), "text that is no UTF-8");
  for (const std::string& stop : options.stop) {
    Check(written.text.find(stop) == std::string::npos, "a stop string was shown");
  }
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  const Model& model = AnyModel(input);
  const KvFormat kv = input.ConsumeBool() ? KvFormat::kQ8 : KvFormat::kF32;
  Context warm = NewContext(model, kv, BestKernels());  // shared: it caches earlier texts
  for (int texts = 0; texts < 3 && input.remaining_bytes() > 0; ++texts) {
    GenerateOptions options = AnyOptions(input);
    const auto prompt = AnyPrompt(input, model.weights->config);
    options.lookup = false;
    Context cold = NewContext(model, kv, *KernelTables().front());
    const Outcome plain = Write(model, cold, prompt, options);
    options.lookup = true;
    const Outcome guessed = Write(model, warm, prompt, options);
    if (plain.error) {
      Check(guessed.error && guessed.error->message == plain.error->message, "another error");
      continue;
    }
    Check(!guessed.error, "an error with lookup alone");
    Check(plain.written == guessed.written, "lookup, the cache or the kernels change the text");
    CheckText(plain.written[0], options);

    options.n = input.ConsumeIntegralInRange<std::size_t>(2, 4);
    // The session is suspended now and then while another text uses the context.
    const GenerateOptions meanwhile = {.max_new_tokens = 2};
    const std::array<std::int32_t, 1> other = {0};
    const Outcome together = Write(model, warm, prompt, options, [&](Session& session) {
      if (input.ConsumeIntegralInRange<int>(0, 7) != 7) return;
      session.Suspend();
      Write(model, warm, other, meanwhile);
      Check(session.Resume().ok(), "cannot be resumed");
    });
    Check(!together.error, "an error with several continuations alone");
    GenerateOptions single = options;
    single.n = 1;
    for (const Written& written : together.written) {
      Check(Write(model, warm, prompt, single).written[0] == written,
            "a continuation differs from the one that its seed gives alone");
      ++single.seed;
    }
  }
  return 0;
}
