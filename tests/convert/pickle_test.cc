#include "engine/convert/pickle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/has.h"
#include "tests/support/torch_writer.h"

namespace gpt2::testing {
namespace {

using Kind = PickleValue::Kind;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// The error of reading `bytes`; "" if there is none.
std::string PickleError(const std::string& bytes) {
  const auto read = ReadPickle(bytes);
  return read.ok() ? "" : read.error().message;
}

Pickle ReadWhole(const std::string& bytes) {
  auto read = ReadPickle(bytes);
  EXPECT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read.value().has_value()) << "the pickle is not whole";
  return std::move(*read.value());
}

TEST(Pickle, EveryProtocolGivesTheSameValue) {
  // pickle.dumps({"a": (1, -300, True, None, 2**40, -2**63), "b": [0.5, "x"]}, p) of Python 3.11.
  const std::string values = "284b014ad4feffff884e8a060000000000018a080000000000000080";
  const std::string older =
      "7d71002858010000006171012" + values.substr(1) +
      "74710258010000006271035d710428473fe0000000000000580100000078710565752e";
  const std::string newer = "04953c000000000000007d94288c016194" + values +
                            "74948c0162945d9428473fe00000000000008c01789465752e";
  for (const std::string& hex :
       {"8002" + older, "8003" + older, "80" + newer, "8005" + newer.substr(2)}) {
    const std::string bytes = FromHex(hex);
    const std::string followed = bytes + "more";
    const Pickle pickle = ReadWhole(followed);
    EXPECT_EQ(pickle.size, bytes.size());
    const PickleValue& dict = pickle.Top();
    ASSERT_EQ(dict.kind, Kind::kDict);
    ASSERT_EQ(dict.items.size(), 4u);
    EXPECT_EQ(pickle.Item(dict, 0).text, "a");
    const PickleValue& tuple = pickle.Item(dict, 1);
    ASSERT_EQ(tuple.items.size(), 6u);
    EXPECT_EQ(pickle.Item(tuple, 0).number, 1);
    EXPECT_EQ(pickle.Item(tuple, 1).number, -300);
    EXPECT_EQ(pickle.Item(tuple, 2).kind, Kind::kFlag);
    EXPECT_EQ(pickle.Item(tuple, 3).kind, Kind::kNone);
    EXPECT_EQ(pickle.Item(tuple, 4).number, std::int64_t{1} << 40);
    EXPECT_EQ(pickle.Item(tuple, 5).number, std::numeric_limits<std::int64_t>::min());
    const PickleValue& list = pickle.Item(dict, 3);
    ASSERT_EQ(list.kind, Kind::kList);
    EXPECT_EQ(pickle.Item(list, 0).kind, Kind::kFloat);
    EXPECT_EQ(pickle.Item(list, 1).text, "x");
    // A truncated pickle is incomplete, which is not an error.
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = ReadPickle(std::string_view(bytes).substr(0, size));
      ASSERT_TRUE(cut.ok()) << size << ": " << cut.error().message;
      EXPECT_FALSE(cut.value().has_value()) << size;
    }
  }
}

TEST(Pickle, AFunctionCallIsRefusedByTheFunctionsName) {
  const std::string argument = PickledTuple({PickledText("echo ran")});
  const std::vector<std::string> calls = {
      AsPickle(PickledName("posix", "system") + argument + "R"),
      AsPickle(PickledText("posix") + PickledText("system") + "\x93" + argument + "R"),
      AsPickle("(" + PickledText("echo ran") + "iposix\nsystem\n"),
      "cposix\nsystem\n(S'echo ran'\ntR.",  // protocol 0
  };
  for (const std::string& call : calls) {
    EXPECT_EQ(PickleError(call).find("this file would call posix.system, "), 0u)
        << PickleError(call);
  }
  for (const auto& [module, name] : {std::pair("builtins", "eval"), std::pair("torch", "load"),
                                     std::pair("collections", "OrderedDict.update"),
                                     std::pair("torch._utils", "_rebuild_qtensor")}) {
    EXPECT_TRUE(
        Has(PickleError(AsPickle(PickledName(module, name))), std::string(module) + "." + name));
  }
  const std::string escape = PickleError(AsPickle(PickledName("\x1b[2J", std::string(5000, 'x'))));
  EXPECT_FALSE(Has(escape, "\x1b"));
  EXPECT_LT(escape.size(), 500u);
  EXPECT_TRUE(
      Has(PickleError(AsPickle(PickledName("torch", "FloatStorage") + ")R")), "FloatStorage"));
}

TEST(Pickle, AnUnsupportedOpcodeIsRefusedByName) {
  for (const auto& [code, name] :
       {std::pair(0x81, "NEWOBJ"), std::pair(0x92, "NEWOBJ_EX"), std::pair(0x82, "EXT1"),
        std::pair(0x98, "READONLY_BUFFER"), std::pair(int{'o'}, "OBJ")}) {
    EXPECT_TRUE(Has(PickleError(AsPickle(std::string(1, static_cast<char>(code)))), name));
  }
  EXPECT_TRUE(Has(PickleError(AsPickle("\xff")), "unknown opcode 255"));
  EXPECT_TRUE(Has(PickleError("\x80\x06"), "protocol 6, expected 2 to 5"));
}

TEST(Pickle, AnOpcodeThatFindsTooFewValuesIsAnError) {
  for (const char* const code :
       {"",      "0",    "1",   "2",    "t",    "e",    "u",     "a",     "s",
        "R",     "b",    "Q",   "\x85", "\x93", "\x94", "]a",    "}Na",   "]Ns",
        "](NNu", "}(Nu", "N)R", "NNb",  "](q",  "hx",   "jxxxx", "NN\x93"}) {
    EXPECT_NE(PickleError(AsPickle(code)), "") << code;
  }
}

TEST(Pickle, NestedAndRecursiveValuesUseMemoryInProportionToTheirBytes) {
  // Each tuple holds the previous one twice, which makes 2^1000 values in all.
  std::string bomb = "Nq" + std::string(1, '\0');
  for (int i = 0; i < 1000; ++i) bomb += std::string("0h\0h\0\x86q\0", 8);
  EXPECT_LT(ReadWhole(AsPickle(bomb)).values.size(), 2000u);
  // This list contains itself.
  const Pickle circle = ReadWhole(AsPickle(std::string("]q\0h\0a", 6)));
  EXPECT_EQ(&circle.Item(circle.Top(), 0), &circle.Top());
  // Lists and marks may be nested deeply.
  EXPECT_EQ(PickleError(AsPickle(std::string(100'000, ']') + std::string(99'999, 'a'))), "");
  EXPECT_EQ(PickleError(AsPickle(std::string(100'000, '(') + std::string(100'000, 't'))), "");
}

TEST(Pickle, AnOversizedPickleIsRefused) {
  EXPECT_TRUE(Has(PickleError(std::string(kMostPickleValues + 1, 'N')), "values"));
  std::string marks(kMostPickleBytes + 1, '(');
  EXPECT_TRUE(Has(PickleError(marks), "bytes"));
  EXPECT_NE(PickleError("Nr" + LittleEndianBytes(0xffffffff, 4)), "");
  // After a length without its bytes, the reader waits for more.
  EXPECT_EQ(PickleError("\x8d" + LittleEndianBytes(~std::uint64_t{0}, 8) + "x"), "");
}

}  // namespace
}  // namespace gpt2::testing
