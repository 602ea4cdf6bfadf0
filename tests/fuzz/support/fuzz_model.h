// Tiny models that fuzz targets make as they need them: config, tensors, safetensors file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/format/json.h"
#include "engine/format/safetensors.h"
#include "engine/model/weights.h"
#include "engine/text/tokenizer.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {

// A config of at most some thousand parameters, and of widths below and above a quantization group.
Config SmallConfig(FuzzedDataProvider& input);

// config.json of a hub folder.
Json ConfigJson(const Config& config);

// A tensor of a file that is yet to be written.
struct FileTensor {
  std::string name;
  std::string dtype;  // as safetensors spells it
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

// The tensors of a hub folder in F32, F16 or BF16. They have random finite values from `seed`,
// small enough for the forward pass to stay finite.
std::vector<FileTensor> HubTensors(const Config& config, DType dtype, std::uint64_t seed);

// The header of a file of `tensors`, in their order, without gaps.
Json HeaderJson(const std::vector<FileTensor>& tensors);

// The file: length, header, then the tensors' bytes.
std::string SafetensorsFile(const std::string& header, const std::vector<FileTensor>& tensors);

// vocab.json and merges.txt of `size` tokens: letters, halves of characters, some merges,
// end-of-text last.
struct VocabularyFiles {
  std::string vocab;
  std::string merges;
};
VocabularyFiles SmallVocabulary(std::size_t size);

}  // namespace gpt2::fuzz
