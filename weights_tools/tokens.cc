// `gpt2-weights tokenize` and `detokenize`: text to token ids and back.
#include <cstdio>
#include <string>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

Result<std::string> Decode(const Tokenizer& tokenizer, const std::string& line) {
  GPT2_ASSIGN(const ParsedJson json, ParseJson(line, "the input"));
  GPT2_ASSIGN(const auto ids, ReadTokenIds(*json));
  return tokenizer.Decode(ids);
}

// A JSON string; bytes that are not valid UTF-8 become U+FFFD.
std::string JsonText(const std::string& bytes) {
  return Visible(Json(bytes).dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

}  // namespace

Status Tokenize(const std::string& model, bool lines, bool allow_special) {
  GPT2_ASSIGN(const Tokenizer tokenizer, LoadTokenizer(model));
  const SpecialTokens special = allow_special ? SpecialTokens::kAllowed : SpecialTokens::kAsText;
  const auto print = [&](const std::string& text) -> Status {
    GPT2_ASSIGN(const auto ids, tokenizer.Encode(text, special, TextEnds::kWith));
    std::printf("%s\n", Json(ids).dump().c_str());
    return Done{};
  };
  if (!lines) {
    GPT2_ASSIGN(const std::string text, ReadStandardInput());
    return print(text);
  }
  return ForLinesOfStandardInput([&](const std::string& line) -> Status {
    GPT2_ASSIGN(const ParsedJson text, ParseJson(line, "the input"));
    if (!text->is_string()) {
      return Error{ErrorCode::kInvalidArgument, "expected a JSON string, found " + Shown(*text)};
    }
    return print(text->get<std::string>());
  });
}

Status Detokenize(const std::string& model, bool lines, bool json) {
  GPT2_ASSIGN(const Tokenizer tokenizer, LoadTokenizer(model));
  if (!lines) {
    GPT2_ASSIGN(const std::string input, ReadStandardInput());
    GPT2_ASSIGN(const std::string bytes, Decode(tokenizer, input));
    if (json) {
      std::printf("%s\n", JsonText(bytes).c_str());
    } else {
      std::fwrite(bytes.data(), 1, bytes.size(),
                  stdout);  // exactly these bytes, without a line break
    }
    return Done{};
  }
  return ForLinesOfStandardInput([&](const std::string& line) -> Status {
    GPT2_ASSIGN(const std::string bytes, Decode(tokenizer, line));
    std::printf("%s\n", JsonText(bytes).c_str());
    return Done{};
  });
}

}  // namespace gpt2::tools
