#include "engine/convert/torch_tensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/convert/pickle.h"
#include "engine/convert/pickle_names.h"
#include "engine/convert/source_tensor.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

using Kind = PickleValue::Kind;

constexpr std::array<TorchType, 10> kTorchTypes = {{{"FloatStorage", "F32", 4},
                                                    {"HalfStorage", "F16", 2},
                                                    {"BFloat16Storage", "BF16", 2},
                                                    {"DoubleStorage", "F64", 8},
                                                    {"LongStorage", "I64", 8},
                                                    {"IntStorage", "I32", 4},
                                                    {"ShortStorage", "I16", 2},
                                                    {"CharStorage", "I8", 1},
                                                    {"ByteStorage", "U8", 1},
                                                    {"BoolStorage", "BOOL", 1}}};

constexpr std::size_t kMostTorchDimensions = 8;  // the limit in safetensors.cc
// No file of a GPT-2 holds more values. So many fit the sizes and offsets of all formats.
constexpr std::uint64_t kMostTorchValues = std::uint64_t{1} << 40;

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "None";
    case Kind::kFlag:
      return "a boolean";
    case Kind::kWhole:
    case Kind::kLong:
    case Kind::kFloat:
      return "a number";
    case Kind::kText:
      return "a text";
    case Kind::kTuple:
    case Kind::kList:
      return "a list";
    case Kind::kDict:
      return "a dict";
    default:
      return "an object";
  }
}

// Reads the state dict's tensors one by one.
class StateDictReader {
 public:
  StateDictReader(const Pickle& pickle, TorchTensors& found) : pickle_(pickle), found_(found) {}

  // Reads `value`, the entry `name` of a dict.
  Status Take(std::string_view name, const PickleValue& value) {
    name_ = name;
    if (!names_.insert(name).second) return Bad("occurs twice");
    const PickleValue* call = &value;
    if (call->kind == Kind::kCall && call->name == PickleName::kRebuildParameter) {
      const PickleValue& arguments = pickle_.Item(*call, 0);
      if (arguments.items.empty()) return Bad("is a parameter without a tensor");
      call = &pickle_.Item(arguments, 0);
    }
    if (call->kind != Kind::kCall || call->name == PickleName::kRebuildParameter) {
      return Error{ErrorCode::kUnsupported,
                   Concat("its entry ", Quoted(name), " is ", KindName(call->kind),
                          ", expected a state dict: only tensors, by their names")};
    }
    return TakeTensor(pickle_.Item(*call, 0));
  }

 private:
  Error Bad(std::string_view what) const {
    return Error{ErrorCode::kCorrupt, Concat("tensor ", Quoted(name_), " ", what)};
  }

  // The arguments of torch._utils._rebuild_tensor_v2: storage, offset, shape, strides, and two that
  // are not used here. A seventh has the bits of a view whose values differ from the storage's.
  Status TakeTensor(const PickleValue& arguments) {
    if (arguments.items.size() < 4) return Bad("has no storage, offset, shape and strides");
    const PickleValue none;
    const PickleValue& bits = arguments.items.size() > 6 ? pickle_.Item(arguments, 6) : none;
    for (std::size_t i = 0; i + 1 < bits.items.size(); i += 2) {
      if (pickle_.Item(bits, i + 1).number == 0) continue;
      return Error{ErrorCode::kUnsupported,
                   Concat("tensor ", Quoted(name_), " has the bit ",
                          Quoted(pickle_.Item(bits, i).text), ": save it after resolve_neg()")};
    }
    TorchTensor tensor;
    tensor.name = name_;
    GPT2_TRY(TakeStorage(pickle_.Item(arguments, 0), tensor.storage));
    const PickleValue& offset = pickle_.Item(arguments, 1);
    GPT2_TRY(TakeSizes(pickle_.Item(arguments, 2), tensor.shape));
    GPT2_TRY(TakeSizes(pickle_.Item(arguments, 3), tensor.strides));
    if (offset.kind != Kind::kWhole || offset.number < 0 ||
        tensor.shape.size() != tensor.strides.size()) {
      return Bad("has an offset, a shape and strides that do not match");
    }
    tensor.begin = tensor.end = static_cast<std::uint64_t>(offset.number);
    GPT2_TRY(Measure(tensor));
    found_.tensors.push_back(std::move(tensor));
    return Done{};
  }

  Status TakeSizes(const PickleValue& tuple, std::vector<std::uint64_t>& sizes) const {
    if (tuple.kind != Kind::kTuple || tuple.items.size() > kMostTorchDimensions) {
      return Bad(Concat("has a shape or strides that are not a tuple of at most ",
                        kMostTorchDimensions, " numbers"));
    }
    for (std::size_t i = 0; i < tuple.items.size(); ++i) {
      const PickleValue& size = pickle_.Item(tuple, i);
      if (size.kind != Kind::kWhole || size.number < 0) {
        return Bad("has a size or a stride that is not a whole number of at least 0");
      }
      sizes.push_back(static_cast<std::uint64_t>(size.number));
    }
    return Done{};
  }

  // The tuple of a persistent id: "storage", its class, its key, a device, and the number of
  // values.
  Status TakeStorage(const PickleValue& pointer, std::size_t& index) {
    const PickleValue none;
    const PickleValue& id = pointer.kind == Kind::kPointer ? pickle_.Item(pointer, 0) : none;
    if (id.kind != Kind::kTuple || id.items.size() < 5 || pickle_.Item(id, 0).text != "storage") {
      return Bad("has no storage");
    }
    const PickleValue& type = pickle_.Item(id, 1);
    const PickleValue& key = pickle_.Item(id, 2);
    const PickleValue& values = pickle_.Item(id, 4);
    const bool is_view = id.items.size() > 5 && pickle_.Item(id, 5).kind != Kind::kNone;
    if (type.kind != Kind::kName || type.name != PickleName::kStorage || key.kind != Kind::kText ||
        values.kind != Kind::kWhole || values.number < 0 ||
        static_cast<std::uint64_t>(values.number) > kMostTorchValues || is_view) {
      return Bad("has a storage that torch.save does not write");
    }
    if (key.text.size() > kMostNameBytes) {
      return Bad(Concat("has a storage whose key has ", key.text.size(),
                        " bytes, expected at most ", kMostNameBytes));
    }
    TorchStorage storage{.key = std::string(key.text),
                         .type = nullptr,
                         .values = static_cast<std::uint64_t>(values.number)};
    for (const TorchType& known : kTorchTypes) {
      if (known.storage == type.text) storage.type = &known;
    }
    if (storage.type == nullptr) {
      return Error{ErrorCode::kUnsupported,
                   Concat("tensor ", Quoted(name_), " has the type torch.", type.text,
                          ", expected FloatStorage, HalfStorage or BFloat16Storage")};
    }
    const auto [entry, is_new] = by_key_.emplace(key.text, found_.storages.size());
    index = entry->second;
    if (is_new) {
      found_.storages.push_back(std::move(storage));
    } else if (found_.storages[index].type != storage.type ||
               found_.storages[index].values != storage.values) {
      return Bad(Concat("has storage ", Quoted(key.text),
                        " with another type or size than an earlier tensor"));
    }
    return Done{};
  }

  // Finds the end and number of its values, which the storage must contain.
  Status Measure(TorchTensor& tensor) const {
    const std::uint64_t most = found_.storages[tensor.storage].values;
    std::uint64_t last = tensor.begin;
    std::uint64_t values = 1;
    bool is_inside = true;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      const std::uint64_t size = tensor.shape[i], stride = tensor.strides[i];
      if (size == 0) {
        tensor.end = tensor.begin;
        tensor.values = 0;
        return Done{};
      }
      // `most` is at most 2^40, so nothing overflows while this holds.
      is_inside = is_inside && values <= most / size &&
                  (size == 1 || stride <= most / (size - 1)) && last <= most;
      if (!is_inside) continue;  // a later size may be 0
      values *= size;
      last += (size - 1) * stride;
    }
    if (!is_inside || last >= most) {
      return Bad(Concat("has more values than its storage, which has ", most));
    }
    tensor.end = last + 1;
    tensor.values = values;
    return Done{};
  }

  const Pickle& pickle_;
  TorchTensors& found_;
  std::set<std::string_view> names_;
  std::map<std::string_view, std::size_t> by_key_;
  std::string_view name_;  // of the current tensor
};

}  // namespace

bool TorchTensor::IsContiguous() const {
  std::uint64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    if (shape[i] != 1 && strides[i] != stride) return false;
  }
  return true;
}

bool TorchTensor::IsSameViewAs(const TorchTensor& other) const {
  return storage == other.storage && begin == other.begin && shape == other.shape &&
         strides == other.strides;
}

std::vector<std::size_t> SortedIndices(
    std::size_t count, FunctionRef<bool(std::size_t first, std::size_t second)> is_before) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::make_heap(order.begin(), order.end(), is_before);
  std::sort_heap(order.begin(), order.end(), is_before);
  return order;
}

Result<TorchTensors> ReadStateDict(const Pickle& pickle) {
  const PickleValue& top = pickle.Top();
  if (top.kind != Kind::kDict) {
    return Error{ErrorCode::kUnsupported, Concat("it holds ", KindName(top.kind),
                                                 ", expected a state dict: tensors by name")};
  }
  if (const std::size_t entries = top.items.size() / 2; entries > kMostTensors) {
    return Error{ErrorCode::kUnsupported,
                 Concat("it holds ", entries, " tensors, expected at most ", kMostTensors)};
  }
  TorchTensors found;
  StateDictReader reader(pickle, found);
  for (std::size_t i = 0; i + 1 < top.items.size(); i += 2) {
    const PickleValue& name = pickle.Item(top, i);
    if (name.kind != Kind::kText) {
      return Error{ErrorCode::kUnsupported,
                   Concat("the name of a tensor is ", KindName(name.kind), ", expected text")};
    }
    if (name.text.size() > kMostNameBytes) {
      return Error{ErrorCode::kUnsupported, Concat("the name of a tensor has ", name.text.size(),
                                                   " bytes, expected at most ", kMostNameBytes)};
    }
    GPT2_TRY(reader.Take(name.text, pickle.Item(top, i + 1)));
  }
  return found;
}

}  // namespace gpt2
