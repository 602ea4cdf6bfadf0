#include "engine/api/generation_config.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/generate/options.h"
#include "tests/support/has.h"

namespace gpt2 {
namespace {

// The defaults of a model with `file`, under the names of the web API.
Json DefaultsOf(const std::string& file) {
  const auto options = ReadGenerationConfig(file);
  EXPECT_TRUE(options.ok()) << options.error().message;
  std::string text;
  JsonWriter out(text);
  if (options.ok()) WriteDefaults(options.value(), out);
  return Json::parse(text);
}

std::string ErrorOf(const std::string& file) {
  const auto options = ReadGenerationConfig(file);
  return options.ok() ? "" : options.error().message;
}

// The defaults without a file.
Json Ours() {
  Json ours = Json::object();
  for (const NumberOption& option : NumberOptions()) {
    if (!option.hub_name.empty()) ours[std::string(option.name)] = option.get({});
  }
  return ours;
}

TEST(GenerationConfig, EachOptionOfTheHubIsSetByItsName) {
  for (const NumberOption& option : NumberOptions()) {
    if (option.hub_name.empty()) continue;
    Json expected = Ours();
    expected[std::string(option.name)] = option.most;
    EXPECT_EQ(DefaultsOf(Json{{option.hub_name, option.most}}.dump()), expected) << option.name;
  }
}

// What each file changes in the defaults.
TEST(GenerationConfig, KeysSetOptions) {
  const std::pair<const char*, Json> files[] = {
      {"{}", Json::object()},
      // GPT-2's own file on the Hub.
      {R"({"_from_model_config": true, "bos_token_id": 50256, "eos_token_id": 50256,
           "transformers_version": "4.26.0.dev0"})",
       Json::object()},
      {R"({"max_new_tokens": 7, "temperature": 0.5, "do_sample": true})",
       {{"maxNewTokens", 7}, {"temperature", 0.5}}},
      // Null values and unknown keys are ignored.
      {R"({"temperature": null, "top_k": null, "do_sample": null, "num_beams": 4, "seed": -1,
           "n": 99, "logprobs": "x", "": -1})",
       Json::object()},
      {R"({"do_sample": false})", {{"temperature", 0}}},
      {R"({"temperature": 0.7, "do_sample": false})", {{"temperature", 0}}},
      {R"({"max_length": 20})", {{"maxNewTokens", 20}}},  // transformers' own default
      {R"({"max_length": 50})", {{"maxNewTokens", 50}, {"maxLength", 50}}},
      {R"({"max_length": 50, "max_new_tokens": 20})", {{"maxNewTokens", 20}}},
      {R"({"max_length": 50, "max_new_tokens": null})", {{"maxNewTokens", 50}, {"maxLength", 50}}}};
  for (const auto& [file, changes] : files) {
    Json expected = Ours();
    expected.update(changes);
    EXPECT_EQ(DefaultsOf(file), expected) << file;
  }
}

TEST(GenerationConfig, EosTokenIdIsANumberOrAListAndNegativeIdsMeanNone) {
  const std::pair<const char*, std::vector<std::int32_t>> files[] = {
      {"7", {7}}, {"[7, 9]", {7, 9}}, {"-1", {}}, {"[-1]", {}}, {"[-1, 9]", {9}}};
  for (const auto& [ids, expected] : files) {
    const auto options = ReadGenerationConfig(std::string(R"({"eos_token_id": )") + ids + "}");
    ASSERT_TRUE(options.ok()) << options.error().message;
    EXPECT_EQ(options.value().eos_token_ids, expected) << ids;
  }
  EXPECT_TRUE(Has(ErrorOf(R"({"eos_token_id": "x"})"), "eos_token_id"));
  EXPECT_TRUE(Has(ErrorOf(R"({"eos_token_id": -1.5})"), "token id -1.5"));
}

TEST(GenerationConfig, IgnoredSettingsAreNamedInWarnings) {
  EXPECT_TRUE(IgnoredSettings(R"({"num_beams": 1, "diversity_penalty": 0, "top_k": 5,
                                  "bad_words_ids": null, "use_cache": true})")
                  .empty());
  const auto warnings =
      IgnoredSettings(R"({"num_beams": 4, "forced_eos_token_id": 5, "max_length": 50})");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0], "generation_config.json: \"num_beams\" is 4, which is ignored");
  EXPECT_TRUE(Has(warnings[1], "forced_eos_token_id"));
}

TEST(GenerationConfig, SettingMaxNewTokensClearsMaxLength) {
  GenerateOptions options = ReadGenerationConfig(R"({"max_length": 50})").value();
  EXPECT_EQ(options.max_length, 50u);
  EXPECT_TRUE(SetNumber(NumberOptions()[0], 7, options));
  EXPECT_EQ(options.max_length, 0u);
  EXPECT_EQ(options.max_new_tokens, 7u);
  EXPECT_EQ(ReadGenerationConfig(R"({"max_length": 50, "max_new_tokens": 9})").value().max_length,
            0u);
}

TEST(GenerationConfig, ErrorsNameTheFileTheKeyAndTheRange) {
  EXPECT_EQ(ErrorOf(R"({"top_k": -1})"),
            "generation_config.json: top_k is -1, expected a whole number from 0 to 16777216");
  EXPECT_EQ(ErrorOf(R"({"top_p": "0.9"})"),
            "generation_config.json: top_p is \"0.9\", expected a number from 0 to 1");
  EXPECT_EQ(ErrorOf(R"({"max_length": 1.5})"),
            "generation_config.json: max_length is 1.5, expected a whole number from 0 to "
            "16777216");
  EXPECT_EQ(ErrorOf(R"({"do_sample": 1})"),
            "generation_config.json: do_sample is 1, expected true or false");
  EXPECT_EQ(ErrorOf("[]"), "generation_config.json: it is an array of 0, expected an object");
  EXPECT_TRUE(Has(ErrorOf("{"), "generation_config.json"));
}

}  // namespace
}  // namespace gpt2
