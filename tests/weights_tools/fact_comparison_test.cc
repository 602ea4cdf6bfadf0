#include "weights_tools/fact_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine/generate/options.h"
#include "engine/generate/scorer.h"
#include "engine/generate/session.h"
#include "tests/support/test_model.h"

namespace gpt2::tools {
namespace {

constexpr const char* kName = "tiny";
constexpr const char* kPrompt = "ab";
constexpr std::size_t kNew = 6;

// A vocabulary in which each of 160 ids is a different byte, except for one that is never needed.
void WriteByteVocabulary(const fs::path& folder) {
  Json json = Json::object();
  const auto alphabet = [](int code) {  // GPT-2's letter for a byte that is not printable, as UTF-8
    return std::string{static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
  };
  for (int id = 0; id <= ' '; ++id) json[alphabet(0x100 + id)] = id;
  for (int byte = '!'; byte <= '~'; ++byte) json[std::string(1, static_cast<char>(byte))] = byte;
  json["~~"] = 127;
  for (int id = 128; id < 160; ++id) json[alphabet(0x121 + id - 128)] = id;
  std::ofstream(folder / "vocab.json") << json.dump();
  std::ofstream(folder / "merges.txt") << "#version: 0.2\n~ ~\n";
}

// The facts of a tiny model with such a vocabulary, as computed by the engine: all correct.
class FactComparisonTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const fs::path folder = fs::path(::testing::TempDir()) / "fact-comparison";
    fs::remove_all(folder);
    fs::create_directory(folder);
    for (const char* name : {"config.json", "model.safetensors"}) {
      fs::copy(testing::TinyModelFolder("tied") + "/" + name, folder / name);
    }
    WriteByteVocabulary(folder);
    auto made = MakeRunner(folder.string(), {.threads = 1, .kv = {}, .kernels = {}},
                           WeightFormat::kF32);  // whose figures are published
    fs::remove_all(folder);
    ASSERT_TRUE(made.ok()) << made.error().message;
    model = std::move(made.value());
  }
  static void TearDownTestSuite() { model.reset(); }

  FactComparisonTest() {
    const Config& c = model->context->config();
    release = {kName,
               c.n_layer,
               c.n_head,
               c.n_embd,
               c.n_positions,
               c.vocab_size,
               model->model.weights->parameter_count,
               "where it is published"};
    ids = Encode("abba");
    GenerateOptions options;
    options.temperature = 0;
    options.max_new_tokens = kNew;
    const auto prompt = Encode(kPrompt);
    auto session = Session::Begin(*model->context, model->tokenizer(), prompt, options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    while (!session.value().is_done()) {
      const auto tokens = session.value().Step();
      for (const GeneratedToken& token : tokens.value()) {
        continuation += model->tokenizer()->TokenBytes(token.id);
      }
    }
    text = "abcabcabc";
    loss = LossOf("<|endoftext|>" + text);
    perplexity = std::exp(LossOf(text));
  }

  std::vector<std::int32_t> Encode(const std::string& of) const {
    return model->tokenizer()->Encode(of, SpecialTokens::kAllowed).value();
  }

  double LossOf(const std::string& of) const {
    auto scorer = Scorer::Begin(*model->context, Encode(of), 4);
    double sum = 0;
    while (!scorer.value().is_done()) {
      const auto scores = scorer.value().Step();
      for (const TokenScore& score : scores.value()) sum -= score.logprob;
    }
    return sum / static_cast<double>(scorer.value().ids().size() - 1);
  }

  // The verdicts on all facts, in their order.
  std::vector<Verdict> Compare(const std::optional<NamedText>& named) {
    const TokenFact tokens[] = {{"abba", ids, ""}};
    const ContinuationFact continuations[] = {{kName, kPrompt, continuation, ""}};
    const LossFact losses[] = {{kName, text, loss, ""}};
    const PerplexityFact perplexities[] = {{kName, "text", Encode(text).size(), 4, perplexity, ""}};
    const Release releases[] = {release};
    const auto findings = CompareWithFacts(
        *model, {releases, tokens, continuations, {}, losses, perplexities}, named);
    EXPECT_TRUE(findings.ok()) << findings.error().message;
    std::vector<Verdict> verdicts;
    for (const Finding& finding : findings.value()) verdicts.push_back(finding.verdict);
    return verdicts;
  }

  static std::unique_ptr<Runner> model;
  Release release{};
  std::vector<std::int32_t> ids;
  std::string continuation, text;
  double loss = 0, perplexity = 0;
};

std::unique_ptr<Runner> FactComparisonTest::model;
constexpr Verdict kYes = Verdict::kPassed, kNo = Verdict::kFailed,
                  kSkipped = Verdict::kNotApplicable;

// The verdicts are on release, parameters, tokens, continuation, loss and perplexity.
TEST_F(FactComparisonTest, CorrectFactsPass) {
  EXPECT_EQ(Compare(NamedText{"text", text}), std::vector<Verdict>(6, kYes));
}

TEST_F(FactComparisonTest, AWrongFactFailsAlone) {
  const NamedText named = {"text", text};
  release.parameters += 1;
  EXPECT_EQ(Compare(named), (std::vector{kYes, kNo, kYes, kYes, kYes, kYes}));
  release.parameters -= 1;
  ids.back() += 1;
  EXPECT_EQ(Compare(named), (std::vector{kYes, kYes, kNo, kYes, kYes, kYes}));
  ids.back() -= 1;
  const std::string right = continuation;
  continuation.back() = right.back() == 'a' ? 'b' : 'a';
  EXPECT_EQ(Compare(named), (std::vector{kYes, kYes, kYes, kNo, kYes, kYes}));
  continuation = right;
  loss += 0.01;
  EXPECT_EQ(Compare(named), (std::vector{kYes, kYes, kYes, kYes, kNo, kYes}));
  loss -= 0.01;
  perplexity += 0.1;
  EXPECT_EQ(Compare(named), (std::vector{kYes, kYes, kYes, kYes, kYes, kNo}));
}

TEST_F(FactComparisonTest, FactsOfOtherModelsAndTextsAreSkipped) {
  EXPECT_EQ(Compare(std::nullopt), (std::vector{kYes, kYes, kYes, kYes, kYes, kSkipped}));
  EXPECT_EQ(Compare(NamedText{"other", "abc"}),
            (std::vector{kYes, kYes, kYes, kYes, kYes, kSkipped}));
  release.n_layer += 1;  // then the model is none of the releases
  EXPECT_EQ(Compare(NamedText{"text", text}),
            (std::vector{kNo, kYes, kSkipped, kSkipped, kSkipped}));
}

TEST_F(FactComparisonTest, TheMostProbableTokenAndItsLogitAreCompared) {
  const auto compare = [&](std::int32_t id, double logit) {
    const LogitFact logits[] = {{kName, kPrompt, id, logit, ""}};
    const Release releases[] = {release};
    const auto findings = CompareWithFacts(*model, {releases, {}, {}, logits, {}, {}}, {});
    return findings.value().back();
  };
  const std::int32_t best = Encode(kPrompt + continuation)[Encode(kPrompt).size()];
  const std::string found = compare(best, 0).found;
  const double logit = std::stod(found.substr(found.rfind(' ')));
  EXPECT_EQ(compare(best, logit).verdict, kYes);
  EXPECT_EQ(compare(best, logit + 0.1).verdict, kNo);
  EXPECT_EQ(compare(best + 1, logit).verdict, kNo);
}

TEST(PublishedFacts, UseTheTokensOfTheRealTokenizer) {
  const auto tokenizer = LoadTokenizer(GPT2_TEST_DATA "/gpt2-tokenizer");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  const auto encode = [&](const std::string& text) {
    return tokenizer.value().Encode(text, SpecialTokens::kAllowed).value();
  };
  for (const TokenFact& fact : PublishedFacts().tokens) {
    const auto ids = encode(std::string(fact.text));
    EXPECT_TRUE(std::ranges::equal(ids, fact.ids)) << fact.text;
  }
  for (const ContinuationFact& fact : PublishedFacts().continuations) {
    const auto prompt = encode(std::string(fact.prompt));
    const auto whole = encode(std::string(fact.prompt) + std::string(fact.continuation));
    ASSERT_GT(whole.size(), prompt.size());
    EXPECT_TRUE(std::equal(prompt.begin(), prompt.end(), whole.begin())) << fact.prompt;
  }
  const LogitFact& five = PublishedFacts().logits[0];
  EXPECT_EQ(tokenizer.value().TokenBytes(five.id), " five");
}

TEST(PublishedFacts, ReferToKnownReleasesAndHaveSources) {
  const Facts& facts = PublishedFacts();
  const auto check = [&](std::string_view release, std::string_view source) {
    EXPECT_EQ(std::ranges::count(facts.releases, release, &Release::name), 1) << release;
    EXPECT_TRUE(source.starts_with("https://")) << source;
  };
  for (const Release& release : facts.releases) {
    check(release.name, release.source);
    // A GPT-2 with a tied head has two tables, the blocks and the last layer norm.
    const std::size_t n = release.n_embd;
    EXPECT_EQ(release.parameters, (release.vocab_size + release.n_positions) * n +
                                      release.n_layer * (12 * n * n + 13 * n) + 2 * n);
  }
  for (const auto& fact : facts.continuations) check(fact.release, fact.source);
  for (const auto& fact : facts.logits) check(fact.release, fact.source);
  for (const auto& fact : facts.losses) check(fact.release, fact.source);
  for (const auto& fact : facts.perplexities) check(fact.release, fact.source);
}

}  // namespace
}  // namespace gpt2::tools
