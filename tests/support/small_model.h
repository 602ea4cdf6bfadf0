// A model of one block of width 32, as a file whose tensors a test may change before it is read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/convert/converter.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/weight_reader.h"
#include "tests/support/convert_file.h"
#include "tests/support/safetensors_file.h"

namespace gpt2::testing {

struct NamedTensor {
  std::string name;
  const char* dtype;
  Json shape;
  std::uint64_t bytes;
};

// The tensors that the model needs. `weights` is "hub", or what config.json says of a converted
// folder; behind codes lie their scales.
inline std::vector<NamedTensor> SmallModel(const std::string& weights,
                                           std::uint64_t vocabulary = 64) {
  std::vector<NamedTensor> tensors;
  const auto floats = [&](const char* name, const Json& shape, std::uint64_t count) {
    tensors.push_back({name, "F32", shape, 4 * count});
  };
  const auto matrix = [&](const std::string& name, std::uint64_t rows, std::uint64_t cols) {
    const bool is_embedding = name == "wte.weight";
    const bool has_codes = weights == "q8" || weights == "q4", is_half = weights == "f16";
    const bool is_q4 = weights == "q4" && !is_embedding;
    const std::uint64_t width = is_q4 ? cols / 2 : cols;
    const char* const dtype = is_q4 ? "U8" : has_codes ? "I8" : is_half ? "F16" : "F32";
    const bool is_transposed = weights == "hub" && !is_embedding;
    tensors.push_back({name, dtype, is_transposed ? Json{width, rows} : Json{rows, width},
                       rows * width *
                           (has_codes ? 1
                            : is_half ? 2
                                      : 4)});
    if (!has_codes) return;
    tensors.push_back({name + "_scale", "BF16", {rows, cols / 32}, rows * (cols / 32) * 2});
  };
  matrix("wte.weight", vocabulary, 32);
  const bool is_float = weights == "hub" || weights == "f32";
  tensors.push_back({"wpe.weight",
                     is_float ? "F32" : "F16",
                     {16, 32},
                     std::uint64_t{16} * 32 * (is_float ? 4 : 2)});
  for (const char* norm : {"ln_f.weight", "h.0.ln_1.weight", "h.0.ln_2.weight"}) {
    floats(norm, {32}, 32);
  }
  matrix("h.0.attn.c_attn.weight", 96, 32);
  matrix("h.0.attn.c_proj.weight", 32, 32);
  matrix("h.0.mlp.c_fc.weight", 128, 32);
  matrix("h.0.mlp.c_proj.weight", 32, 128);
  return tensors;
}

inline Json SmallConfig(const std::string& weights) {
  Json config = {
      {"n_embd", 32}, {"n_head", 1}, {"n_layer", 1}, {"n_positions", 16}, {"vocab_size", 64}};
  if (weights == "hub") return config;
  config["quantization_config"] = {{"quant_method", "gpt2-wasm"}, {"weights", weights}};
  return config;
}

// The metadata of a converted file.
inline Json SmallMetadata(const std::string& weights) {
  return {{"format", "gpt2-wasm"}, {"version", weights == "q4" ? "2" : "1"}};
}

// The file of `tensors` up to their bytes.
inline std::string HeaderOf(const std::vector<NamedTensor>& tensors,
                            const Json& metadata = Json::object()) {
  Json header = {{"__metadata__", metadata}};
  std::uint64_t at = 0;
  for (const NamedTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes}}};
    at += tensor.bytes;
  }
  return JoinFile(header, "");
}

// Zeros, except for the bytes `value` at the start of the tensor `name`.
inline std::string DataOf(const std::vector<NamedTensor>& tensors, std::string_view name = {},
                          std::string_view value = {}) {
  std::string data;
  for (const NamedTensor& tensor : tensors) {
    std::string bytes(static_cast<std::size_t>(tensor.bytes), '\0');
    if (tensor.name == name) bytes.replace(0, value.size(), value);
    data += bytes;
  }
  return data;
}

// Every error has a text, so that "" means that there is none.
inline std::string TextOf(const Error& error) {
  EXPECT_NE(error.message, "");
  return error.message;
}

// The error of a conversion to `weights`; empty if the converter takes the model.
inline std::string ConvertError(const std::string& config_json, std::string_view file,
                                std::size_t feed_bytes = 4096,
                                StoredWeights weights = StoredWeights::kF32) {
  const auto converter = Converter::OfSafetensors(config_json, {}, weights);
  if (!converter.ok()) return TextOf(converter.error());
  const auto converted = ConvertFile(*converter.value(), std::string(file), feed_bytes);
  return converted.ok() ? "" : TextOf(converted.error());
}

// The error of what reads the model: of the converter, if it is not converted, else of the reader.
// Empty if the model is right.
inline std::string ReadError(const std::string& config_json, std::string_view file,
                             std::size_t feed_bytes = 4096) {
  auto config = ReadConfigJson(config_json);
  if (!config.ok()) return TextOf(config.error());
  if (!config.value().weights) return ConvertError(config_json, file, feed_bytes);
  WeightReader reader(config.value());
  for (; !file.empty(); file.remove_prefix(std::min(feed_bytes, file.size()))) {
    const Status status = reader.Feed(std::as_bytes(std::span(file.substr(0, feed_bytes))));
    if (!status.ok()) return TextOf(status.error());
  }
  const auto weights = reader.Finish();
  return weights.ok() ? "" : TextOf(weights.error());
}

}  // namespace gpt2::testing
