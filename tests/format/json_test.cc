#include "engine/format/json.h"

#include <gtest/gtest.h>

#include "tests/support/has.h"

namespace gpt2 {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto result = ParseJson(text, "it");
  return result.ok() ? "" : result.error().message;
}

std::string Nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseJson, ReturnsTheValue) {
  const auto result =
      ParseJson(R"( {"b": [1, -2, 0.5, "x", true, null, {}], "a": {"c": []}} )", "it");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(*result.value(),
            Json::parse(R"({"b": [1, -2, 0.5, "x", true, null, {}], "a": {"c": []}})"));
  EXPECT_EQ(result.value()->dump(), R"({"b":[1,-2,0.5,"x",true,null,{}],"a":{"c":[]}})");
}

TEST(ParseJson, AScalarIsAValidDocument) {
  EXPECT_EQ(*ParseJson("-0", "it").value(), 0);
  EXPECT_EQ(*ParseJson("\"x\"", "it").value(), "x");
  EXPECT_TRUE(ParseJson("null", "it").value()->is_null());
}

TEST(ParseJson, MoreThan64NestedValuesAreRefused) {
  EXPECT_EQ(ErrorOf(Nested(kMostDepth)), "");
  for (const std::size_t depth : {kMostDepth + 1, std::size_t{6'000}, std::size_t{1'000'000}}) {
    EXPECT_TRUE(Has(ErrorOf(Nested(depth)), "more than 64 nested arrays"));
    EXPECT_TRUE(Has(ErrorOf(std::string(depth, '[')), "more than 64"));
    std::string objects;
    for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
    EXPECT_TRUE(Has(ErrorOf(objects), "more than 64"));
  }
}

TEST(ParseJson, ADuplicateKeyIsRefusedByName) {
  EXPECT_TRUE(Has(ErrorOf(R"({"a": {"b": 1, "c": 2, "b": 3}})"), "the key \"b\" twice"));
  EXPECT_EQ(ErrorOf(R"([{"b": 1}, {"b": 2}])"), "");
}

TEST(ParseJson, AnErrorStatesTheByteWhereParsingStopped) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\" 1}", "nul", "[1] 2", "\"\xff\"",
                           "\"\\ud800\"", "NaN", "'a'", "{1: 2}", "01", "\"\n\""}) {
    EXPECT_TRUE(Has(ErrorOf(text), "not valid JSON: stopped at byte")) << text;
  }
  EXPECT_TRUE(Has(ErrorOf("[1e999]"), "a number too large at byte 6"));
}

// If time grew with the square of the number of keys, this would exceed the program's time limit.
TEST(ParseJson, AnObjectMayHaveManyKeys) {
  std::string text = "{";
  for (int i = 0; i < 500'000; ++i) text += "\"key " + std::to_string(i) + "\": 1, ";
  EXPECT_EQ(ErrorOf(text + "\"last\": 1}"), "");
}

TEST(ForMembers, VisitsMembersInOrderAndStopsAtAnError) {
  std::string seen;
  const auto take = [&](const std::string& key, const Json& value) -> Status {
    seen += key + "=" + value.dump() + " ";
    if (key == "c") return Error{ErrorCode::kCorrupt, "no c"};
    return Done{};
  };
  const Status status = ForMembers(R"({"a": 1, "b": [2, {"x": 3}], "c": 4, "d": )", "it", take);
  EXPECT_EQ(seen, "a=1 b=[2,{\"x\":3}] c=4 ");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "no c");
}

TEST(Shown, AbbreviatesLongValues) {
  EXPECT_EQ(Shown(Json("a\"b\n\x01")), R"("a\"b\u000a\u0001")");
  EXPECT_EQ(Shown(Json(std::string("a\0b", 3))), R"("a\u0000b")");
  EXPECT_EQ(Shown(Json("\xff")), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(Shown(Json(0.5)), "0.5");
  EXPECT_EQ(Shown(Json()), "null");
  EXPECT_EQ(Shown(Json::parse("[1, [2]]")), "an array of 2");
  EXPECT_EQ(Shown(Json::parse(R"({"a": 1})")), "an object of 1");
  EXPECT_EQ(Shown(Json(std::string(1 << 20, 'x'))),
            "\"" + std::string(80, 'x') + "\"... (1048576 bytes)");
}

TEST(WholeNumber, AcceptsOnlyWholeNumbersInItsRange) {
  const auto read = [](const char* text) {
    return WholeNumber(*ParseJson(text, "it").value(), -5, 100);
  };
  EXPECT_EQ(read("7"), 7);
  EXPECT_EQ(read("7.0"), 7);
  EXPECT_EQ(read("-0"), 0);
  EXPECT_EQ(read("-0.0"), 0);
  EXPECT_EQ(read("-5"), -5);
  for (const char* text : {"-6", "101", "7.5", "1e300", "18446744073709551615",
                           "9223372036854775808", "\"7\"", "true", "null", "[7]"}) {
    EXPECT_EQ(read(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gpt2
