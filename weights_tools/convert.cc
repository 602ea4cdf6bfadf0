#include <cstdio>
#include <set>

#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {
Status Convert(const std::string& in, const std::string& out, FileFormat format, bool force,
               bool json) {
  GPT2_ASSIGN(LoadedModel model, LoadModel(in, MemoryFormat(format)));
  if (model.config.weights == "q8") {
    return Error{ErrorCode::kInvalidArgument,
                 in + " is q8 already; convert the model that it was made from"};
  }
  GPT2_ASSIGN(const std::string config_text, ReadFile(fs::path(in) / kConfigFile));
  GPT2_ASSIGN(const Json config, ParseJson(config_text, kConfigFile));
  const std::set<std::string> present = PresentSlots(model);
  GPT2_ASSIGN(const WriteReport report, WriteModel(out, {.weights = model.weights.get(),
                                                         .only = &present,
                                                         .format = format,
                                                         .config = config,
                                                         .copy_vocabulary_from = in,
                                                         .force = force}));
  const Json result = {{"out", out},
                       {"parameters", model.weights->parameter_count},
                       {"bytes_in", model.file_bytes},
                       {"bytes", report.bytes},
                       {"pieces", report.pieces},
                       {"sha256", report.sha256}};
  if (json) {
    std::printf("%s\n", result.dump().c_str());
    return Done{};
  }
  std::printf(
      "%s: %zu parameters, %llu -> %llu bytes (%.1f %%, %.2f bits per parameter) in %zu pieces\n"
      "sha256 %s\n",
      out.c_str(), model.weights->parameter_count,
      static_cast<unsigned long long>(model.file_bytes),
      static_cast<unsigned long long>(report.bytes),
      100.0 * static_cast<double>(report.bytes) / static_cast<double>(model.file_bytes),
      8.0 * static_cast<double>(report.bytes) / static_cast<double>(model.weights->parameter_count),
      report.pieces, report.sha256.c_str());
  return Done{};
}

}  // namespace gpt2::tools
