#include "weights_tools/adapters.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "weights_tools/files.h"
#include "weights_tools/number_arguments.h"

namespace gpt2::tools {
namespace {

constexpr const char* kAdapterConfigFile = "adapter_config.json";
constexpr const char* kAdapterFile = "adapter_model.safetensors";
constexpr NumberRange kWeights = {.is_whole = false, .least = -1e6, .most = 1e6};

}  // namespace

Result<AdapterFolder> ParseAdapter(std::string_view text) {
  AdapterFolder folder = {.path = std::string(text)};
  const std::size_t at = text.rfind('=');
  const bool may_have_weight =
      at != std::string_view::npos &&
      text.substr(at + 1).find_first_not_of("0123456789.+-eE") == std::string_view::npos;
  if (may_have_weight) {
    GPT2_ASSIGN(folder.weight,
                ParseNumber("the weight of --adapter", text.substr(at + 1), kWeights));
    folder.path.resize(at);
  }
  if (!folder.path.empty()) return folder;
  return Error{ErrorCode::kInvalidArgument, "--adapter is empty, expected PATH or PATH=WEIGHT"};
}

Result<std::vector<Adapter>> ReadAdapters(const std::vector<AdapterFolder>& folders) {
  std::vector<Adapter> adapters;
  for (const auto& [path, weight] : folders) {
    GPT2_ASSIGN(const Folder folder, Folder::Open(path));
    GPT2_ASSIGN(const std::string config, folder.Read(kAdapterConfigFile));
    GPT2_ASSIGN(const std::string file, folder.Read(kAdapterFile));
    auto adapter = Adapter::Read(config, std::as_bytes(std::span(file)), weight);
    if (!adapter.ok()) return Error{adapter.error().code, path + "/" + adapter.error().message};
    adapters.push_back(std::move(adapter.value()));
  }
  return adapters;
}

}  // namespace gpt2::tools
