#include "engine/convert/pickle_names.h"

#include <array>
#include <optional>
#include <string_view>

namespace gpt2 {
namespace {

struct Known {
  std::string_view module;
  std::string_view name;
  PickleName meaning;
};
constexpr std::array<Known, 5> kKnown = {{
    {"collections", "OrderedDict", PickleName::kOrderedDict},
    {"torch._utils", "_rebuild_tensor", PickleName::kRebuildTensor},
    {"torch._utils", "_rebuild_tensor_v2", PickleName::kRebuildTensorV2},
    {"torch._utils", "_rebuild_parameter", PickleName::kRebuildParameter},
    {"torch", "Size", PickleName::kSize},
}};

// Opcodes that create objects of classes, and those that no pickler has written since protocol 2.
struct Refused {
  unsigned char code;
  std::string_view name;
};
constexpr std::array<Refused, 24> kRefused = {{
    {'i', "INST"},       {'o', "OBJ"},         {0x81, "NEWOBJ"},      {0x92, "NEWOBJ_EX"},
    {0x82, "EXT1"},      {0x83, "EXT2"},       {0x84, "EXT4"},        {'P', "PERSID"},
    {'I', "INT"},        {'L', "LONG"},        {'F', "FLOAT"},        {'S', "STRING"},
    {'V', "UNICODE"},    {'g', "GET"},         {'p', "PUT"},          {'l', "LIST"},
    {'d', "DICT"},       {0x8b, "LONG4"},      {0x8f, "EMPTY_SET"},   {0x90, "ADDITEMS"},
    {0x91, "FROZENSET"}, {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
}};

}  // namespace

std::optional<PickleName> KnownPickleName(std::string_view module, std::string_view name) {
  for (const Known& known : kKnown) {
    if (known.module == module && known.name == name) return known.meaning;
  }
  // torch_tensors.cc lists those that hold tensors.
  if (module == "torch" && name.ends_with("Storage")) return PickleName::kStorage;
  return std::nullopt;
}

std::string_view RefusedOpcode(unsigned char code) {
  for (const Refused& refused : kRefused) {
    if (refused.code == code) return refused.name;
  }
  return {};
}

}  // namespace gpt2
