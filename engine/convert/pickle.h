// Python's pickles (Lib/pickletools.py, protocols 2 to 5), read as data: nothing is imported,
// called or constructed. A pickle that requests more than a state dict of PyTorch needs is refused,
// and the error names the request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/pickle_names.h"

namespace gpt2 {

// Limits of one pickle. A GPT-2 of 1024 layers (kMostLayers in config_json.h) has 12,292 tensors,
// each with some 250 bytes and 18 values.
inline constexpr std::size_t kMostPickleBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMostPickleValues = std::size_t{1} << 19;

struct PickleValue {
  enum class Kind {
    kNone,
    kFlag,     // number: 0 or 1
    kWhole,    // number: a whole number
    kLong,     // text: a whole number of more than 8 bytes, little-endian
    kFloat,    // its value is not kept
    kText,     // text or bytes
    kTuple,    // items
    kList,     // items
    kDict,     // items: alternating keys and values
    kName,     // name; text: the class or function, "FloatStorage"
    kCall,     // of the function `name`; items: the tuple of its arguments
    kPointer,  // a persistent id; items: the id
  };
  using Index = std::uint32_t;  // into Pickle::values

  Kind kind = Kind::kNone;
  PickleName name{};
  std::int64_t number = 0;
  std::string_view text;  // borrowed from the pickle's bytes
  std::vector<Index> items;
};

// A pickle's values. They refer to each other by index, and may form a cycle.
struct Pickle {
  std::vector<PickleValue> values;
  PickleValue::Index top = 0;
  std::size_t size = 0;  // bytes of the pickle

  // Item `i` of `value`, which must have one.
  const PickleValue& Item(const PickleValue& value, std::size_t i) const {
    return values[value.items[i]];
  }
  const PickleValue& Top() const { return values[top]; }
};

// Reads the pickle at the start of `bytes`; more may follow it. Returns nothing if `bytes` end
// before it does. Borrows from them. Messages do not name the file.
Result<std::optional<Pickle>> ReadPickle(std::string_view bytes);

}  // namespace gpt2
