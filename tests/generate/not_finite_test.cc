// Weights that are finite, but so large that the results are not. The messages are the same
// bytes on every build: this test runs natively and in WebAssembly.
#include "engine/generate/not_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/api.h"
#include "engine/generate/scorer.h"
#include "engine/generate/session.h"
#include "tests/support/api_output.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

// The bytes of a hub file of F32 with every value of one tensor replaced.
std::string WithTensor(std::string file, const std::string& name, float value) {
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, file.data(), sizeof header_size);
  const std::size_t data = sizeof header_size + static_cast<std::size_t>(header_size);
  const Json header = Json::parse(file.substr(sizeof header_size, data - sizeof header_size));
  EXPECT_EQ(header[name]["dtype"], "F32") << name;
  const auto offsets = header[name]["data_offsets"].get<std::vector<std::size_t>>();
  for (std::size_t i = data + offsets[0]; i < data + offsets[1]; i += sizeof value) {
    std::memcpy(&file[i], &value, sizeof value);
  }
  return file;
}

struct HugeModel {
  HugeModel(const std::string& tensor, WeightFormat format, KvFormat kv, const KernelTable& kernels)
      : pool(1) {
    const std::string folder = TinyModelFolder("tied");
    WeightReader reader(ReadConfigJson(ReadTestFile(folder + "/config.json")).value(), format);
    const std::string file = WithTensor(ReadTestFile(folder + "/model.safetensors"), tensor, 3e38f);
    const Status fed = reader.Feed(std::as_bytes(std::span(file)));
    EXPECT_TRUE(fed.ok()) << fed.error().message;
    weights = std::move(reader.Finish().value());
    context = std::move(Context::Create(*weights, {&kernels, &pool}, kv).value());
  }
  ThreadPool pool;
  std::unique_ptr<Weights> weights;
  std::optional<Context> context;
};

const std::vector<std::int32_t> kIds = {5, 17, 40, 3};

std::string ErrorOfGenerating(Context& context) {
  Session session =
      std::move(Session::Begin(context, nullptr, std::span(kIds), GenerateOptions{}).value());
  while (!session.is_done()) {
    const auto tokens = session.Step();
    if (!tokens.ok()) return tokens.error().message;
  }
  return "";
}

std::string ErrorOfScoring(Context& context) {
  Scorer scorer = std::move(Scorer::Begin(context, kIds, 4).value());
  while (!scorer.is_done()) {
    const auto scores = scorer.Step();
    if (!scores.ok()) return scores.error().message;
  }
  return "";
}

TEST(NotFinite, AnErrorNamesThePositionAndTheTensor) {
  const std::pair<const char*, const char*> tensors[] = {
      {"h.0.attn.c_attn.weight", "h.0.attn.c_attn.weight"},
      {"h.1.attn.c_proj.weight", "h.1.attn.c_proj.weight"},
      {"h.1.mlp.c_fc.weight", "h.1.mlp.c_fc.weight"},
      {"h.0.mlp.c_proj.weight", "h.0.mlp.c_proj.weight"},
      {"ln_f.weight", "ln_f.weight"},
  };
  for (const auto& [huge, named] : tensors) {
    for (const KernelTable* kernels : KernelTables()) {
      for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
        HugeModel model(huge, format, DefaultKvFormat(format), *kernels);
        const std::string expected =
            std::string(") are not finite; the likely cause is tensor \"") + named +
            "\": the first numbers that are not finite come from it";
        EXPECT_EQ(ErrorOfGenerating(*model.context),
                  "the logits after position 3 (token id 3" + expected)
            << kernels->name << " " << WeightFormatName(format);
        model.context->sequence().ClearCache();
        EXPECT_EQ(ErrorOfScoring(*model.context),
                  "the logits after position 0 (token id 5" + expected)
            << kernels->name << " " << WeightFormatName(format);
      }
    }
  }
}

TEST(NotFinite, ANonFiniteValueIsFoundInEveryLane) {
  std::vector<float> values(37, -1.0f);
  EXPECT_TRUE(AllFinite(values));
  EXPECT_TRUE(AllFinite({}));
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    for (float& value : values) {
      value = bad;
      EXPECT_FALSE(AllFinite(values));
      value = std::numeric_limits<float>::max();
    }
    EXPECT_TRUE(AllFinite(values));
  }
}

TEST(NotFinite, TheApiReportsACorruptModelAndStaysUsable) {
  Gpt2Engine* engine = gpt2_create(1);
  const std::string folder = TinyModelFolder("tied");
  const std::string config = ReadTestFile(folder + "/config.json");
  const std::string good = ReadTestFile(folder + "/model.safetensors");
  const auto load = [&](const std::string& file) {
    gpt2_load_begin(engine, config.data(), config.size(), "", 0, "", 0, "{}", 2);
    gpt2_load_weights(engine, reinterpret_cast<const uint8_t*>(file.data()), file.size());
    ASSERT_TRUE(Json::parse(gpt2_load_end(engine)).contains("result"));
  };
  const auto start = [&](auto call) {
    return ReplyJson(call(engine, kIds.data(), kIds.size() * sizeof kIds[0], true, "", 0));
  };
  load(WithTensor(good, "h.1.mlp.c_fc.weight", 3e38f));
  ASSERT_TRUE(start(gpt2_generate).contains("result"));
  const Json step = ReplyJson(gpt2_step(engine));
  EXPECT_EQ(step["error"]["code"], "corrupt") << step;
  EXPECT_EQ(ReplyJson(gpt2_step(engine))["error"]["code"], "invalid-argument");
  ASSERT_TRUE(start(gpt2_score).contains("result"));
  EXPECT_EQ(ReplyJson(gpt2_score_step(engine))["error"]["code"], "corrupt");
  load(good);
  ASSERT_TRUE(start(gpt2_generate).contains("result"));
  EXPECT_TRUE(ReplyJson(gpt2_step(engine)).contains("result"));
  gpt2_destroy(engine);
}

}  // namespace
}  // namespace gpt2::testing
