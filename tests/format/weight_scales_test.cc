// Tests which scales of a converted file the reader accepts, and which it refuses by name.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/base/aligned_buffer.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/weight_reader.h"

namespace gpt2 {
namespace {

// A converted model of one block of width 32 whose codes are all zero, and whose scales are all 1.
class ConvertedFile {
 public:
  explicit ConvertedFile(const char* weights) : weights_(weights) {
    AddMatrix("wte.weight", 64, 32, "I8");
    AddFloats("wpe.weight", {16, 32}, 16 * 32);
    AddFloats("h.0.ln_1.weight", {32}, 32);
    AddFloats("h.0.ln_2.weight", {32}, 32);
    const char* codes = weights_ == "q4" ? "U8" : "I8";
    AddMatrix("h.0.attn.c_attn.weight", 96, 32, codes);
    AddMatrix("h.0.attn.c_proj.weight", 32, 32, codes);
    AddMatrix("h.0.mlp.c_fc.weight", 128, 32, codes);
    AddMatrix("h.0.mlp.c_proj.weight", 32, 128, codes);
    AddFloats("ln_f.weight", {32}, 32);
  }

  // The reader's error if scale `index` of `tensor` is `scale`; empty if it is accepted.
  std::string ErrorWith(const std::string& tensor, std::size_t index, float scale) {
    const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(scale) >> 16);
    std::string bytes(sizeof bits, '\0');
    std::memcpy(bytes.data(), &bits, sizeof bits);
    return ErrorWithBytes(tensor, sizeof bits * index, bytes);
  }

  // The reader's error if `bytes` replace those of `tensor` from `first` on.
  std::string ErrorWithBytes(const std::string& tensor, std::size_t first,
                             const std::string& bytes) {
    std::string data = data_;
    const std::size_t at = header_[tensor]["data_offsets"][0].get<std::size_t>() + first;
    data.replace(at, bytes.size(), bytes);
    Json config = {
        {"n_embd", 32}, {"n_head", 1}, {"n_layer", 1}, {"n_positions", 16}, {"vocab_size", 64}};
    config["quantization_config"] = {{"quant_method", "gpt2-wasm"}, {"weights", weights_}};
    header_["__metadata__"] = {{"format", "gpt2-wasm"}, {"version", weights_ == "q4" ? "2" : "1"}};
    const std::string text = header_.dump();
    std::string file(8, '\0');
    const std::uint64_t size = text.size();
    std::memcpy(file.data(), &size, sizeof size);
    file += text + data;
    WeightReader reader(ReadConfigJson(config.dump()).value(), WeightFormat::kF32);
    if (const Status fed = reader.Feed(std::as_bytes(std::span(file))); !fed.ok()) {
      return fed.error().message;
    }
    const auto read = reader.Finish();
    return read.ok() ? "" : read.error().message;
  }

 private:
  void Add(const std::string& name, const char* dtype, const Json& shape,
           const std::string& bytes) {
    header_[name] = {{"dtype", dtype},
                     {"shape", shape},
                     {"data_offsets", {data_.size(), data_.size() + bytes.size()}}};
    data_ += bytes;
  }
  void AddFloats(const std::string& name, const Json& shape, std::size_t count) {
    Add(name, "F32", shape, std::string(4 * count, '\0'));
  }
  void AddMatrix(const std::string& name, std::size_t rows, std::size_t cols, const char* dtype) {
    const std::size_t row_bytes = dtype == std::string("U8") ? cols / 2 : cols;
    Add(name, dtype, {rows, row_bytes}, std::string(rows * row_bytes, '\0'));
    std::string ones;
    for (std::size_t i = 0; i < rows * (cols / 32); ++i) ones += "\x80\x3f";
    Add(name + "_scale", "BF16", {rows, cols / 32}, ones);
  }

  std::string weights_;
  Json header_;
  std::string data_;
};

constexpr const char* kScales = "h.0.mlp.c_proj.weight_scale";  // [32, 4]

TEST(WeightScales, OnesAndZerosAreAccepted) {
  EXPECT_EQ(ConvertedFile("q8").ErrorWith(kScales, 0, 1.0f), "");
  EXPECT_EQ(ConvertedFile("q8").ErrorWith(kScales, 127, 0.0f), "");
}

TEST(WeightScales, NegativeAndNonFiniteScalesAreRefusedByName) {
  ConvertedFile file("q8");
  for (const std::size_t index : {0, 1, 63, 127}) {
    EXPECT_NE(file.ErrorWith(kScales, index, -0.5f).find("negative"), std::string::npos) << index;
    for (const float scale : {INFINITY, -INFINITY, NAN}) {
      const std::string error = file.ErrorWith(kScales, index, scale);
      EXPECT_NE(error.find("not finite"), std::string::npos) << error;
      EXPECT_NE(error.find(kScales), std::string::npos) << error;
    }
  }
}

TEST(WeightScales, Only4BitScalesMayBeNegative) {
  ConvertedFile file("q4");
  EXPECT_EQ(file.ErrorWith(kScales, 5, -0.5f), "");
  EXPECT_NE(file.ErrorWith(kScales, 5, -INFINITY).find("not finite"), std::string::npos);
  // The embedding of a 4-bit model is an 8-bit matrix.
  EXPECT_NE(file.ErrorWith("wte.weight_scale", 5, -0.5f).find("negative"), std::string::npos);
}

TEST(WeightCodes, CodeMinus128IsRefusedAtEveryPlace) {
  ConvertedFile file("q8");
  for (std::size_t at = 0; at < 32; ++at) {
    EXPECT_NE(file.ErrorWithBytes("wte.weight", 32 * 5 + at, "\x80").find("row 5: code -128"),
              std::string::npos)
        << at;
  }
  EXPECT_EQ(file.ErrorWithBytes("wte.weight", 32, "\x81\x7f\x01\xff\x7f\x81\x81\x01"), "");
}

}  // namespace
}  // namespace gpt2
