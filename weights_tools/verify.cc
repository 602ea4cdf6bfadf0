// `gpt2-weights verify`: compares a copy of the released weights with published results of GPT-2.
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/model/matrix.h"
#include "engine/text/quoted.h"
#include "weights_tools/commands.h"
#include "weights_tools/fact_comparison.h"
#include "weights_tools/files.h"
#include "weights_tools/published_facts.h"
#include "weights_tools/runner.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

Json ToJson(const Finding& finding) {
  return {{"verdict", kVerdictNames[static_cast<std::size_t>(finding.verdict)]},
          {"fact", finding.fact},
          {"expected", finding.expected},
          {"found", finding.found},
          {"source", finding.source}};
}

}  // namespace

Status Verify(const std::string& folder, const std::string& text_file, const RunOptions& run,
              bool json) {
  if (json) {
    GPT2_TRY(CheckPrintable("MODEL", folder));
    GPT2_TRY(CheckPrintable("--text", text_file));
  }
  std::optional<NamedText> text;
  if (!text_file.empty()) {
    GPT2_ASSIGN(std::string content, ReadFile(text_file));
    text = NamedText{text_file, std::move(content)};
  }
  // Most published results were measured in float32.
  GPT2_ASSIGN(const auto runner, MakeRunner(folder, run, WeightFormat::kF32));
  GPT2_ASSIGN(const std::vector<Finding> findings,
              CompareWithFacts(*runner, PublishedFacts(), text));
  std::size_t counts[std::size(kVerdictNames)] = {};
  Json lines = Json::array();
  for (const Finding& finding : findings) {
    ++counts[static_cast<std::size_t>(finding.verdict)];
    lines.push_back(ToJson(finding));
    if (json) continue;
    std::printf("%-14s %s\n%14s expected %s\n%14s found    %s\n%14s %s\n",
                std::string(kVerdictNames[static_cast<std::size_t>(finding.verdict)]).c_str(),
                Visible(finding.fact).c_str(), "", finding.expected.c_str(), "",
                Visible(finding.found).c_str(), "", finding.source.c_str());
  }
  const auto [passed, failed, not_applicable] = counts;
  if (json) {
    const Json result = {{"model", folder},
                         {"weights", WeightFormatName(runner->model.weights->format())},
                         {"passed", passed},
                         {"failed", failed},
                         {"not_applicable", not_applicable},
                         {"facts", lines}};
    PrintJson(result);
  } else {
    std::printf("%zu passed, %zu failed, %zu not applicable\n", passed, failed, not_applicable);
  }
  if (failed == 0) return Done{};
  GPT2_TRY(FlushStandardOutput());
  return Error{ErrorCode::kCorrupt,
               folder + " differs from the published results: " + std::to_string(failed) + " of " +
                   std::to_string(findings.size() - not_applicable) + " facts failed"};
}

}  // namespace gpt2::tools
