// Model folders on disk: from the Hub, or written by `gpt2-weights convert` (FORMAT.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/options.h"
#include "engine/text/tokenizer.h"
#include "weights_tools/adapters.h"
#include "weights_tools/files.h"

namespace gpt2::tools {

inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kVocabFile = "vocab.json";
inline constexpr const char* kBertVocabFile = "vocab.txt";
inline constexpr const char* kMergesFile = "merges.txt";
inline constexpr const char* kTokenizerFile = "tokenizer.json";
inline constexpr const char* kTokenizerConfigFile = "tokenizer_config.json";
inline constexpr const char* kSpecialTokensFile = "special_tokens_map.json";
inline constexpr const char* kAddedTokensFile = "added_tokens.json";
inline constexpr const char* kGenerationConfigFile = "generation_config.json";
inline constexpr const char* kWeightsIndexFile = "weights.json";
inline constexpr const char* kWeightsFile = "model.safetensors";
// Keeps Git from changing line endings, which would change hashes.
inline constexpr const char* kGitAttributesFile = ".gitattributes";

// "model.safetensors.000", "model.safetensors.001", ...
std::string PieceName(std::size_t index);
// The size of each piece of a file of `total` bytes, except for the last. A page holds three pieces
// while it loads, and some hosts refuse files over 25 MB. There are at most 1000 pieces, whose
// numbers have three digits.
std::uint64_t PieceBytes(std::uint64_t total);
bool IsPieceName(const std::string& name);

// Whether a model folder has a file of this name: one of those above, or a piece.
bool IsModelFile(const std::string& name);

struct Piece {
  std::string path;  // within the folder
  std::uint64_t size = 0;
  std::string sha256;
};

// The version of weights.json that also lists the other files; one without `version` does not.
inline constexpr int kIndexVersion = 2;

// The contents of weights.json.
struct WeightsIndex {
  std::string file;
  std::uint64_t size = 0;
  std::string sha256;
  std::vector<Piece> pieces;
  std::vector<Piece> files;  // config.json and the other files; none before version 2
};
Result<WeightsIndex> ReadWeightsIndex(const std::string& text);

// The tokenizer's files, unchanged; "" if there is none.
struct VocabularyFiles {
  std::string tokenizer_json;  // if it exists, the others are not read
  std::string vocab_json;
  std::string merges_txt;
  std::string tokenizer_config;
  std::string special_tokens_map;
  std::string added_tokens;
  std::string vocab_txt;
  std::string sentence_piece;
  const char* sentence_piece_name = kSentencePieceFiles[0];

  TokenizerFiles views() const {
    return {tokenizer_json, vocab_json, merges_txt,     tokenizer_config,   special_tokens_map,
            added_tokens,   vocab_txt,  sentence_piece, sentence_piece_name};
  }
  // Calls `take` with the name and the text of each existing file until it fails.
  Status ForEach(FunctionRef<Status(const char* name, const std::string& text)> take) const;
};

struct LoadedModel {
  ModelConfig config;
  Json config_json;  // all of config.json
  std::unique_ptr<Weights> weights;
  std::optional<VocabularyFiles> vocabulary;
  std::optional<Tokenizer> tokenizer;            // of `vocabulary`
  std::optional<std::string> generation_config;  // generation_config.json, unchanged
  std::vector<std::string> warnings;             // ignored settings of that file and of the model
  GenerateOptions defaults;                      // those of that file, else our own
  SafetensorsHeader header;
  std::uint64_t file_bytes = 0;  // of the weights
};

// The names (TensorSpec) of the tensors in the checkpoint. A bias that it lacks is zero in memory.
std::set<std::string> PresentTensors(const LoadedModel& model);

// Loads the folder or GGUF file at `path`, and checks every size and SHA-256 that weights.json
// states. Matrices of floats become `float_format`; kQ4 is not calibrated then, as on the page. In
// a folder that `convert` wrote, they become `converted_format` if it is given; it may not be kQ4.
// Quantized matrices stay unchanged. Adapters are merged first; the model may not be converted.
Result<LoadedModel> LoadModel(const fs::path& path, WeightFormat float_format,
                              std::optional<WeightFormat> converted_format = std::nullopt,
                              const std::vector<AdapterFolder>& adapters = {});

// Only the tokenizer; an error if the folder has none.
Result<Tokenizer> LoadTokenizer(const fs::path& path);

}  // namespace gpt2::tools
