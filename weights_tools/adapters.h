// LoRA adapters on disk, as `--adapter` names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/adapter.h"

namespace gpt2::tools {

// A folder with adapter_config.json and adapter_model.safetensors.
struct AdapterFolder {
  std::string path;
  double weight = 1;  // multiplies what it adds
};

// "PATH" or "PATH=WEIGHT". What follows the last "=" and is no number belongs to the path.
Result<AdapterFolder> ParseAdapter(std::string_view text);

// In their order. An error names the folder.
Result<std::vector<Adapter>> ReadAdapters(const std::vector<AdapterFolder>& folders);

}  // namespace gpt2::tools
