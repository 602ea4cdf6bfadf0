// Models as others publish them, in other files than one model.safetensors: read as the float32
// file that engine/convert makes of them.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/convert/converter.h"
#include "weights_tools/files.h"

namespace gpt2::tools {

inline constexpr const char* kShardIndexFile = "model.safetensors.index.json";

// Whether `path` is named as a GGUF file is.
bool IsGgufName(const fs::path& path);

// Calls begin(texts) once, then take(bytes) for all of model.safetensors. The config says that
// matrices are f32.
using TakeTexts = FunctionRef<Status(const ConvertedFolder& texts)>;
Status StreamGguf(const fs::path& path, TakeTexts begin, TakeBytes take);

// Calls take(bytes) for all of the model.safetensors that the files of a hub's folder with
// kShardIndexFile are together. Its matrices are f32, rows of outputs.
Status StreamShards(const Folder& folder, std::string_view config_json, TakeBytes take);

}  // namespace gpt2::tools
