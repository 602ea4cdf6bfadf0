#include <cstdio>
#include <iostream>
#include <iterator>

#include "engine/base/function_ref.h"
#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {
namespace {

std::string ReadStandardInput() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// Applies `answer` to each line of standard input, naming the line where it fails.
Status ForLines(FunctionRef<Status(const std::string& line)> answer) {
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    const Status status = answer(line);
    if (!status.ok()) {
      return Error{status.error().code,
                   "line " + std::to_string(number) + ": " + status.error().message};
    }
  }
  return Done{};
}

Result<std::string> Decode(const Tokenizer& tokenizer, const std::string& line) {
  GPT2_ASSIGN(const Json json, ParseJson(line, "the input"));
  GPT2_ASSIGN(const auto ids, ReadTokenIds(json));
  return tokenizer.Decode(ids);
}

// A JSON string; bytes that are no UTF-8 become U+FFFD.
std::string JsonText(const std::string& bytes) {
  return Json(bytes).dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace

Status Tokenize(const std::string& model, bool lines, bool allow_special) {
  GPT2_ASSIGN(const Tokenizer tokenizer, LoadTokenizer(model));
  const SpecialTokens special = allow_special ? SpecialTokens::kAllowed : SpecialTokens::kAsText;
  const auto print = [&](const std::string& text) -> Status {
    GPT2_ASSIGN(const auto ids, tokenizer.Encode(text, special));
    std::printf("%s\n", Json(ids).dump().c_str());
    return Done{};
  };
  if (!lines) return print(ReadStandardInput());
  return ForLines([&](const std::string& line) -> Status {
    GPT2_ASSIGN(const Json text, ParseJson(line, "the input"));
    if (!text.is_string()) return Error{ErrorCode::kInvalidArgument, "expected a JSON string"};
    return print(text.get<std::string>());
  });
}

Status Detokenize(const std::string& model, bool lines, bool json) {
  GPT2_ASSIGN(const Tokenizer tokenizer, LoadTokenizer(model));
  if (!lines) {
    GPT2_ASSIGN(const std::string bytes, Decode(tokenizer, ReadStandardInput()));
    if (json) {
      std::printf("%s\n", JsonText(bytes).c_str());
    } else {
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);  // the very bytes, and no more
    }
    return Done{};
  }
  return ForLines([&](const std::string& line) -> Status {
    GPT2_ASSIGN(const std::string bytes, Decode(tokenizer, line));
    std::printf("%s\n", JsonText(bytes).c_str());
    return Done{};
  });
}

}  // namespace gpt2::tools
