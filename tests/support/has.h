// Whether a text has a part, for EXPECT_TRUE: a failure prints the text.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

namespace gpt2 {

inline ::testing::AssertionResult Has(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << text << "\" has no \"" << part << '"';
}

}  // namespace gpt2
