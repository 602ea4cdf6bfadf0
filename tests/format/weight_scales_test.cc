// Tests which scales of a converted file the reader accepts, and which it refuses by name.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/has.h"
#include "tests/support/small_model.h"

namespace gpt2::testing {
namespace {

// A converted model of one block of width 32 whose codes and scales are all zero.
class ConvertedFile {
 public:
  explicit ConvertedFile(const char* weights) : weights_(weights), tensors_(SmallModel(weights)) {}

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
    return ReadError(SmallConfig(weights_).dump(),
                     HeaderOf(tensors_, SmallMetadata(weights_)) +
                         DataOf(tensors_, tensor, std::string(first, '\0') + bytes));
  }

 private:
  std::string weights_;
  std::vector<NamedTensor> tensors_;
};

constexpr const char* kScales = "h.0.mlp.c_proj.weight_scale";  // [32, 4]

TEST(WeightScales, OnesAndZerosAreAccepted) {
  EXPECT_EQ(ConvertedFile("q8").ErrorWith(kScales, 0, 1.0f), "");
  EXPECT_EQ(ConvertedFile("q8").ErrorWith(kScales, 127, 0.0f), "");
}

TEST(WeightScales, NegativeAndNonFiniteScalesAreRefusedByName) {
  ConvertedFile file("q8");
  for (const std::size_t index : {0, 1, 63, 127}) {
    EXPECT_TRUE(Has(file.ErrorWith(kScales, index, -0.5f), "negative")) << index;
    for (const float scale : {INFINITY, -INFINITY, NAN}) {
      const std::string error = file.ErrorWith(kScales, index, scale);
      EXPECT_TRUE(Has(error, "not finite"));
      EXPECT_TRUE(Has(error, kScales));
    }
  }
}

TEST(WeightScales, Only4BitScalesMayBeNegative) {
  ConvertedFile file("q4");
  EXPECT_EQ(file.ErrorWith(kScales, 5, -0.5f), "");
  EXPECT_TRUE(Has(file.ErrorWith(kScales, 5, -INFINITY), "not finite"));
  // The embedding of a 4-bit model is an 8-bit matrix.
  EXPECT_TRUE(Has(file.ErrorWith("wte.weight_scale", 5, -0.5f), "negative"));
}

TEST(WeightCodes, CodeMinus128IsRefusedAtEveryPlace) {
  ConvertedFile file("q8");
  for (std::size_t at = 0; at < 32; ++at) {
    EXPECT_TRUE(Has(file.ErrorWithBytes("wte.weight", 32 * 5 + at, "\x80"), "row 5: code -128"))
        << at;
  }
  EXPECT_EQ(file.ErrorWithBytes("wte.weight", 32, "\x81\x7f\x01\xff\x7f\x81\x81\x01"), "");
}

}  // namespace
}  // namespace gpt2::testing
