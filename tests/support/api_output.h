// The C API's output of a step, as JSON, which tests compare and print.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/api/api.h"
#include "engine/format/json.h"
#include "engine/text/utf8.h"

namespace gpt2::testing {

// Takes the first `length` UTF-16 code units from `text`.
inline std::string TakeUtf16(std::string_view& text, std::size_t length) {
  std::size_t bytes = 0;
  while (bytes < text.size() && Utf16Length(text.substr(0, bytes)) < length) {
    bytes += ReadUtf8(text.substr(bytes)).size;
  }
  const std::string taken(text.substr(0, bytes));
  text.remove_prefix(bytes);
  return taken;
}

// {"tokens": [{"index", "id", "text", "logprob", "rank"?, "healed"?, "top"?}], "done", "total",
// "isDone"}
inline Json OutputJson(const Gpt2Engine* engine) {
  const Gpt2Output& output = *gpt2_output(engine);
  std::string_view text(output.text, output.text_size);
  std::size_t next = 0;
  const auto take = [&] {
    const Gpt2Token& token = output.tokens[next++];
    Json json = {{"index", token.index},
                 {"id", token.id},
                 {"text", TakeUtf16(text, token.text_length)},
                 {"logprob", nullptr}};
    if (!std::isnan(token.logprob)) json["logprob"] = token.logprob;
    if (token.rank != 0) json["rank"] = token.rank;
    if (token.healed != 0) json["healed"] = token.healed;
    return json;
  };
  Json tokens = Json::array();
  while (next < output.token_count) {
    const std::size_t alternatives = output.tokens[next].top_count;
    Json token = take();
    for (std::size_t i = 0; i < alternatives; ++i) token["top"].push_back(take());
    tokens.push_back(token);
  }
  return {{"tokens", tokens},
          {"done", output.done},
          {"total", output.total},
          {"isDone", output.is_done == 1}};
}

// A reply; {"result": {}} where it is null.
inline Json ReplyJson(const char* reply) {
  return reply == nullptr ? Json({{"result", Json::object()}}) : Json::parse(reply);
}

// The reply of a call that leaves an output, with that as its result.
inline Json OutputReply(const Gpt2Engine* engine, const char* reply) {
  return reply == nullptr ? Json({{"result", OutputJson(engine)}}) : Json::parse(reply);
}

}  // namespace gpt2::testing
