// `gpt2-weights trace`: prints the output of each layer, to compare with a reference.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/sequence.h"
#include "engine/model/config.h"
#include "engine/model/hooks.h"
#include "engine/text/text_encoder.h"
#include "weights_tools/commands.h"
#include "weights_tools/runner.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

// Prints floats with the fewest digits that read back as the same float.
using FloatJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                       std::int64_t, std::uint64_t, float>;

// Records in `status` the first value that JSON cannot represent.
void AppendRows(const std::string& stage, MatView<const float> rows, FloatJson& json,
                Status& status) {
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (const float value : rows.Row(r)) {
      if (std::isfinite(value) || !status.ok()) continue;
      status = Error{ErrorCode::kUnsupported, "position " + std::to_string(json.size()) + " of " +
                                                  stage +
                                                  " is not finite: the weights before it "
                                                  "are too large or damaged"};
    }
    json.push_back(std::vector<float>(rows.Row(r).begin(), rows.Row(r).end()));
  }
}

// The name of a place in the output; empty for places that it lacks.
std::string StageOf(const HookPoint& point) {
  const std::string block = "h." + std::to_string(point.layer);
  switch (point.place) {
    case Place::kResidPre:
      return point.layer == 0 ? "embed" : "";
    case Place::kResidMid:
      return block + ".attn";
    case Place::kResidPost:
      return block + ".mlp";
    case Place::kNormed:
      return "ln_f";
    default:
      return "";
  }
}

}  // namespace

Status TraceLayers(const std::string& folder, const Prompt& prompt, const RunOptions& run) {
  GPT2_ASSIGN(const auto runner, MakeRunner(folder, run));
  GPT2_ASSIGN(const auto ids, PromptIds(*runner, prompt, /*allow_special=*/false, TextEnds::kWith));
  const Config& config = runner->context->config();
  GPT2_TRY(CheckTokenIds(config, ids));
  if (ids.empty() || ids.size() > config.n_positions) {
    return Error{ErrorCode::kCapacity, "the prompt has " + std::to_string(ids.size()) +
                                           " tokens, expected 1 to " +
                                           std::to_string(config.n_positions)};
  }
  FloatJson result = {{"ids", ids}, {"trace", FloatJson::object()}, {"logits", FloatJson::array()}};
  Status is_finite = Done{};
  Reader reader([](Place place) { return !StageOf({place}).empty(); },
                [&](const HookPoint& point, MatView<const float> x) {
                  const std::string stage = StageOf(point);
                  if (!stage.empty()) AppendRows(stage, x, result["trace"][stage], is_finite);
                });
  Sequence& sequence = runner->context->sequence();
  sequence.SetWindow(ids);
  while (!sequence.is_current()) {
    const Pass pass = runner->context->Prefill(sequence, Context::kLogitTokens, &reader);
    GPT2_ASSIGN(const MatView<const float> logits, pass.Logits(0, pass.tokens()));
    AppendRows("logits", logits, result["logits"], is_finite);
  }
  if (!is_finite.ok()) return is_finite;
  PrintJson(result);
  return Done{};
}

}  // namespace gpt2::tools
