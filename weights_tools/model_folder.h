// Model folders on disk: from the hub, or as `gpt2-weights convert` writes them (FORMAT.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/weight_reader.h"
#include "engine/text/tokenizer.h"

namespace gpt2::tools {

namespace fs = std::filesystem;

inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kVocabFile = "vocab.json";
inline constexpr const char* kMergesFile = "merges.txt";
inline constexpr const char* kWeightsIndexFile = "weights.json";
inline constexpr const char* kWeightsFile = "model.safetensors";

// The whole of a file, or an error that names it.
Result<std::string> ReadFile(const fs::path& path);

struct Piece {
  std::string path;  // within the folder
  std::uint64_t size = 0;
  std::string sha256;
};

// What weights.json says.
struct WeightsIndex {
  std::string file;
  std::uint64_t size = 0;
  std::string sha256;
  std::vector<Piece> pieces;
};
Result<WeightsIndex> ReadWeightsIndex(const std::string& text);

struct LoadedModel {
  ModelConfig config;
  std::unique_ptr<Weights> weights;
  std::optional<Tokenizer> tokenizer;  // none where the folder has no vocabulary files
  SafetensorsHeader header;
  std::uint64_t file_bytes = 0;  // of the weights
};

// The slots that the checkpoint has; a bias that it lacks is zero in memory.
std::set<std::string> PresentSlots(const LoadedModel& model);

// Loads `folder`, checking every size and SHA-256 that it states. Floating-point matrices become
Result<LoadedModel> LoadModel(const fs::path& folder, WeightFormat float_format);

// Only the vocabulary; an error where there is none.
Result<Tokenizer> LoadTokenizer(const fs::path& folder);

}  // namespace gpt2::tools
