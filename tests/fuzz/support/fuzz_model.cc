#include "tests/fuzz/support/fuzz_model.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/base/random.h"
#include "engine/format/config_json.h"
#include "engine/text/byte_alphabet.h"

namespace gpt2::fuzz {
namespace {

// Small weights, so that float16 holds them and no sum overflows.
float NextWeight(Random& random) {
  return static_cast<float>((random.NextUnit() - 0.5) * 0.5);
}

void AppendValue(DType dtype, float value, std::string& bytes) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (dtype == DType::kF32) {
    bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    return;
  }
  // Builds an F16 of the sign, an exponent of 2^-2 or below, and the upper bits of the mantissa.
  const auto exponent = static_cast<int>((bits >> 23) & 0xff) - 112;
  const std::uint32_t half = (bits >> 16 & 0x8000) |
                             (exponent > 0 ? static_cast<std::uint32_t>(exponent) << 10 : 0) |
                             (bits >> 13 & 0x3ff);
  const auto stored = static_cast<std::uint16_t>(dtype == DType::kF16 ? half : bits >> 16);
  bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
}

std::uint64_t Product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) count *= size;
  return count;
}

}  // namespace

Config SmallConfig(FuzzedDataProvider& input) {
  constexpr std::size_t kMostInner = 40;
  Config c;
  c.n_embd = input.PickValueInArray<std::size_t>({1, 4, 6, 31, 32, 33, 40});
  c.n_head = c.n_embd % 2 == 0 && input.ConsumeBool() ? 2 : 1;
  c.n_layer = input.ConsumeIntegralInRange<int>(0, 15) == 15 ? 2 : 1;
  c.n_inner = input.ConsumeBool() ? std::min<std::size_t>(4 * c.n_embd, kMostInner)
                                  : input.ConsumeIntegralInRange<std::size_t>(1, kMostInner);
  c.n_positions = input.ConsumeIntegralInRange<std::size_t>(1, 9);
  c.vocab_size = input.ConsumeIntegralInRange<std::size_t>(1, 12);
  c.activation =
      input.PickValueInArray({Activation::kGeluTanh, Activation::kGeluErf, Activation::kRelu,
                              Activation::kSilu, Activation::kQuickGelu});
  c.scale_attn_weights = input.ConsumeIntegralInRange<int>(0, 7) != 7;
  c.is_bigcode = input.ConsumeIntegralInRange<int>(0, 3) == 3;
  c.multi_query = c.is_bigcode && input.ConsumeBool();
  c.scale_attn_by_inverse_layer_idx = !c.is_bigcode && input.ConsumeIntegralInRange<int>(0, 7) == 7;
  c.tie_word_embeddings = input.ConsumeBool();
  if (input.ConsumeBool()) c.eos_token_id = static_cast<std::int32_t>(c.vocab_size - 1);
  return c;
}

Json ConfigJson(const Config& c) {
  Json json = {{"model_type", c.is_bigcode ? kBigCodeType : "gpt2"},
               {"n_embd", c.n_embd},
               {"n_head", c.n_head},
               {"n_layer", c.n_layer},
               {"n_inner", c.n_inner},
               {"n_positions", c.n_positions},
               {"vocab_size", c.vocab_size},
               {"activation_function", ActivationName(c.activation)},
               {"scale_attn_weights", c.scale_attn_weights},
               {"tie_word_embeddings", c.tie_word_embeddings}};
  if (c.is_bigcode) {
    json["multi_query"] = c.multi_query;
  } else {
    json["scale_attn_by_inverse_layer_idx"] = c.scale_attn_by_inverse_layer_idx;
  }
  if (c.eos_token_id) json["eos_token_id"] = *c.eos_token_id;
  return json;
}

std::vector<FileTensor> HubTensors(const Config& config, DType dtype, std::uint64_t seed) {
  Random random(seed);
  std::vector<FileTensor> tensors;
  for (const TensorSpec& spec : TensorSpecs(config)) {
    FileTensor tensor{spec.name, std::string(DTypeName(dtype)), {spec.rows, spec.cols}, {}};
    if (spec.is_conv1d()) tensor.shape = {spec.cols, spec.rows};
    if (spec.is_vector()) tensor.shape = {spec.cols};
    for (std::uint64_t i = Product(tensor.shape); i > 0; --i) {
      AppendValue(dtype, NextWeight(random), tensor.bytes);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Json HeaderJson(const std::vector<FileTensor>& tensors) {
  Json header = Json::object();
  std::size_t begin = 0;
  for (const FileTensor& tensor : tensors) {
    const std::size_t end = begin + tensor.bytes.size();
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  return header;
}

std::string SafetensorsFile(const std::string& header, const std::vector<FileTensor>& tensors) {
  std::string file;
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    file.push_back(static_cast<char>(std::uint64_t{header.size()} >> (8 * i)));
  }
  file += header;
  for (const FileTensor& tensor : tensors) file += tensor.bytes;
  return file;
}

VocabularyFiles SmallVocabulary(std::size_t size) {
  static constexpr std::string_view kTokens[] = {"a",  "b",  " ",        "\xc3", "\xa9", "\n",
                                                 "ab", " a", "\xc3\xa9", "abab", "bb",   "ba"};
  static constexpr std::pair<std::string_view, std::string_view> kMerges[] = {
      {"a", "b"}, {" ", "a"}, {"\xc3", "\xa9"}, {"ab", "ab"}, {"b", "b"}, {"b", "a"}};
  Json vocab = Json::object();
  VocabularyFiles files;
  for (std::size_t id = 0; id + 1 < size && id < std::size(kTokens); ++id) {
    vocab[AlphabetFromBytes(kTokens[id])] = id;
  }
  vocab[std::string(kEndOfText)] = size - 1;
  for (const auto& [left, right] : kMerges) {
    const std::string spelled = AlphabetFromBytes(left), other = AlphabetFromBytes(right);
    if (!vocab.contains(spelled + other)) break;
    files.merges += spelled + " " + other + "\n";
  }
  files.vocab = vocab.dump();
  return files;
}

}  // namespace gpt2::fuzz
