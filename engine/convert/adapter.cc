#include "engine/convert/adapter.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/adapter_config.h"
#include "engine/convert/block_types.h"
#include "engine/convert/source_tensor.h"
#include "engine/format/safetensors.h"
#include "engine/format/weight_plan.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

Error BadFile(ErrorCode code, const std::string& what) {
  return Error{code, Concat("adapter_model.safetensors: ", what)};
}

Error BadTensor(ErrorCode code, const TensorInfo& tensor, const std::string& what) {
  return BadFile(code, Concat("tensor ", Quoted(tensor.name), what));
}

// An error of a reader that names the file as a model's.
Error InAdapter(Error error) {
  const std::size_t at = error.message.find("model.safetensors");
  if (at != std::string::npos) error.message.insert(at, "adapter_");
  return error;
}

// The parts of a PEFT tensor name: "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight".
struct TensorName {
  std::string parameter;  // as in TensorSpec; a module if `factor` is set
  char factor = '\0';     // 'A' or 'B'
  bool is_unused = false;
};

// Parts of a name that PEFT's wrappers add to the module's own name. "default" is the usual name of
// an adapter.
bool IsWrapper(std::string_view part) {
  return part == "base_layer" || part == "modules_to_save" || part == "default";
}

Result<TensorName> ReadName(const TensorInfo& tensor) {
  constexpr std::string_view kPrefix = "base_model.model.";
  TensorName found;
  std::string_view rest = tensor.name;
  if (rest.starts_with(kPrefix)) rest.remove_prefix(kPrefix.size());
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(part.size() < rest.size() ? part.size() + 1 : rest.size());
    if (IsWrapper(part)) continue;
    found.is_unused |= part == "original_module";  // the base's tensor beside a saved one
    const bool is_factor = part == "lora_A" || part == "lora_B";
    const bool is_end = part == "weight" && rest.empty();
    if (found.factor != '\0' ? !is_end : part.starts_with("lora_") && !is_factor) {
      return BadTensor(ErrorCode::kUnsupported, tensor,
                       ": expected lora_A.weight or lora_B.weight; DoRA, lora_bias and LoRA of "
                       "embeddings, which have other tensors, are not supported");
    }
    if (is_factor) {
      found.factor = part.back();
    } else if (found.factor == '\0') {
      if (!found.parameter.empty()) found.parameter += '.';
      found.parameter += part;
    }
  }
  found.parameter = CanonicalName(found.parameter);
  // The causal masks, which old releases with bias: "all" also save.
  found.is_unused |=
      found.parameter.ends_with(".attn.bias") || found.parameter.ends_with(".attn.masked_bias");
  return found;
}

// Reads the tensors of one file.
class TensorsReader {
 public:
  TensorsReader(std::span<const std::byte> data, Adapter& adapter)
      : data_(data), adapter_(adapter) {}

  Status Read(std::span<const TensorInfo> tensors) {
    for (const TensorInfo& tensor : tensors) GPT2_TRY(ReadTensor(tensor));
    for (const auto& [module, pair] : pairs_) GPT2_TRY(Join(module, pair));
    if (!adapter_.added.empty() || !adapter_.saved.empty()) return Done{};
    return BadFile(ErrorCode::kCorrupt, "it has no tensors");
  }

 private:
  struct Pair {
    const TensorInfo* a = nullptr;
    const TensorInfo* b = nullptr;
  };

  Status ReadTensor(const TensorInfo& tensor) {
    GPT2_ASSIGN(const TensorName name, ReadName(tensor));
    if (name.is_unused) return Done{};
    bool is_new = false;
    if (name.factor != '\0') {
      Pair& pair = pairs_[name.parameter];
      const TensorInfo*& factor = name.factor == 'A' ? pair.a : pair.b;
      is_new = std::exchange(factor, &tensor) == nullptr;
    } else {
      GPT2_ASSIGN(std::vector<float> values, ReadValues(tensor));
      SavedTensor saved{tensor.shape, std::move(values)};
      is_new = adapter_.saved.emplace(name.parameter, std::move(saved)).second;
    }
    if (is_new) return Done{};
    return BadTensor(ErrorCode::kCorrupt, tensor, " occurs twice, under two names");
  }

  Result<std::vector<float>> ReadValues(const TensorInfo& tensor) const {
    const std::size_t size = DTypeSize(tensor.dtype);
    if (size < 2) {
      return BadTensor(ErrorCode::kUnsupported, tensor,
                       Concat(" is ", tensor.Describe(), ", expected F32, F16 or BF16"));
    }
    const auto begin = static_cast<std::size_t>(tensor.begin);
    std::vector<float> values((static_cast<std::size_t>(tensor.end) - begin) / size);
    if (!WidenBlocks(FloatType(tensor.dtype), data_.data() + begin, values.size(), values.data())) {
      return BadTensor(ErrorCode::kCorrupt, tensor, " has a value that is not finite");
    }
    return values;
  }

  Status Join(const std::string& module, const Pair& pair) {
    if (pair.a == nullptr || pair.b == nullptr) {
      return BadTensor(ErrorCode::kNotFound, pair.a == nullptr ? *pair.b : *pair.a,
                       pair.a == nullptr ? " has no matching lora_A" : " has no matching lora_B");
    }
    const auto &a = pair.a->shape, &b = pair.b->shape;
    if (a.size() != 2 || b.size() != 2 || a[0] != b[1]) {
      return BadTensor(ErrorCode::kCorrupt, *pair.a,
                       Concat(" is ", pair.a->Describe(), " and its lora_B ", pair.b->Describe(),
                              ", expected [rank, in] and [out, rank]"));
    }
    LowRank joined{.rank = static_cast<std::size_t>(a[0]),
                   .in = static_cast<std::size_t>(a[1]),
                   .out = static_cast<std::size_t>(b[0])};
    const double scale = adapter_.weight * adapter_.config.ScaleOf(module);
    joined.scale = static_cast<float>(scale);
    if (!std::isfinite(joined.scale)) {
      return BadTensor(ErrorCode::kUnsupported, *pair.a, ": lora_alpha is too large");
    }
    GPT2_ASSIGN(joined.a, ReadValues(*pair.a));
    GPT2_ASSIGN(const std::vector<float> values, ReadValues(*pair.b));
    joined.b_transposed.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      joined.b_transposed[i % joined.rank * joined.out + i / joined.rank] = values[i];
    }
    adapter_.added.emplace(module, std::move(joined));
    return Done{};
  }

  std::span<const std::byte> data_;
  Adapter& adapter_;
  std::map<std::string, Pair> pairs_;  // by module
};

}  // namespace

const LowRank* Adapter::FindAdded(std::string_view module) const {
  const auto found = added.find(module);
  return found == added.end() ? nullptr : &found->second;
}

const SavedTensor* Adapter::FindSaved(std::string_view name) const {
  const auto found = saved.find(name);
  return found == saved.end() ? nullptr : &found->second;
}

Result<Adapter> Adapter::Read(std::string_view config, std::span<const std::byte> file,
                              double weight) {
  Adapter adapter;
  GPT2_ASSIGN(adapter.config, ReadAdapterConfig(config));
  adapter.weight = weight;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto length = ReadSafetensorsPrefix(text);
  if (!length.ok()) return InAdapter(length.error());
  const std::size_t head = kSafetensorsPrefix + length.value();
  std::uint64_t expected = head;
  if (text.size() >= head) {
    const auto header =
        ReadSafetensorsHeader(text.substr(kSafetensorsPrefix, length.value()), kMostTensors);
    if (!header.ok()) return InAdapter(header.error());
    const auto& tensors = header.value().tensors;
    if (!tensors.empty()) expected += tensors.back().end;
    if (text.size() == expected) {
      GPT2_TRY(TensorsReader(file.subspan(head), adapter).Read(tensors));
      return adapter;
    }
  }
  return BadFile(ErrorCode::kCorrupt, Concat("it is ", text.size(), " bytes, expected ", expected));
}

}  // namespace gpt2
