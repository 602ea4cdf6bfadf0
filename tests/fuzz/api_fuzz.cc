// The C API and the converter's, in any order, also after errors, with requests that are right,
// damaged or random. Every answer is null, or JSON with a result or an error. A call succeeds only
// if the API allows it at that point.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/api.h"
#include "engine/api/convert.h"
#include "engine/api/memory.h"
#include "tests/fuzz/support/any_json.h"
#include "tests/fuzz/support/fuzz_model.h"
#include "tests/support/api_output.h"

namespace gpt2::fuzz {
namespace {

struct Folder {
  std::string config;
  VocabularyFiles vocabulary;
  std::string weights;
};

// Its config.json and weights come in twelve kinds, each made once, because making them takes
// longer than the calls.
Folder AnyFolder(FuzzedDataProvider& input) {
  Config config;
  config.n_head = 1;
  config.n_embd = input.PickValueInArray<std::size_t>({4, 32});
  config.n_layer = 1;
  config.n_inner = 8;
  config.n_positions = input.PickValueInArray<std::size_t>({1, 3, 16});
  config.vocab_size = 13;
  if (input.ConsumeBool()) config.eos_token_id = 12;
  static std::map<std::string, Folder> made;
  const std::string json = ConfigJson(config).dump();
  Folder& folder = made[json];
  if (folder.config.empty()) {
    const auto tensors = HubTensors(config, DType::kF16, /*seed=*/1);
    folder = {json, SmallVocabulary(/*size=*/13),
              SafetensorsFile(HeaderJson(tensors).dump(), tensors)};
  }
  Folder copy = folder;
  if (input.ConsumeBool()) copy.vocabulary = {};
  return copy;
}

// A prompt: text, ids as int32, or bytes that are neither.
struct Prompt {
  std::string bytes;
  bool is_ids = false;
};

Prompt AnyPrompt(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange<int>(0, 3)) {
    case 0:
      return {input.ConsumeRandomLengthString(40), input.ConsumeBool()};
    case 1:
      return {input.PickValueInArray({"", "ab ab ab", "a\n\xc3\xa9", "<|endoftext|>b", "\xf0\x9f"}),
              /*is_ids=*/false};
    default:
      Prompt prompt{{}, /*is_ids=*/true};
      for (auto left = input.ConsumeIntegralInRange<int>(0, 20); left > 0; --left) {
        prompt.bytes += static_cast<char>(input.ConsumeIntegralInRange<int>(0, 12));
        prompt.bytes.append(3, '\0');
      }
      return prompt;
  }
}

Json AnyOptions(FuzzedDataProvider& input) {
  Json options = {{"maxNewTokens", input.ConsumeIntegralInRange<int>(0, 12)}};
  while (input.ConsumeBool()) {
    switch (input.ConsumeIntegralInRange<int>(0, 6)) {
      case 0:
        options["n"] = input.ConsumeIntegralInRange<int>(0, 17);
        break;
      case 1:
        options["stop"] = input.PickValueInArray({"a", "ab", "\xc3\xa9", ""});
        break;
      case 2:
        options["logprobs"] = input.ConsumeIntegralInRange<int>(0, 20);
        break;
      case 3:
        options["temperature"] = input.PickValueInArray({0.0, 1e-30, 1.0, 100.0});
        break;
      case 4:
        options["repetitionPenalty"] = input.PickValueInArray({0.01, 1.0, 100.0});
        break;
      case 5:
        options[input.PickValueInArray({"ignoreEos", "strict", "lookup", "heal", "allowSpecial"})] =
            input.ConsumeBool();
        break;
      default:
        options[input.PickValueInArray({"seed", "topK", "topP", "minP", "kv", "x"})] =
            AnyJson(input);
    }
  }
  return options;
}

// The engine behind its API, and the expected state.
class Caller {
 public:
  explicit Caller(FuzzedDataProvider& input)
      : input_(input),
        engine_(gpt2_create(input.PickValueInArray<std::size_t>({0, 1, 1, 1}))),
        converter_(gpt2_converter_create()) {}
  ~Caller() {
    gpt2_destroy(engine_);
    gpt2_converter_destroy(converter_);
  }
  Caller(const Caller&) = delete;

  void AnyCall() {
    Call();
    CheckOutOfTurn();
  }

 private:
  void Call() {
    switch (input_.ConsumeIntegralInRange<int>(0, 15)) {
      case 0:
        if (loads_++ < kMostLoads) LoadWhole();
        return;
      case 1:
        if (loads_++ < kMostLoads) LoadBegin();
        return;
      case 2:
        return LoadWeights();
      case 3:
        return LoadEnd();
      case 4:
        return CountThreads();
      case 5:
        if (input_.ConsumeIntegralInRange<int>(0, 31) == 31) Tune();
        return;
      case 6:
        return Tokenize();
      case 7:
        return Detokenize();
      case 8:
        return Generate();
      case 9:
        return Step(input_.ConsumeIntegralInRange<int>(1, 40));
      case 10:
        return Score();
      case 11:
        return ScoreStep(input_.ConsumeIntegralInRange<int>(1, 10));
      case 12:
        return input_.ConsumeBool() ? Suspend() : Interrupt();
      case 13:
        return input_.ConsumeBool() ? Resume(AnyNumber()) : Discard();
      case 14:
        return LoadPrompt();
      default:
        return Others(input_.ConsumeIntegralInRange<int>(0, 3));
    }
  }

  void Others(int which) {
    switch (which) {
      case 0:
        return Allocate();
      case 1:
        return PrefillStep();
      case 2:
        return input_.ConsumeBool() ? Inspect() : ReadAndInspect();
      default:
        for (auto calls = input_.ConsumeIntegralInRange<int>(1, 8); calls > 0; --calls) Convert();
    }
  }

  // After any calls, work that is not running, has ended or is suspended takes no step.
  void CheckOutOfTurn() {
    Check(is_generating_ || !Read(gpt2_step(engine_)), "a step of what is not generated");
    Check(is_scoring_ || !Read(gpt2_score_step(engine_)), "a step of what is not scored");
    Check(is_tokenizing_ || !Read(gpt2_tokenize_step(engine_)), "a step of what is no text");
  }

  // The answer's result; empty if it is an error.
  std::optional<Json> Read(const char* reply) {
    if (reply == nullptr) return Json::object();
    Check(IsUtf8(reply), "an answer that is no UTF-8");
    const Json json = Json::parse(reply, nullptr, /*allow_exceptions=*/false);
    Check(json.is_object() && json.size() == 1, "an answer that is not one result or error");
    if (json.contains("result")) return json["result"];
    static const std::set<std::string> kCodes = {"invalid-argument", "capacity",  "corrupt",
                                                 "unsupported",      "not-found", "io",
                                                 "out-of-memory"};
    const Json& error = json.at("error");
    Check(kCodes.contains(error.at("code").get<std::string>()), "an unknown code");
    Check(!error.at("message").get<std::string>().empty(), "an error without a sentence");
    return std::nullopt;
  }

  // The output of a step; empty if the answer is an error.
  std::optional<Json> ReadOutput(const char* reply) {
    if (!Read(reply)) return std::nullopt;
    const Gpt2Output& output = *gpt2_output(engine_);
    Check(IsUtf8({output.text, output.text_size}), "text that is no UTF-8");
    Check(output.done <= output.total, "more tokens than there are");
    std::size_t length = 0;
    for (std::size_t i = 0; i < output.token_count; ++i) length += output.tokens[i].text_length;
    Check(length == Utf16Length({output.text, output.text_size}), "text of no token");
    return testing::OutputJson(engine_);
  }

  // A request as text: valid, damaged, or not JSON at all.
  std::string Text(const Json& request) {
    if (input_.ConsumeIntegralInRange<int>(0, 15) == 15)
      return input_.ConsumeRandomLengthString(40);
    return MaybeDamaged(input_, TextOf(request));
  }

  // A load ends all running work, even if it fails.
  void Forget() {
    is_loaded_ = false;
    suspended_.clear();
    EndWork();
  }
  void EndWork() { is_generating_ = is_scoring_ = is_tokenizing_ = false; }

  std::optional<Json> Begin(const Folder& folder, const std::string& options) {
    Forget();
    const VocabularyFiles& v = folder.vocabulary;
    auto result = Read(gpt2_load_begin(engine_, folder.config.data(), folder.config.size(),
                                       v.vocab.data(), v.vocab.size(), v.merges.data(),
                                       v.merges.size(), options.data(), options.size()));
    is_loading_ = result.has_value();
    rest_ = folder.weights;
    return result;
  }

  std::optional<Json> Feed(std::string_view bytes) {
    auto result = Read(gpt2_load_weights(
        engine_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    Check(is_loading_ || !result, "bytes were taken, though no load is under way");
    is_loading_ = is_loading_ && result;
    return result;
  }

  void LoadWhole() {
    is_damaged_ = false;
    const Folder folder = AnyFolder(input_);
    const char* options = input_.PickValueInArray({"{}", R"({"kv": "f32"})", R"({"kv": "q8"})"});
    Check(Begin(folder, options).has_value(), "a sound folder is refused");
    Check(Feed(folder.weights).has_value(), "sound weights are refused");
    rest_ = {};
    LoadEnd();
    Check(is_loaded_, "a sound load fails");
  }

  void LoadBegin() {
    is_damaged_ = true;
    Folder folder = AnyFolder(input_);
    folder.config = MaybeDamaged(input_, folder.config);
    folder.vocabulary.vocab = MaybeDamaged(input_, folder.vocabulary.vocab);
    folder.vocabulary.merges = MaybeDamaged(input_, folder.vocabulary.merges);
    folder.weights = MaybeDamaged(input_, folder.weights);
    Begin(folder, Text(input_.ConsumeBool() ? Json::object() : AnyJson(input_)));
  }

  void LoadWeights() {
    const auto most = input_.PickValueInArray<std::size_t>({0, 9, 1000, 1 << 20});
    std::string bytes = rest_.substr(0, input_.ConsumeIntegralInRange<std::size_t>(0, most));
    rest_.erase(0, bytes.size());
    Feed(MaybeDamaged(input_, bytes));
  }

  void LoadPrompt() {
    const Prompt prompt = AnyPrompt(input_);
    const bool was_loading = is_loading_;
    is_loading_ =
        Read(gpt2_load_prompt(engine_, prompt.bytes.data(), prompt.bytes.size(), prompt.is_ids))
            .has_value();
    Check(was_loading || !is_loading_, "a prompt for a load that is not under way");
    for (int steps = input_.ConsumeIntegralInRange<int>(0, 4); is_loading_ && steps > 0; --steps) {
      is_loading_ = ReadOutput(gpt2_load_step(engine_)).has_value();
    }
  }

  void LoadEnd() {
    const bool was_loading = std::exchange(is_loading_, false);
    const auto result = Read(gpt2_load_end(engine_));
    Check(was_loading || !result, "a load ended that is not under way");
    if (was_loading) is_loaded_ = result.has_value();
    if (result) Check((*result)["threads"] == 1, "threads of the model");
  }

  void CountThreads() {
    gpt2_drop_unstarted_threads(engine_);
    Check(gpt2_started_threads(engine_) == 1, "threads");
  }

  void Tune() {
    const auto result = Read(gpt2_tune_threads(engine_));
    Check(result.has_value() == is_loaded_, "tune");
    if (result) Check((*result)["threads"] == 1 && (*result)["isDone"] == true, "threads to tune");
  }

  void Tokenize() {
    text_ = AnyPrompt(input_).bytes;
    const std::string options = Text(
        input_.ConsumeBool() ? Json({{"allowSpecial", input_.ConsumeBool()}}) : Json::object());
    const auto result =
        Read(gpt2_tokenize(engine_, text_.data(), text_.size(), options.data(), options.size()));
    Check(is_loaded_ || !result, "tokens without a model");
    is_tokenizing_ = result.has_value();
    for (auto most = input_.ConsumeIntegralInRange<int>(0, 3); most > 0; --most) TokenizeStep();
  }

  void TokenizeStep() {
    const auto result = Read(gpt2_tokenize_step(engine_));
    Check(is_tokenizing_ || !result, "a step out of turn");
    is_tokenizing_ = result && (*result)["isDone"] == false;
    if (!result) return;
    const auto* ids = gpt2_token_ids(engine_);
    const auto count = (*result)["count"].get<std::size_t>();
    for (std::size_t i = 0; i < count; ++i) Check(ids[i] >= 0 && ids[i] < 13, "id");
    const std::vector<std::int32_t> copy(ids, ids + count);
    Check(Read(gpt2_detokenize(engine_, copy.data(), count)).has_value(),
          "ids of its own are refused");
  }

  void Detokenize() {
    std::vector<std::int32_t> ids(input_.ConsumeIntegralInRange<std::size_t>(0, 8));
    for (std::int32_t& id : ids) {
      id = input_.ConsumeBool() ? input_.ConsumeIntegralInRange<int>(0, 12)
                                : input_.ConsumeIntegral<std::int32_t>();
    }
    Read(gpt2_detokenize(engine_, ids.data(), ids.size()));
  }

  void Generate() {
    const Prompt prompt = AnyPrompt(input_);
    const std::string options = input_.ConsumeBool() ? Text(AnyOptions(input_)) : "";
    const auto result = Read(gpt2_generate(engine_, prompt.bytes.data(), prompt.bytes.size(),
                                           prompt.is_ids, options.data(), options.size()));
    Check(is_loaded_ || !result, "a generation without a model");
    if (is_loaded_) EndWork();
    is_generating_ = result && gpt2_output(engine_)->is_done == 0;
    if (result) Check((*result)["promptTokens"].is_number_unsigned(), "promptTokens");
  }

  void Suspend() {
    const auto number = Read(gpt2_suspend(engine_));
    Check(number.has_value() == is_generating_, "set aside what is not there, or not what is");
    is_generating_ = false;
    if (number) Check(suspended_.insert(number->get<std::uint32_t>()).second, "a number twice");
  }

  // Does other work between the tokens of a text, as the page does. The text then continues.
  void Interrupt() {
    if (!is_generating_) return Suspend();
    Suspend();
    const auto between = input_.ConsumeIntegralInRange<int>(0, 3);
    if (between == 0) Tokenize();
    if (between == 1) Generate();
    if (between >= 2) Score();
    CheckOutOfTurn();
    Resume(*suspended_.rbegin());
  }

  std::uint32_t AnyNumber() {
    if (suspended_.empty() || input_.ConsumeBool()) return input_.ConsumeIntegralInRange(0, 3);
    return *suspended_.begin();
  }

  void Resume(std::uint32_t number) {
    const auto result = Read(gpt2_resume(engine_, number));
    Check(result.has_value() == suspended_.contains(number), "resumed what is not there");
    if (!result) return;
    suspended_.erase(number);
    is_generating_ = true;
    is_scoring_ = false;
  }

  void Discard() {
    const std::uint32_t number = AnyNumber();
    gpt2_discard(engine_, number);
    suspended_.erase(number);
  }

  // Damaged weights may give logits that are not finite, which end the work.
  void CheckTurn(const std::optional<Json>& result, bool& is_its_turn) {
    Check(is_its_turn || !result, "a step out of turn");
    Check(result.has_value() || !is_its_turn || is_damaged_, "no step in turn");
    is_its_turn = is_its_turn && result;
  }

  void Step(int most) {
    for (; most > 0; --most) {
      const auto result = ReadOutput(gpt2_step(engine_));
      CheckTurn(result, is_generating_);
      if (!result) return;
      for (const Json& token : (*result)["tokens"]) {
        Check(token["logprob"].is_number() && token["logprob"] <= 0.001, "logprob");
        Check(token["id"] >= 0 && token["id"] < 13, "id");
      }
      is_generating_ = (*result)["isDone"] == false;
      Check(Read(gpt2_summary(engine_)).has_value() == !is_generating_, "summary");
    }
  }

  void PrefillStep() {
    const auto result = ReadOutput(gpt2_prefill_step(engine_));
    Check(!is_generating_ || !result, "a prefill in place of a generation");
    if (result) Check((*result)["done"] < (*result)["total"] || (*result)["isDone"], "prefill");
  }

  void Inspect() {
    const auto layer = input_.ConsumeIntegralInRange<std::uint32_t>(0, 1);  // there is one layer
    const auto top = input_.PickValueInArray<std::uint32_t>({0, 1, 5, 13, 14, 0xffffffff});
    const auto result = ReadOutput(gpt2_inspect(engine_, layer, top));
    const bool is_there = is_loaded_ && !is_generating_ && layer == 0;
    Check(is_there || !result, "shown what is not there");
    if (!result) return;
    const Json& tokens = (*result)["tokens"];
    constexpr std::size_t kStages = 2;
    Check(tokens.size() == kStages * std::min(top, 13u), "tokens of the stages");
    for (const Json& token : tokens) Check(token["index"] < kStages && token["id"] < 13, "token");
    const float* scores = gpt2_attention(engine_);
    const auto total = (*result)["total"].get<std::size_t>();
    for (std::size_t i = 0; i < total; ++i) {
      Check(is_damaged_ || std::isfinite(scores[i]), "attention that is not finite");
    }
  }

  void ReadAndInspect() {
    const Prompt prompt = AnyPrompt(input_);
    const std::string options = R"({"maxNewTokens": 0})";
    Read(gpt2_generate(engine_, prompt.bytes.data(), prompt.bytes.size(), prompt.is_ids,
                       options.data(), options.size()));
    if (is_loaded_) EndWork();
    while (const auto step = ReadOutput(gpt2_prefill_step(engine_))) {
      if ((*step)["isDone"] == true) break;
    }
    Inspect();
  }

  // Makes any call of convert.h.
  void Convert() {
    switch (input_.ConsumeIntegralInRange<int>(0, 5)) {
      case 0:
        return ConverterBegin();
      case 1:
        return ConverterFeed();
      case 2:
      case 3:
        return ConverterStep();
      case 4: {
        const auto folder = Read(gpt2_converter_folder(converter_));
        Check(is_converting_ || !folder, "a folder of no conversion");
        return;
      }
      default: {
        const auto end = Read(gpt2_converter_end(converter_));
        Check(is_converting_ || !end, "the end of no conversion");
      }
    }
  }

  void ConverterBegin() {
    Folder folder = AnyFolder(input_);
    folder.config = input_.ConsumeBool() ? folder.config : MaybeDamaged(input_, folder.config);
    if (input_.ConsumeIntegralInRange<int>(0, 7) == 7) folder.config.clear();  // a GGUF file
    const std::string heads = input_.ConsumeIntegralInRange<int>(0, 7) == 7
                                  ? MaybeDamaged(input_, folder.weights.substr(0, 700))
                                  : "";
    const std::string weights = input_.PickValueInArray({"f32", "f16", "q8", "q4", "hub", ""});
    is_converting_ =
        Read(gpt2_converter_begin(converter_, folder.config.data(), folder.config.size(),
                                  reinterpret_cast<const std::uint8_t*>(heads.data()), heads.size(),
                                  weights.data(), weights.size()))
            .has_value();
    unconverted_ = MaybeDamaged(input_, folder.weights);
  }

  // Fed bytes stay in memory until they are consumed.
  void ConverterFeed() {
    const auto most = input_.PickValueInArray<std::size_t>({0, 9, 1000, 1 << 20});
    auto bytes = std::make_unique<std::string>(
        unconverted_.substr(0, input_.ConsumeIntegralInRange<std::size_t>(0, most)));
    const auto result = Read(gpt2_converter_feed(
        converter_, reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()));
    Check(is_converting_ || !result, "bytes for no conversion");
    if (!result) return;
    unconverted_.erase(0, bytes->size());
    fed_ = std::move(bytes);
  }

  void ConverterStep() {
    while (true) {
      const auto result = Read(gpt2_converter_step(converter_));
      Check(is_converting_ || !result, "a step of no conversion");
      if (!result) return;
      const Gpt2Bytes& output = *gpt2_converter_output(converter_);
      const std::string copy(reinterpret_cast<const char*>(output.bytes), output.size);
      if (copy.empty()) return;
    }
  }

  void Score() {
    const Prompt prompt = AnyPrompt(input_);
    Json given = Json::object();
    for (const char* name : {"stride", "start"}) {
      if (input_.ConsumeBool()) given[name] = input_.ConsumeIntegralInRange<int>(-1, 21);
    }
    const std::string options = given.empty() ? "" : Text(given);
    const auto result = ReadOutput(gpt2_score(engine_, prompt.bytes.data(), prompt.bytes.size(),
                                              prompt.is_ids, options.data(), options.size()));
    Check(is_loaded_ || !result, "a score without a model");
    if (is_loaded_) EndWork();
    is_scoring_ = result && (*result)["isDone"] == false;
  }

  void ScoreStep(int most) {
    for (; most > 0; --most) {
      const auto result = ReadOutput(gpt2_score_step(engine_));
      CheckTurn(result, is_scoring_);
      if (!result) return;
      is_scoring_ = (*result)["isDone"] == false;
    }
  }

  void Allocate() {
    const std::string bytes = input_.ConsumeRandomLengthString(200);
    auto* memory = static_cast<char*>(gpt2_allocate(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), memory);
    gpt2_free(memory);
  }

  // A load takes as long as all other calls of an input together. More loads find no new faults.
  static constexpr int kMostLoads = 4;

  FuzzedDataProvider& input_;
  Gpt2Engine* engine_;
  int loads_ = 0;
  std::string rest_;  // weights that the current load still needs
  std::string text_;  // the text that is being tokenized
  std::set<std::uint32_t> suspended_;
  bool is_damaged_ = false;  // whether the weights may be damaged
  bool is_loading_ = false;
  bool is_loaded_ = false;
  bool is_generating_ = false;
  bool is_scoring_ = false;
  bool is_tokenizing_ = false;
  Gpt2Converter* converter_;
  std::string unconverted_;           // bytes that the converter still needs
  std::unique_ptr<std::string> fed_;  // bytes that the converter is reading
  bool is_converting_ = false;
};

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  gpt2::fuzz::Caller caller(input);
  for (int calls = 0; calls < 60 && input.remaining_bytes() > 0; ++calls) caller.AnyCall();
  return 0;
}
