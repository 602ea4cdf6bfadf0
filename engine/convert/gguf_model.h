// Translates a GGUF file of the architecture gpt2 to the files of a Hub folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/gguf_reader.h"
#include "engine/convert/source_tensor.h"
#include "engine/model/weights.h"

namespace gpt2 {

// llama.cpp's name of the tensor that a checkpoint calls `name` (TensorSpec).
std::string GgufName(std::string name);

// The text of a config.json for the file. Fails if it is not a GPT-2, or one of several files.
Result<std::string> GgufConfig(const GgufHeader& header);

// The texts of a tokenizer's files; "" if a GGUF file has no tokenizer.
struct GgufVocabulary {
  std::string vocab;             // vocab.json
  std::string merges;            // merges.txt
  std::string tokenizer_config;  // tokenizer_config.json; "" if it would be empty
};

// Fails, naming the field, if the file specifies another tokenizer than GPT-2's.
Result<GgufVocabulary> ReadGgufVocabulary(const GgufHeader& header);

// Appends the tensors in the order of the file, with the gaps between them. Fails, naming the
// tensor, if one is unknown, missing, duplicate, misplaced or not what the config specifies.
// Borrows from `specs`, those of the config's model.
Status ReadGgufTensors(const GgufHeader& header, std::span<const TensorSpec> specs,
                       std::vector<SourceTensor>& tensors);

// The alignment of the tensors in bytes.
std::uint64_t GgufAlignment(const GgufHeader& header);

}  // namespace gpt2
