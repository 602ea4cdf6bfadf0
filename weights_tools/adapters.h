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
  double weight = 1;  // factor for its contribution
};

// "PATH" or "PATH=WEIGHT". If the text after the last "=" is no number, it belongs to the path.
Result<AdapterFolder> ParseAdapter(std::string_view text);

// The adapters in `folders`, in the same order. An error names the folder.
Result<std::vector<Adapter>> ReadAdapters(const std::vector<AdapterFolder>& folders);

}  // namespace gpt2::tools
