// The C API and the converter's, in any order, also after errors, with requests that are right,
// damaged or random. Every answer is null, or JSON with a result or an error. A call succeeds only
// if the API allows it at that point. An option is taken exactly if its table row allows the value.
// However a text is written, its tokens stay the same.
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
#include "engine/api/options_json.h"
#include "tests/fuzz/support/any_json.h"
#include "tests/fuzz/support/any_options.h"
#include "tests/fuzz/support/fuzz_model.h"
#include "tests/fuzz/support/stream.h"
#include "tests/support/api_output.h"

namespace gpt2::fuzz {
namespace {

constexpr int kVocab = 13;

struct Folder {
  std::string config;
  VocabularyFiles vocabulary;
  std::string weights;
};

// Its config.json and weights come in some kinds, each made once, because making them takes
// longer than the calls.
Folder AnyFolder(FuzzedDataProvider& input) {
  Config config;
  config.n_head = config.n_layer = input.PickValueInArray<std::size_t>({1, 1, 2});
  config.is_bigcode = config.multi_query = config.n_head == 2 && input.ConsumeBool();
  config.n_embd = input.PickValueInArray<std::size_t>({4, 32});
  config.n_inner = 8;
  config.n_positions = input.PickValueInArray<std::size_t>({1, 3, 16, 40});
  config.vocab_size = kVocab;
  if (input.ConsumeBool()) config.eos_token_id = kVocab - 1;
  static std::map<std::string, Folder> made;
  const std::string json = ConfigJson(config).dump();
  Folder& folder = made[json];
  if (folder.config.empty()) {
    const auto tensors = HubTensors(config, DType::kF16, /*seed=*/1);
    const std::string file = SafetensorsFile(HeaderJson(tensors).dump(), tensors);
    const auto converter = Converter::OfSafetensors(json, {}, StoredWeights::kQ8);
    const Streamed converted = ConvertWhole(*converter.value(), file, file.size());
    folder = {converted.folder.config, SmallVocabulary(kVocab), converted.file};
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
        prompt.bytes += static_cast<char>(input.ConsumeIntegralInRange<int>(0, kVocab - 1));
        prompt.bytes.append(3, '\0');
      }
      return prompt;
  }
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
    using Call = void (Caller::*)();
    static constexpr Call kCalls[] = {
        &Caller::LoadWhole,      &Caller::LoadBegin,      &Caller::LoadWeights,
        &Caller::LoadPrompt,     &Caller::LoadEnd,        &Caller::CountThreads,
        &Caller::Tokenize,       &Caller::Detokenize,     &Caller::Generate,
        &Caller::Step,           &Caller::Step,           &Caller::Score,
        &Caller::ScoreStep,      &Caller::Suspend,        &Caller::Interrupt,
        &Caller::Resume,         &Caller::Discard,        &Caller::PrefillStep,
        &Caller::Inspect,        &Caller::ReadAndInspect, &Caller::CompareTexts,
        &Caller::TakeAnyOptions, &Caller::Convert};
    (this->*input_.PickValueInArray(kCalls))();
    CheckOutOfTurn();
  }

 private:
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
    if (loads_++ >= kMostLoads) return;
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
    if (loads_++ >= kMostLoads) return;
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
    if (!result) return;
    Check((*result)["threads"] == 1, "threads of the model");
    layers_ = (*result)["config"]["nLayer"].get<std::uint32_t>();
  }

  void CountThreads() {
    gpt2_drop_unstarted_threads(engine_);
    Check(gpt2_started_threads(engine_) == 1, "threads");
    if (input_.ConsumeIntegralInRange<int>(0, 31) != 31) return;
    const auto tuned = Read(gpt2_tune_threads(engine_));
    Check(tuned.has_value() == is_loaded_, "tune");
    if (tuned) Check((*tuned)["threads"] == 1 && (*tuned)["isDone"] == true, "threads to tune");
  }

  void Tokenize() {
    text_ = AnyPrompt(input_).bytes;
    const std::string options = Text({{"allowSpecial", input_.ConsumeBool()}});
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
    for (std::size_t i = 0; i < count; ++i) Check(ids[i] >= 0 && ids[i] < kVocab, "id");
    const auto* places = gpt2_token_places(engine_);
    for (std::size_t i = 0; i < 2 * count; i += 2) {
      Check(places[i] <= places[i + 1] && places[i + 1] <= text_.size(), "place");
      Check(i == 0 || places[i - 2] <= places[i], "order of places");
    }
    const std::vector<std::int32_t> copy(ids, ids + count);
    Check(Read(gpt2_detokenize(engine_, copy.data(), count)).has_value(),
          "ids of its own are refused");
  }

  void Detokenize() {
    std::vector<std::int32_t> ids(input_.ConsumeIntegralInRange<std::size_t>(0, 8));
    for (std::int32_t& id : ids) {
      id = input_.ConsumeBool() ? input_.ConsumeIntegralInRange<int>(0, kVocab - 1)
                                : input_.ConsumeIntegral<std::int32_t>();
    }
    Read(gpt2_detokenize(engine_, ids.data(), ids.size()));
  }

  std::optional<Json> Begin(const Prompt& prompt, const std::string& options) {
    const auto result = Read(gpt2_generate(engine_, prompt.bytes.data(), prompt.bytes.size(),
                                           prompt.is_ids, options.data(), options.size()));
    Check(is_loaded_ || !result, "a generation without a model");
    if (is_loaded_) EndWork();
    is_generating_ = result && gpt2_output(engine_)->is_done == 0;
    if (result) Check((*result)["promptTokens"].is_number_unsigned(), "promptTokens");
    return result;
  }

  void Generate() {
    const Json options = input_.ConsumeBool() ? FittingOptions(input_) : Json::object();
    Begin(AnyPrompt(input_), options.empty() ? "" : Text(options));
  }

  // The bytes of a request reach the table of options.
  void TakeAnyOptions() {
    const std::string text = Text(input_.ConsumeBool() ? AnyOptions(input_) : AnyJson(input_));
    const auto json = ParseRequest(text, "the request");
    if (json.ok()) CheckOptions(*json.value());
  }

  // The tokens of each continuation, then why each ended; empty if the request is refused.
  std::optional<std::vector<Json>> Write(const Prompt& prompt, const Json& options,
                                         bool is_interrupted) {
    if (!Begin(prompt, TextOf(options))) return std::nullopt;
    std::vector<Json> written(options.value<std::size_t>("n", 1), Json::array());
    while (is_generating_) {
      if (is_interrupted && input_.ConsumeIntegralInRange<int>(0, 7) == 7) Interrupt();
      const auto step = TakeStep();
      Check(step.has_value(), "a text that does not end");
      for (Json token : (*step)["tokens"]) {
        const std::size_t index = token["index"];
        token.erase("index");
        for (Json& other : token["top"]) other.erase("index");
        written[index].push_back(std::move(token));
      }
    }
    const Json reasons = (*Read(gpt2_summary(engine_)))["finishReasons"];
    for (std::size_t i = 0; i < written.size(); ++i) written[i].push_back(reasons[i]);
    return written;
  }

  // The first text is written on a nearly empty cache, without lookup. The second one finds it in
  // the cache, and other work runs in between. Each continuation equals a text of its own seed.
  void CompareTexts() {
    if (!is_loaded_ || is_damaged_) return;
    const Prompt prompt = AnyPrompt(input_);
    const int seed = input_.ConsumeIntegral<std::uint16_t>();
    Json options = FittingOptions(input_);
    options["seed"] = seed;
    options["n"] = input_.ConsumeIntegralInRange<int>(1, 3);
    options["lookup"] = false;
    const Prompt other{{kVocab - 1, 0, 0, 0}, /*is_ids=*/true};
    Write(other, {{"maxNewTokens", 1}}, /*is_interrupted=*/false);
    const auto plain = Write(prompt, options, /*is_interrupted=*/false);
    options["lookup"] = true;
    Check(Write(prompt, options, /*is_interrupted=*/true) == plain,
          "lookup, the cache or an interruption changes the text");
    if (!plain) return;
    options["n"] = 1;
    for (std::size_t i = 0; i < plain->size(); ++i) {
      CheckStops((*plain)[i], options);
      options["seed"] = seed + i;
      const auto single = Write(prompt, options, /*is_interrupted=*/false);
      Check(single && single->front() == (*plain)[i], "a continuation differs from its own text");
    }
  }

  void CheckStops(const Json& written, const Json& options) {
    std::string text;
    for (const Json& token : written) {
      if (token.is_object()) text += token["text"].get<std::string>();
    }
    const Json stops = options.value("stop", Json::array());
    for (const Json& stop : stops.is_array() ? stops : Json::array({stops})) {
      Check(text.find(stop.get<std::string>()) == std::string::npos, "a stop string is shown");
    }
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
    ResumeNumber(*suspended_.rbegin());
  }

  std::uint32_t AnyNumber() {
    if (suspended_.empty() || input_.ConsumeBool()) return input_.ConsumeIntegralInRange(0, 3);
    return *suspended_.begin();
  }

  void Resume() { ResumeNumber(AnyNumber()); }

  void ResumeNumber(std::uint32_t number) {
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

  std::optional<Json> TakeStep() {
    const auto result = ReadOutput(gpt2_step(engine_));
    CheckTurn(result, is_generating_);
    if (!result) return result;
    for (const Json& token : (*result)["tokens"]) {
      Check(token["logprob"].is_number() && token["logprob"] <= 0.001, "logprob");
      Check(token["id"] >= 0 && token["id"] < kVocab, "id");
    }
    is_generating_ = (*result)["isDone"] == false;
    Check(Read(gpt2_summary(engine_)).has_value() == !is_generating_, "summary");
    return result;
  }

  void Step() {
    for (auto most = input_.ConsumeIntegralInRange<int>(1, 40); most > 0 && TakeStep(); --most) {
    }
  }

  void PrefillStep() {
    const auto result = ReadOutput(gpt2_prefill_step(engine_));
    Check(!is_generating_ || !result, "a prefill in place of a generation");
    if (result) Check((*result)["done"] < (*result)["total"] || (*result)["isDone"], "prefill");
  }

  void Inspect() {
    const auto top = input_.PickValueInArray<std::uint32_t>({0, 1, 5, 13, 14, 0xffffffff});
    const auto result = ReadOutput(gpt2_inspect(engine_, top));
    const bool is_there = is_loaded_ && !is_generating_;
    Check(is_there || !result, "shown what is not there");
    if (!result) return;
    const Json& tokens = (*result)["tokens"];
    const std::uint32_t stages = layers_ + 1;
    Check(tokens.size() == stages * std::min<std::uint32_t>(top, kVocab), "tokens of the stages");
    for (const Json& token : tokens) {
      Check(token["index"] < stages && token["id"] < kVocab, "token");
    }
    const float* scores = gpt2_attention(engine_);
    const auto total = (*result)["total"].get<std::size_t>();
    for (std::size_t i = 0; i < total; ++i) {
      Check(is_damaged_ || std::isfinite(scores[i]), "attention that is not finite");
    }
  }

  // Sets changes and captures for the next request, from any numbers.
  void SetHooks() {
    std::vector<double> numbers;
    for (auto left = input_.ConsumeIntegralInRange<int>(0, 24); left > 0; --left) {
      numbers.push_back(input_.ConsumeBool() ? input_.ConsumeIntegralInRange<int>(-2, 20)
                                             : input_.ConsumeFloatingPoint<double>());
    }
    Check(Read(gpt2_set_hooks(engine_, numbers.data(), numbers.size())).has_value(), "hooks");
    is_damaged_ = true;  // values may change to any others
  }

  void ReadAndInspect() {
    if (input_.ConsumeBool()) SetHooks();
    Begin(AnyPrompt(input_), R"({"maxNewTokens": 0})");
    while (const auto step = ReadOutput(gpt2_prefill_step(engine_))) {
      if ((*step)["isDone"] == true) break;
    }
    Inspect();
  }

  // Makes some calls of convert.h.
  void Convert() {
    for (auto calls = input_.ConsumeIntegralInRange<int>(1, 8); calls > 0; --calls) {
      const auto call = input_.ConsumeIntegralInRange<int>(0, 5);
      if (call == 0) ConverterBegin();
      if (call == 1) ConverterFeed();
      if (call == 2 || call == 3) ConverterStep();
      if (call < 4) continue;
      const auto result =
          Read(call == 4 ? gpt2_converter_folder(converter_) : gpt2_converter_end(converter_));
      Check(is_converting_ || !result, "the folder or the end of no conversion");
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

  void ScoreStep() {
    for (auto most = input_.ConsumeIntegralInRange<int>(1, 10); most > 0; --most) {
      const auto result = ReadOutput(gpt2_score_step(engine_));
      CheckTurn(result, is_scoring_);
      if (!result) return;
      is_scoring_ = (*result)["isDone"] == false;
    }
  }

  // A load takes as long as all other calls of an input together. More loads find no new faults.
  static constexpr int kMostLoads = 4;

  FuzzedDataProvider& input_;
  Gpt2Engine* engine_;
  int loads_ = 0;
  std::string rest_;  // weights that the current load still needs
  std::uint32_t layers_ = 0;
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
