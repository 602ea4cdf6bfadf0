// Writes a model folder as a site hosts it (FORMAT.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/model/weights.h"

namespace gpt2::tools {

namespace fs = std::filesystem;

enum class FileFormat { kF32, kF16, kQ8, kQ4 };
inline constexpr std::string_view kFileFormatNames[] = {"f32", "f16", "q8", "q4"};  // by FileFormat

// What the matrix of `slot` must be in memory to be written as `format`. In q4 the embedding and
// the head stay kQ8: 4 bits there cost more quality than in all blocks together (FORMAT.md).
WeightFormat MemoryFormat(FileFormat format, const TensorSlot& slot);

struct WriteRequest {
  Weights* weights;                   // matrices in MemoryFormat(format, slot)
  const std::set<std::string>* only;  // tensors to write, by slot name; null: all
  FileFormat format;
  Json config;                    // config.json, to which quantization_config is added
  fs::path copy_vocabulary_from;  // a folder; empty: none
  bool force;                     // replace a folder that is there
};

struct WriteReport {
  std::uint64_t bytes = 0;  // of the weights
  std::size_t pieces = 0;
  std::string sha256;
};

// Writes `out`. Everything goes to "<out>.partial" first, which becomes `out` in one rename at the
// end, so that what was interrupted never looks complete. The same input gives the same bytes.
Result<WriteReport> WriteModel(const fs::path& path, const WriteRequest& request);

}  // namespace gpt2::tools
