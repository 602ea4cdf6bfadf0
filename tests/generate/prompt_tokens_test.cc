#include "engine/generate/prompt_tokens.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/model/config.h"

namespace gpt2::testing {
namespace {

TEST(CheckTokenIds, AnErrorNamesTheFirstIdOutsideTheVocabulary) {
  Config config;
  config.vocab_size = 160;
  EXPECT_TRUE(CheckTokenIds(config, std::vector<std::int32_t>{0, 159}).ok());
  const Status status = CheckTokenIds(config, std::vector<std::int32_t>{7, 160, -1});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "token id 160 at index 1, expected 0 to 159");
}

}  // namespace
}  // namespace gpt2::testing
