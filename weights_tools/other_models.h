// Reads published models in the form into which engine/convert converts them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/converter.h"
#include "engine/format/config_json.h"
#include "weights_tools/files.h"

namespace gpt2::tools {

// Whether `path` has the name of a GGUF file.
bool IsGgufName(const fs::path& path);

// Calls begin(texts) once, then take(bytes) for the whole model.safetensors into which the GGUF
// file is converted as `weights`, with `adapters` merged. Returns the bytes of the files that it
// has read.
using TakeTexts = FunctionRef<Status(const ConvertedFolder& texts)>;
Result<std::uint64_t> StreamGguf(const fs::path& path, StoredWeights weights,
                                 std::vector<Adapter> adapters, TakeTexts begin, TakeBytes take);

// The same for a Hub folder with model.safetensors or, without it, the other weight files.
Result<std::uint64_t> StreamHub(const Folder& folder, std::string_view config_json,
                                StoredWeights weights, std::vector<Adapter> adapters,
                                TakeTexts begin, TakeBytes take);

}  // namespace gpt2::tools
