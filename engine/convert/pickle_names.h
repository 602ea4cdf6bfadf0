// The names and opcodes that a pickle may use, and those that are refused: private tables of
// pickle.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpt2 {

// The names that a state dict needs.
enum class PickleName {
  kOrderedDict,
  kRebuildTensor,
  kRebuildTensorV2,
  kRebuildParameter,
  kSize,
  kStorage,  // torch.FloatStorage and similar
};

// The meaning of `module`.`name`; nothing for any other name.
std::optional<PickleName> KnownPickleName(std::string_view module, std::string_view name);

// The name of an opcode that a state dict does not need; "" for others.
std::string_view RefusedOpcode(unsigned char code);

}  // namespace gpt2
