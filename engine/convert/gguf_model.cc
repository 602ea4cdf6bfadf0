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
#include "engine/text/tokenizer.h"

namespace gpt2 {
namespace {

constexpr std::string_view kFile = "the GGUF file: ";
// llama.cpp's names of rules that equal GPT-2's regular expression (llama_vocab::impl::load and
// llm_tokenizer_bpe in src/llama-vocab.cpp). Old converters, which supported no others, wrote
// "default" or nothing.
constexpr std::string_view kGpt2Rules[] = {
    "",        "default",    "gpt-2",      "phi-2",          "olmo",    "mpt",
    "jais",    "trillion",   "gigachat",   "jina-es",        "jina-de", "mellum",
    "a.x-4.0", "jina-v2-es", "jina-v2-de", "granite-docling"};
constexpr std::size_t kSkippedBytes = 1 << 16;  // bytes between tensors, at a time

// Writes `number` in integer form if it is a whole number.
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

// llama.cpp's llama_token_type.
enum TokenType : char { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

TokenType TypeOf(const GgufHeader& header, std::size_t id) {
  if (header.token_types.empty()) return kNormal;
  return static_cast<TokenType>(header.token_types[id]);
}

Error Unsupported(std::string_view key, std::string_view found, std::string_view expected) {
  return Error{ErrorCode::kUnsupported,
               Concat(kFile, "\"", key, "\" is ", found, ", expected ", expected)};
}

// Fails if a text would become other tokens than the file specifies.
Status CheckRules(const GgufHeader& header) {
  const std::string& model = header.Text(GgufText::kTokenizer);
  if (model != "gpt2") {
    return Unsupported(GgufKey(GgufText::kTokenizer), Quoted(model), "\"gpt2\"");
  }
  const std::string& rules = header.Text(GgufText::kPreTokenizer);
  if (std::find(std::begin(kGpt2Rules), std::end(kGpt2Rules), rules) == std::end(kGpt2Rules)) {
    return Unsupported(GgufKey(GgufText::kPreTokenizer), Quoted(rules),
                       "\"gpt-2\" or another name of its rules");
  }
  for (const GgufFlag flag : {GgufFlag::kAddEnd, GgufFlag::kAddSpacePrefix}) {
    if (header.Flag(flag)) return Unsupported(GgufKey(flag), "true", "false");
  }
  return Done{};
}

Status CheckTokenTypes(const GgufHeader& header) {
  constexpr std::string_view kKey = "tokenizer.ggml.token_type";
  const std::string& types = header.token_types;
  if (!types.empty() && types.size() != header.tokens.size()) {
    return Unsupported(kKey, Concat("an array of ", types.size()),
                       Concat("a type for each of the ", header.tokens.size(), " tokens"));
  }
  for (std::size_t id = 0; id < types.size(); ++id) {
    if (types[id] >= kNormal && types[id] <= kUnused) continue;
    return Error{ErrorCode::kUnsupported,
                 Concat(kFile, "\"", kKey, "\" of the token ", Quoted(header.tokens[id]), ", id ",
                        id, ", expected 1 to 5")};
  }
  return Done{};
}

// tokenizer_config.json with the tokens that are found in the text before all rules, and the token
// that begins it. kEndOfText is such a token without being listed.
Result<std::string> TokenizerConfig(const GgufHeader& header) {
  std::string text;
  JsonWriter json(text);
  json.Open('{').Key("added_tokens_decoder").Open('{');
  bool says_something = false;
  for (std::size_t id = 0; id < header.tokens.size(); ++id) {
    const TokenType type = TypeOf(header, id);
    const std::string& token = header.tokens[id];
    if ((type != kControl && type != kUserDefined) || token.empty() || token == kEndOfText) {
      continue;
    }
    says_something = true;
    json.Key(std::to_string(id)).Open('{').Member("content", token);
    json.Member("special", type == kControl).Close('}');
  }
  json.Close('}');
  if (header.Flag(GgufFlag::kAddBeginning)) {
    says_something = true;
    const double id = header.Number(GgufNumber::kBeginning);
    if (!(id >= 0 && id < static_cast<double>(header.tokens.size()))) {
      return Unsupported(
          GgufKey(GgufFlag::kAddBeginning), "true",
          Concat("false, because \"", GgufKey(GgufNumber::kBeginning), "\" names no token"));
    }
    json.Member("add_bos_token", true);
    json.Member("bos_token", header.tokens[static_cast<std::size_t>(id)]);
  }
  json.Close('}');
  return says_something ? text : std::string();
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
    return Error{
        ErrorCode::kUnsupported,
        Concat(kFile,
               "it is one part of a split model: join the parts with llama-gguf-split --merge")};
  }
  const double heads = header.Number(GgufNumber::kHeads);
  const double key_heads = header.Number(GgufNumber::kKeyHeads);
  if (!std::isnan(key_heads) && key_heads != heads) {
    return Error{ErrorCode::kUnsupported,
                 Concat(kFile, "\"", GgufKey(GgufNumber::kKeyHeads), "\" differs from \"",
                        GgufKey(GgufNumber::kHeads), "\", expected the same")};
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
  // A separate output matrix may be a copy that is quantized differently.
  json.Member("tie_word_embeddings", FindTensor(header, "output.weight") == nullptr).Close('}');
  return text;
}

Result<GgufVocabulary> ReadGgufVocabulary(const GgufHeader& header) {
  GgufVocabulary files;
  if (header.tokens.empty()) return files;
  GPT2_TRY(CheckRules(header));
  GPT2_TRY(CheckTokenTypes(header));
  JsonWriter json(files.vocab);
  json.Open('{');
  for (std::size_t id = 0; id < header.tokens.size(); ++id) {
    if (TypeOf(header, id) != kUnused && !header.tokens[id].empty()) {
      json.Member(header.tokens[id], id);
    }
  }
  json.Close('}');
  (files.merges += "#version: 0.2\n") += header.merges;
  GPT2_ASSIGN(files.tokenizer_config, TokenizerConfig(header));
  return files;
}

std::uint64_t GgufAlignment(const GgufHeader& header) {
  constexpr std::uint64_t kUsual = 32;
  const double stated = header.Number(GgufNumber::kTensorAlignment);
  return std::isnan(stated) ? kUsual : static_cast<std::uint64_t>(stated);
}

Status ReadGgufTensors(const GgufHeader& header, std::span<const TensorSpec> specs,
                       std::vector<SourceTensor>& tensors) {
  std::map<std::string, const TensorSpec*> missing;  // tensors not found yet
  for (const TensorSpec& spec : specs) missing.emplace(GgufName(spec.name), &spec);
  const std::uint64_t alignment = GgufAlignment(header);
  tensors.push_back(Between(Align(header.size, alignment) - header.size));
  std::uint64_t end = 0;
  for (const GgufTensor& tensor : header.tensors) {
    const auto found = missing.find(tensor.name);
    if (found == missing.end()) {
      return Error{ErrorCode::kCorrupt, Concat(kFile, "tensor ", Quoted(tensor.name),
                                               " does not belong to a GPT-2, or occurs twice")};
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
