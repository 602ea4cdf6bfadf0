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

// Appends the texts of vocab.json and merges.txt, nothing where the file has no tokenizer. Fails
// where it has another tokenizer than GPT-2's.
Status ReadGgufVocabulary(const GgufHeader& header, std::string& vocab, std::string& merges);

// Appends the tensors in the order in which they come, with what is between them. Fails, naming the
// tensor, where one is unknown, missing, twice there, not what the config says, or elsewhere than
// it must be. Borrows from `specs`, those of the config's model.
Status ReadGgufTensors(const GgufHeader& header, std::span<const TensorSpec> specs,
                       std::vector<SourceTensor>& tensors);

// What tensors begin at multiples of, in bytes.
std::uint64_t GgufAlignment(const GgufHeader& header);

}  // namespace gpt2
