// Tests a prompt that is passed while a model loads.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/api/api.h"
#include "engine/format/config_json.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/model/weights.h"
#include "tests/support/has.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_engine.h"

namespace gpt2::testing {
namespace {

using Ids = std::vector<std::int32_t>;

// A safetensors file whose tensors lie in the order in which the forward pass needs them, as the
// converter writes them. `file` has the Hub's order. `ends` are the byte offsets at which each
// layer is complete.
std::string InNeedOrder(const std::string& file, const Config& config,
                        std::vector<std::size_t>& ends) {
  const auto [old, tensors] = SplitFile(file);
  Json header = {{"__metadata__", old["__metadata__"]}};
  std::string data;
  ends.assign(config.n_layer, 0);
  for (const TensorSpec& spec : TensorSpecs(config)) {
    for (const std::string& name : {spec.name, spec.name + "_scale"}) {
      if (!old.contains(name)) continue;
      const auto offsets = old[name]["data_offsets"].get<std::vector<std::size_t>>();
      header[name] = old[name];
      header[name]["data_offsets"] = {data.size(), data.size() + offsets[1] - offsets[0]};
      data += tensors.substr(offsets[0], offsets[1] - offsets[0]);
      if (spec.layer < config.n_layer) ends[spec.layer] = data.size();
    }
  }
  const std::string result = JoinFile(header, data);
  for (std::size_t& end : ends) end += result.size() - data.size();
  return result;
}

class LoadPrompt : public ::testing::TestWithParam<std::string>, public TestEngine {
 protected:
  LoadPrompt()
      : TestEngine(/*threads=*/2),
        model(AsConverted(ModelFiles(GetParam()))),
        shape(model.parsed()) {
    need_order = InNeedOrder(model.file, shape, layer_ends);
    for (std::size_t i = 0; i < shape.n_positions / 2; ++i) {
      prompt.push_back(static_cast<std::int32_t>((i * 31 + 7) % shape.vocab_size));
    }
  }

  void Begin() { ASSERT_EQ(ErrorOf(LoadBegin(model.config)), ""); }
  const char* GivePrompt(const Ids& ids) {
    return gpt2_load_prompt(engine, ids.data(), ids.size() * sizeof ids[0], /*is_ids=*/true);
  }
  // Runs all layers that can run. Returns how many layers the prompt has passed.
  std::size_t RunLayers() {
    do {
      const char* reply = gpt2_load_step(engine);
      EXPECT_EQ(reply, nullptr) << reply;
    } while (gpt2_output(engine)->is_done == 0);
    EXPECT_EQ(gpt2_output(engine)->total, shape.n_layer);
    return gpt2_output(engine)->done;
  }
  void Load(const std::string& file, std::size_t piece, const Ids& ids) {
    Begin();
    ASSERT_EQ(GivePrompt(ids), nullptr);
    for (std::size_t at = 0; at < file.size(); at += piece) {
      ASSERT_EQ(ErrorOf(Feed(std::string_view(file).substr(at, piece))), "");
      RunLayers();
    }
    LoadEnd();
  }
  // {"tokens": the tokens after `ids`, with logprobs, "reused": how many of `ids` were cached}.
  Json Write(const Ids& ids) {
    const Json options = {{"temperature", 0}, {"maxNewTokens", 8}, {"logprobs", 3}};
    const Json begun = Generate(ids, options);
    return {{"tokens", Finish()}, {"reused", begun["result"]["reusedTokens"]}};
  }
  // The tokens that an engine gives if no prompt was passed during its load.
  Json Plain(const Ids& ids) {
    LoadModel(model.config, model.file);
    return Write(ids)["tokens"];
  }

  ModelFiles model;
  Config shape;
  std::string need_order;
  std::vector<std::size_t> layer_ends;  // in need_order
  Ids prompt;
};

TEST_P(LoadPrompt, APromptDuringALoadChangesNoTokenAndRunsOnce) {
  const Json plain = Plain(prompt);
  for (const std::string* file : {&model.file, &need_order}) {
    for (const std::size_t piece : {std::size_t{1500}, file->size()}) {
      Load(*file, piece, prompt);
      const Json early = Write(prompt);
      EXPECT_EQ(early["tokens"], plain);
      EXPECT_EQ(early["reused"], prompt.size() - 1);  // the last token runs again, for its logits
    }
  }
}

TEST_P(LoadPrompt, EachLayerRunsAsSoonAsItsWeightsHaveArrived) {
  const Json plain = Plain(prompt);
  Begin();
  ASSERT_EQ(GivePrompt(prompt), nullptr);
  EXPECT_EQ(RunLayers(), 0u);
  std::size_t fed = 0;
  for (std::size_t layer = 0; layer < shape.n_layer; ++layer) {
    EXPECT_EQ(ErrorOf(Feed(std::string_view(need_order).substr(fed, layer_ends[layer] - 1 - fed))),
              "");
    EXPECT_EQ(RunLayers(), layer);  // the layer lacks a byte
    fed = layer_ends[layer] - 1;
    EXPECT_EQ(ErrorOf(Feed(std::string_view(need_order).substr(fed, 1))), "");
    ++fed;
    EXPECT_EQ(RunLayers(), layer + 1);
  }
  EXPECT_EQ(ErrorOf(Feed(std::string_view(need_order).substr(fed))), "");
  EXPECT_EQ(RunLayers(), shape.n_layer);
  LoadEnd();
  EXPECT_EQ(Write(prompt)["tokens"], plain);
}

TEST_P(LoadPrompt, ASecondPromptReplacesTheFirst) {
  Ids longer = prompt;
  longer.insert(longer.end(), {1, 2, 3});
  const Json plain = Plain(longer);
  Begin();
  ASSERT_EQ(GivePrompt(longer), nullptr);
  EXPECT_EQ(ErrorOf(Feed(std::string_view(need_order).substr(0, layer_ends[0]))), "");
  EXPECT_EQ(RunLayers(), 1u);
  ASSERT_EQ(GivePrompt(prompt), nullptr);
  EXPECT_EQ(ErrorOf(Feed(std::string_view(need_order).substr(layer_ends[0]))), "");
  EXPECT_EQ(RunLayers(), shape.n_layer);
  LoadEnd();
  const Json early = Write(longer);
  EXPECT_EQ(early["tokens"], plain);
  EXPECT_EQ(early["reused"], prompt.size());
}

TEST_P(LoadPrompt, ALongPromptKeepsItsLastTokens) {
  Ids text;
  for (int i = 0; i < 5; ++i) text.insert(text.end(), prompt.begin(), prompt.end());
  const Json plain = Plain(text);
  Load(need_order, need_order.size(), text);
  const Json early = Write(text);
  EXPECT_EQ(early["tokens"], plain);
  PromptTokens tokens(shape);
  ASSERT_TRUE(tokens.Add(text).ok());
  EXPECT_EQ(early["reused"], tokens.window().size() - 1);
}

TEST_P(LoadPrompt, AnUnfinishedPromptIsPrefilledByTheGeneration) {
  const Json plain = Plain(prompt);
  Begin();
  ASSERT_EQ(GivePrompt(prompt), nullptr);
  EXPECT_EQ(ErrorOf(Feed(need_order)), "");
  ASSERT_EQ(gpt2_load_step(engine), nullptr);
  LoadEnd();
  const Json early = Write(prompt);
  EXPECT_EQ(early["tokens"], plain);
  EXPECT_EQ(early["reused"], shape.n_layer == 1 ? prompt.size() - 1 : 0);
}

TEST_P(LoadPrompt, AnEmptyPromptIsIgnored) {
  const Json plain = Plain(prompt);
  Begin();
  ASSERT_EQ(GivePrompt(prompt), nullptr);
  ASSERT_EQ(GivePrompt({}), nullptr);
  EXPECT_EQ(ErrorOf(Feed(need_order)), "");
  EXPECT_EQ(RunLayers(), 0u);
  LoadEnd();
  EXPECT_EQ(Write(prompt), Json({{"tokens", plain}, {"reused", 0}}));
}

TEST_P(LoadPrompt, AnAbortedOrFailedLoadEndsThePrompt) {
  const Json plain = Plain(prompt);
  const auto begin_and_run = [&] {
    Begin();
    ASSERT_EQ(GivePrompt(prompt), nullptr);
    EXPECT_EQ(ErrorOf(Feed(std::string_view(need_order).substr(0, layer_ends[0]))), "");
    EXPECT_EQ(RunLayers(), 1u);
  };
  begin_and_run();
  begin_and_run();  // replaces the first prompt
  const std::string end = gpt2_load_end(engine);
  EXPECT_TRUE(Has(end, "the file ends inside tensor"));
  EXPECT_EQ(gpt2_load_step(engine), end);  // the load is over
  EXPECT_EQ(Plain(prompt), plain);
  begin_and_run();  // the engine is destroyed during the prefill
}

TEST_P(LoadPrompt, InvalidIdsAndCallsInTheWrongOrderReturnErrors) {
  EXPECT_EQ(ErrorOf(GivePrompt(prompt)), "no load has begun");
  EXPECT_EQ(ErrorOf(gpt2_load_step(engine)), "no load has begun");
  Begin();
  EXPECT_TRUE(Has(ErrorOf(GivePrompt({1, -2})), "token id -2 at index 1, expected 0 to "));
  Begin();
  EXPECT_TRUE(
      Has(ErrorOf(gpt2_load_prompt(engine, "text", 4, /*is_ids=*/false)), "has no tokenizer"));
  Begin();
  EXPECT_EQ(ErrorOf(Feed(model.file)), "");
  LoadEnd();
  EXPECT_EQ(ErrorOf(GivePrompt(prompt)), "no load has begun");
  EXPECT_EQ(Write(prompt)["reused"], 0);  // the model is unchanged
}

INSTANTIATE_TEST_SUITE_P(TinyModels, LoadPrompt, ::testing::ValuesIn(TinyModelNames()), TestNameOf);

}  // namespace
}  // namespace gpt2::testing
