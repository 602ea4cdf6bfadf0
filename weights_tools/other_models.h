// Models as others publish them, read as the file that engine/convert makes of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/converter.h"
#include "engine/format/config_json.h"
#include "weights_tools/files.h"

namespace gpt2::tools {

// Whether a hub's folder without model.safetensors has its weights in other files: in several, or
// in those of torch.save.
bool HasOtherWeights(const Folder& folder);

// Whether `path` is named as a GGUF file is.
bool IsGgufName(const fs::path& path);

// Calls begin(texts) once, then take(bytes) for all of the model.safetensors that the GGUF file
// becomes as `weights`, with `adapters` merged into it.
using TakeTexts = FunctionRef<Status(const ConvertedFolder& texts)>;
Status StreamGguf(const fs::path& path, StoredWeights weights, std::vector<Adapter> adapters,
                  TakeTexts begin, TakeBytes take);

// The same of a hub's folder with model.safetensors or, without it, the other files of weights.
Status StreamHub(const Folder& folder, std::string_view config_json, StoredWeights weights,
                 std::vector<Adapter> adapters, TakeTexts begin, TakeBytes take);

}  // namespace gpt2::tools
