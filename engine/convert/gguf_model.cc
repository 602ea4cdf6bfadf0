#include "engine/convert/gguf_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/gguf_reader.h"
#include "engine/convert/source_tensor.h"
#include "engine/format/json_writer.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::string_view kFile = "the GGUF file: ";
// What llama.cpp calls rules that are GPT-2's own, by one regular expression
// (llama_vocab::impl::load and llm_tokenizer_bpe in src/llama-vocab.cpp). "default" and none at all
// are what old converters wrote, who knew no others.
constexpr std::string_view kGpt2Rules[] = {
    "",        "default",    "gpt-2",      "phi-2",          "olmo",    "mpt",
    "jais",    "trillion",   "gigachat",   "jina-es",        "jina-de", "mellum",
    "a.x-4.0", "jina-v2-es", "jina-v2-de", "granite-docling"};
constexpr std::size_t kSkippedBytes = 1 << 16;  // of what is between tensors, at a time

// As whole numbers are written, where it is one.
void WriteNumber(JsonWriter& json, std::string_view key, double number) {
  json.Key(key);
  if (std::fabs(number) <= 0x1p53 && number == std::floor(number)) {
    json.Value(static_cast<std::int64_t>(number));
  } else {
    json.Value(number);
  }
}

const GgufTensor* FindTensor(const GgufHeader& header, std::string_view name) {
  for (const GgufTensor& tensor : header.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

std::uint64_t Align(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

SourceTensor Between(std::uint64_t bytes) {
  return {.rows = static_cast<std::size_t>(bytes), .row_bytes = 1, .band_rows = kSkippedBytes};
}

Status CheckTensor(const GgufTensor& tensor, const TensorSpec& spec) {
  if (tensor.cols == spec.cols && tensor.rows == spec.rows) return Done{};
  return Error{ErrorCode::kCorrupt,
               Concat(kFile, "tensor \"", tensor.name, "\" is ", tensor.Describe(), ", expected [",
                      spec.cols, ", ", spec.rows, "]")};
}

}  // namespace

std::string GgufName(std::string name) {
  // llama.cpp's gguf-py/gguf/constants.py, MODEL_ARCH.GPT2
  constexpr std::string_view kNames[][2] = {
      {"attn.c_attn", "attn_qkv"}, {"attn.c_proj", "attn_output"}, {"mlp.c_fc", "ffn_up"},
      {"mlp.c_proj", "ffn_down"},  {"ln_1", "attn_norm"},          {"ln_2", "ffn_norm"},
      {"ln_f", "output_norm"},     {"wte", "token_embd"},          {"wpe", "position_embd"},
      {"lm_head", "output"}};
  if (name.starts_with("h.")) name.replace(0, 2, "blk.");
  for (const auto& [hub, gguf] : kNames) {
    const std::size_t at = name.find(hub);
    if (at != std::string::npos) return name.replace(at, hub.size(), gguf);
  }
  return name;
}

Result<std::string> GgufConfig(const GgufHeader& header) {
  const std::string& architecture = header.Text(GgufText::kArchitecture);
  if (architecture != "gpt2") {
    return Error{ErrorCode::kUnsupported, Concat(kFile, "\"general.architecture\" is ",
                                                 Quoted(architecture), ", expected \"gpt2\"")};
  }
  if (header.Number(GgufNumber::kSplits) > 1) {
    return Error{ErrorCode::kUnsupported,
                 Concat(kFile, "it is one of several; join them with llama-gguf-split --merge")};
  }
  const double heads = header.Number(GgufNumber::kHeads);
  const double key_heads = header.Number(GgufNumber::kKeyHeads);
  if (!std::isnan(key_heads) && key_heads != heads) {
    return Error{ErrorCode::kUnsupported,
                 Concat(kFile, "\"", GgufKey(GgufNumber::kKeyHeads), "\" differs from \"",
                        GgufKey(GgufNumber::kHeads), "\", which no GPT-2's does")};
  }
  const GgufTensor* const embedding = FindTensor(header, "token_embd.weight");
  if (embedding == nullptr) {
    return Error{ErrorCode::kCorrupt, Concat(kFile, "tensor \"token_embd.weight\" is missing")};
  }
  constexpr struct {
    const char* key;
    GgufNumber number;
    bool is_required = true;
  } kNumbers[] = {{"n_embd", GgufNumber::kWidth},
                  {"n_head", GgufNumber::kHeads},
                  {"n_inner", GgufNumber::kInnerWidth, false},
                  {"n_layer", GgufNumber::kLayers},
                  {"n_positions", GgufNumber::kPositions},
                  {"layer_norm_epsilon", GgufNumber::kEpsilon},
                  {"bos_token_id", GgufNumber::kBeginning, false},
                  {"eos_token_id", GgufNumber::kEnd, false}};
  std::string text;
  JsonWriter json(text);
  json.Open('{').Member("model_type", "gpt2").Member("activation_function", "gelu_new");
  for (const auto& [key, number, is_required] : kNumbers) {
    const double value = header.Number(number);
    if (!std::isnan(value)) {
      WriteNumber(json, key, value);
    } else if (is_required) {
      return Error{ErrorCode::kCorrupt, Concat(kFile, "\"", GgufKey(number), "\" is missing")};
    }
  }
  json.Member("vocab_size", embedding->rows);
  // An output matrix of its own may be a copy, but one that is quantized differently.
  json.Member("tie_word_embeddings", FindTensor(header, "output.weight") == nullptr).Close('}');
  return text;
}

Status ReadGgufVocabulary(const GgufHeader& header, std::string& vocab, std::string& merges) {
  if (header.tokens.empty()) return Done{};
  const std::string& model = header.Text(GgufText::kTokenizer);
  const std::string& rules = header.Text(GgufText::kPreTokenizer);
  const bool is_known =
      std::find(std::begin(kGpt2Rules), std::end(kGpt2Rules), rules) != std::end(kGpt2Rules);
  if (model != "gpt2" || !is_known) {
    return Error{
        ErrorCode::kUnsupported,
        Concat(kFile, "its tokenizer is ", Quoted(model), " with the rules ", Quoted(rules),
               ", expected \"gpt2\" with \"gpt-2\" or a name of the same rules")};
  }
  constexpr char kUnused = 5;  // what a matrix was padded with
  JsonWriter json(vocab);
  json.Open('{');
  for (std::size_t id = 0; id < header.tokens.size(); ++id) {
    const bool is_unused = id < header.token_types.size() && header.token_types[id] == kUnused;
    if (!is_unused && !header.tokens[id].empty()) json.Member(header.tokens[id], id);
  }
  json.Close('}');
  (merges += "#version: 0.2\n") += header.merges;
  return Done{};
}

std::uint64_t GgufAlignment(const GgufHeader& header) {
  constexpr std::uint64_t kUsual = 32;
  const double stated = header.Number(GgufNumber::kTensorAlignment);
  constexpr double kMost = 1 << 20;
  return stated >= 1 && stated <= kMost ? static_cast<std::uint64_t>(stated) : kUsual;
}

Status ReadGgufTensors(const GgufHeader& header, std::span<const TensorSpec> specs,
                       std::vector<SourceTensor>& tensors) {
  std::map<std::string, const TensorSpec*> missing;  // those that have not come
  for (const TensorSpec& spec : specs) missing.emplace(GgufName(spec.name), &spec);
  const std::uint64_t alignment = GgufAlignment(header);
  tensors.push_back(Between(Align(header.size, alignment) - header.size));
  std::uint64_t end = 0;
  for (const GgufTensor& tensor : header.tensors) {
    const auto found = missing.find(tensor.name);
    if (found == missing.end()) {
      return Error{ErrorCode::kCorrupt, Concat(kFile, "tensor ", Quoted(tensor.name),
                                               " does not belong to a GPT-2, or is there twice")};
    }
    const TensorSpec& spec = *found->second;
    missing.erase(found);
    GPT2_TRY(CheckTensor(tensor, spec));
    const std::uint64_t begin = Align(end, alignment);
    if (tensor.offset != begin) {
      return Error{ErrorCode::kCorrupt,
                   Concat(kFile, "tensor \"", tensor.name, "\" begins at byte ", tensor.offset,
                          " of the tensors, expected ", begin)};
    }
    tensors.push_back(Between(begin - end));
    tensors.push_back({.spec = &spec,
                       .type = tensor.type,
                       .rows = spec.rows,
                       .row_bytes = static_cast<std::size_t>(tensor.Bytes() / spec.rows)});
    end = begin + tensor.Bytes();
  }
  for (const auto& [name, spec] : missing) {
    if (!spec->is_required()) continue;
    return Error{ErrorCode::kCorrupt, Concat(kFile, "tensor \"", name, "\" is missing")};
  }
  return Done{};
}

}  // namespace gpt2
