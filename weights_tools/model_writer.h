// Writes a model folder for a web host (FORMAT.md).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/model/weights.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {

struct WriteRequest {
  const Weights* weights;             // matrices in MatrixFormat(format, spec)
  const std::set<std::string>* only;  // names (TensorSpec) of the tensors to write; null: all
  StoredWeights format;
  Json config;                           // config.json, to which quantization_config is added
  std::vector<std::string> other_heads;  // of the original; they are left out
  const VocabularyFiles* vocabulary;     // null: none
  const std::string* generation_config = nullptr;  // null: none
  std::vector<fs::path> inputs;  // the files and folders that were read; they are never replaced
  bool force;                    // replace an existing model folder
};

struct WriteReport {
  std::uint64_t bytes = 0;  // of the weights
  std::size_t pieces = 0;
  std::string sha256;
  std::vector<std::string> leftovers;  // folders beside it that could not be removed, and why
};

// Writes the folder `path` as FORMAT.md specifies; it must pass CheckDestination. At every moment
// it is either the old or the complete new one, even if the process is killed. The same input gives
// the same bytes.
Result<WriteReport> WriteModel(const fs::path& path, const WriteRequest& request);

}  // namespace gpt2::tools
