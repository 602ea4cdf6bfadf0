// An engine behind the C API, with strings and JSON, as a base of test fixtures.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/api.h"
#include "engine/format/json.h"
#include "tests/support/api_output.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {

// The message of a reply; empty if it is a result. Every error has a message.
inline std::string ErrorOf(const Json& reply) {
  if (!reply.contains("error")) return "";
  const std::string message = reply["error"]["message"].get<std::string>();
  EXPECT_NE(message, "");
  return message;
}
inline std::string ErrorOf(const char* reply) {
  return ErrorOf(ReplyJson(reply));
}

class TestEngine {
 public:
  explicit TestEngine(std::size_t threads = 1) : engine(gpt2_create(threads)) {}
  ~TestEngine() { gpt2_destroy(engine); }
  TestEngine(const TestEngine&) = delete;
  TestEngine& operator=(const TestEngine&) = delete;

  [[nodiscard]] Json LoadBegin(const std::string& config, const std::string& options = "{}",
                               const std::string& vocab = "", const std::string& merges = "") {
    return ReplyJson(gpt2_load_begin(engine, config.data(), config.size(), vocab.data(),
                                     vocab.size(), merges.data(), merges.size(), options.data(),
                                     options.size()));
  }
  [[nodiscard]] Json Feed(std::string_view bytes) {
    return ReplyJson(
        gpt2_load_weights(engine, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  }
  // The description of the model.
  Json LoadEnd() {
    const Json end = ReplyJson(gpt2_load_end(engine));
    EXPECT_TRUE(end.contains("result")) << end;
    return end.value("result", Json());
  }
  Json LoadModel(const std::string& config, const std::string& file,
                 const std::string& options = "{}", const std::string& vocab = "",
                 const std::string& merges = "") {
    const ModelFiles converted = AsConverted({config, file});
    EXPECT_EQ(ErrorOf(LoadBegin(converted.config, options, vocab, merges)), "");
    EXPECT_EQ(ErrorOf(Feed(converted.file)), "");
    return LoadEnd();
  }

  Json Generate(const std::vector<std::int32_t>& ids, const Json& options = Json::object()) {
    const std::string text = options.dump();
    return ReplyJson(gpt2_generate(engine, ids.data(), ids.size() * sizeof ids[0],
                                   /*is_ids=*/true, text.data(), text.size()));
  }
  // The tokens up to the end of what is generated, or the error.
  Json Finish() {
    Json tokens = Json::array();
    do {
      const char* reply = gpt2_step(engine);
      if (reply != nullptr) return Json::parse(reply);
      const Json output = OutputJson(engine);
      for (const Json& token : output["tokens"]) tokens.push_back(token);
    } while (gpt2_output(engine)->is_done == 0);
    return tokens;
  }

  Gpt2Engine* engine;
};

}  // namespace gpt2::testing
