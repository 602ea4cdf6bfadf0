#include "engine/api/convert.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/reply.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/converter.h"
#include "engine/convert/torch_file.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/tokenizer_rules_json.h"

struct Gpt2Converter {
  std::vector<gpt2::TorchFile> torch_files;  // for the next conversion
  std::vector<gpt2::Adapter> adapters;       // for the next conversion
  std::unique_ptr<gpt2::Converter> converter;
  std::span<const std::byte> input;  // bytes that were fed and are not consumed yet
  Gpt2Bytes output{};
  std::string reply;
};

namespace gpt2 {
namespace {

const char* OutOfMemory(Gpt2Converter& owner) {
  owner.torch_files = {};
  std::vector<Adapter>().swap(owner.adapters);
  owner.converter.reset();
  owner.input = {};
  owner.output = {};
  std::string().swap(owner.reply);
  return kOutOfMemoryReply;
}

// Null, or the error.
const char* Run(Gpt2Converter* owner, FunctionRef<Status()> operation) {
  const char* error = RunFor(owner->reply, operation);
  return error == kOutOfMemoryReply ? OutOfMemory(*owner) : error;
}

// The result, or the error.
const char* Answer(Gpt2Converter* owner, FunctionRef<Status(JsonWriter& out)> operation) {
  const char* answer = AnswerFor(owner->reply, operation);
  return answer == kOutOfMemoryReply ? OutOfMemory(*owner) : answer;
}

constexpr const char* kNotBegun = "no conversion has begun";

// As Run, but requires a running conversion.
const char* RunWith(Gpt2Converter* owner, FunctionRef<Status(Converter& converter)> operation) {
  return Run(owner, [&]() -> Status {
    if (!owner->converter) return Misuse(kNotBegun);
    return operation(*owner->converter);
  });
}

Status AddAdapter(Gpt2Converter& owner, std::string_view config, std::span<const std::byte> file,
                  double weight) {
  Result<Adapter> adapter = std::isfinite(weight)
                                ? Adapter::Read(config, file, weight)
                                : Misuse("an adapter's weight is not finite, expected a number");
  if (!adapter.ok()) {
    owner.adapters.clear();
    return adapter.error();
  }
  owner.adapters.push_back(std::move(adapter.value()));
  return Done{};
}

Status Begin(Gpt2Converter& owner, std::string_view config, std::string_view heads,
             std::string_view weights) {
  std::vector<Adapter> adapters = std::move(owner.adapters);
  owner.adapters.clear();
  owner.converter.reset();
  owner.input = {};
  owner.output = {};
  std::vector<TorchFile> torch_files = std::exchange(owner.torch_files, {});
  for (const StoredWeights known : kConvertedWeights) {
    if (StoredWeightsName(known) != weights) continue;
    if (config.empty()) {
      owner.converter = Converter::OfGguf(known, std::move(adapters));
      return Done{};
    }
    if (torch_files.empty()) {
      GPT2_ASSIGN(owner.converter,
                  Converter::OfSafetensors(config, heads, known, std::move(adapters)));
    } else {
      GPT2_ASSIGN(owner.converter,
                  Converter::OfTorch(config, std::move(torch_files), known, std::move(adapters)));
    }
    return Done{};
  }
  return Misuse("weights: expected \"f32\", \"f16\", \"q8\" or \"q4\"");
}

// The bytes that the last added file needs.
void WriteWanted(const Gpt2Converter& owner, JsonWriter& out) {
  if (const auto& wanted = owner.torch_files.back().wanted()) {
    out.Open('{').Member("from", wanted->begin).Member("size", wanted->size).Close('}');
  } else {
    out.Null();
  }
}

Status WriteTokenizerOf(std::string_view files_json, std::size_t vocab_size, JsonWriter& out) {
  GPT2_ASSIGN(const ParsedJson files, ParseJson(files_json, "the files"));
  const auto text = [&](std::string_view name) { return TextOfFile(*files, name); };
  return WriteTokenizer({.tokenizer = text("tokenizer.json"),
                         .vocab = text("vocab.json"),
                         .merges = text("merges.txt"),
                         .tokenizer_config = text("tokenizer_config.json"),
                         .special_tokens_map = text("special_tokens_map.json"),
                         .added_tokens = text("added_tokens.json")},
                        vocab_size, out);
}

}  // namespace
}  // namespace gpt2

using gpt2::Converter;
using gpt2::Done;
using gpt2::JsonWriter;
using gpt2::Status;

extern "C" {

Gpt2Converter* gpt2_converter_create(void) {
  return new (std::nothrow) Gpt2Converter();
}
void gpt2_converter_destroy(Gpt2Converter* converter) {
  delete converter;
}

const char* gpt2_converter_torch_file(Gpt2Converter* converter, const char* name, size_t name_size,
                                      double file_size) {
  return gpt2::Answer(converter, [&](JsonWriter& out) -> Status {
    constexpr double kMostBytes = 9007199254740992.0;  // 2^53: exact in a double
    std::optional<uint64_t> size;
    if (file_size >= 0 && file_size <= kMostBytes) size = static_cast<uint64_t>(file_size);
    converter->torch_files.emplace_back(std::string(name, name_size), size);
    gpt2::WriteWanted(*converter, out);
    return Done{};
  });
}

const char* gpt2_converter_torch_part(Gpt2Converter* converter, const uint8_t* bytes, size_t size) {
  return gpt2::Answer(converter, [&](JsonWriter& out) -> Status {
    std::vector<gpt2::TorchFile>& files = converter->torch_files;
    if (files.empty() || !files.back().wanted()) return gpt2::Misuse("no part of a file is wanted");
    Status status = files.back().Give({reinterpret_cast<const char*>(bytes), size});
    if (status.ok()) {
      gpt2::WriteWanted(*converter, out);
    } else {
      files.clear();
    }
    return status;
  });
}

const char* gpt2_converter_adapter(Gpt2Converter* converter, const char* config, size_t config_size,
                                   const uint8_t* bytes, size_t size, double weight) {
  return gpt2::Run(converter, [&] {
    return gpt2::AddAdapter(*converter, {config, config_size},
                            std::as_bytes(std::span(bytes, size)), weight);
  });
}

const char* gpt2_converter_begin(Gpt2Converter* converter, const char* config, size_t config_size,
                                 const uint8_t* heads, size_t heads_size, const char* weights,
                                 size_t weights_size) {
  return gpt2::Run(converter, [&] {
    return gpt2::Begin(*converter, {config, config_size},
                       {reinterpret_cast<const char*>(heads), heads_size}, {weights, weights_size});
  });
}

const char* gpt2_converter_feed(Gpt2Converter* converter, const uint8_t* bytes, size_t size) {
  return gpt2::RunWith(converter, [&](Converter&) -> Status {
    if (!converter->input.empty())
      return gpt2::Misuse("the converter has not consumed the previous bytes");
    converter->input = std::as_bytes(std::span(bytes, size));
    return Done{};
  });
}

const char* gpt2_converter_step(Gpt2Converter* converter) {
  return gpt2::RunWith(converter, [&](Converter& c) -> Status {
    converter->output = {};
    GPT2_ASSIGN(const std::span<const std::byte> output, c.Take(converter->input));
    converter->output = {reinterpret_cast<const uint8_t*>(output.data()), output.size()};
    return Done{};
  });
}

const Gpt2Bytes* gpt2_converter_output(const Gpt2Converter* converter) {
  return &converter->output;
}

const char* gpt2_converter_folder(Gpt2Converter* converter) {
  return gpt2::Answer(converter, [&](JsonWriter& out) -> Status {
    if (!converter->converter) return gpt2::Misuse(gpt2::kNotBegun);
    if (const gpt2::ConvertedFolder* const folder = converter->converter->folder()) {
      const auto& [vocab, merges, tokenizer_config] = folder->vocabulary;
      out.Open('{').Member("config", folder->config).Member("vocab", vocab);
      out.Member("merges", merges).Member("tokenizerConfig", tokenizer_config);
      out.Member("weightBytes", folder->weight_bytes).Close('}');
    } else {
      out.Null();
    }
    return Done{};
  });
}

const char* gpt2_converter_tokenizer(Gpt2Converter* converter, const char* files, size_t files_size,
                                     size_t vocab_size) {
  return gpt2::Answer(converter, [&](JsonWriter& out) {
    return gpt2::WriteTokenizerOf({files, files_size}, vocab_size, out);
  });
}

const char* gpt2_converter_end(Gpt2Converter* converter) {
  return gpt2::RunWith(converter, [](Converter& c) { return c.Finish(); });
}

}  // extern "C"
