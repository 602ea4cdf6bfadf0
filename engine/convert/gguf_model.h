// What a GGUF file of the architecture gpt2 says, in the words of a hub's folder.
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

// What llama.cpp calls the tensor that a checkpoint calls `name` (TensorSpec).
std::string GgufName(std::string name);

// The text of a config.json for the file. Fails where it is not a GPT-2, or of several files.
Result<std::string> GgufConfig(const GgufHeader& header);

// The texts of a tokenizer's files, "" each where a GGUF file has no tokenizer.
struct GgufVocabulary {
  std::string vocab;             // vocab.json
  std::string merges;            // merges.txt
  std::string tokenizer_config;  // tokenizer_config.json; "" where it would say nothing
};

// Fails, naming the field, where the file asks for another tokenizer than GPT-2's.
Result<GgufVocabulary> ReadGgufVocabulary(const GgufHeader& header);

// Appends the tensors in the order in which they come, with what is between them. Fails, naming the
// tensor, where one is unknown, missing, twice there, not what the config says, or elsewhere than
// it must be. Borrows from `specs`, those of the config's model.
Status ReadGgufTensors(const GgufHeader& header, std::span<const TensorSpec> specs,
                       std::vector<SourceTensor>& tensors);

// What tensors begin at multiples of, in bytes.
std::uint64_t GgufAlignment(const GgufHeader& header);

}  // namespace gpt2
