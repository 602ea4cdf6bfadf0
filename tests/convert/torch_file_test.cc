// Tests files of torch.save, from the places of their tensors to the converted model. Those in
// tests/data/torch were written by PyTorch; all hold the weights of the model.safetensors there.
#include "engine/convert/torch_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/convert/converter.h"
#include "engine/convert/little_endian.h"
#include "engine/convert/torch_stream.h"
#include "engine/format/safetensors.h"
#include "tests/support/convert_file.h"
#include "tests/support/has.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_model.h"
#include "tests/support/torch_writer.h"

namespace gpt2::testing {
namespace {

std::string TestFile(const std::string& name) {
  return ReadTestFile(std::string(GPT2_TEST_DATA) + "/torch/" + name);
}

// The safetensors file that `files` are converted to.
Result<std::string> AsSafetensors(const std::string& file, bool is_tied = true,
                                  std::size_t most = 1 << 20, bool has_size = true) {
  GPT2_ASSIGN(TorchFile known, ReadTorchFile(file, "model.bin", has_size));
  std::vector<TorchFile> files;
  files.push_back(std::move(known));
  GPT2_ASSIGN(TorchStream stream, TorchStream::Create(std::move(files), is_tied));
  return Fed(stream, file, most);
}

std::string TorchError(const std::string& file, bool is_tied = true) {
  const auto made = AsSafetensors(file, is_tied);
  return made.ok() ? "" : made.error().message;
}

// The model that model.safetensors, or a file of torch.save, of tests/data/torch becomes.
Result<std::string> TorchConverted(const std::vector<std::string>& names, StoredWeights weights,
                                   std::size_t most = 1000) {
  const std::string config = TestFile("config.json");
  if (names[0].ends_with(".safetensors")) {
    GPT2_ASSIGN(const auto converter, Converter::OfSafetensors(config, {}, weights));
    GPT2_ASSIGN(Converted converted, ConvertFile(*converter, TestFile(names[0]), most));
    return std::move(converted.file);
  }
  std::vector<TorchFile> files;
  std::string all;
  for (const std::string& name : names) {
    all += TestFile(name);
    GPT2_ASSIGN(TorchFile file, ReadTorchFile(TestFile(name), name));
    files.push_back(std::move(file));
  }
  GPT2_ASSIGN(const auto converter, Converter::OfTorch(config, std::move(files), weights));
  GPT2_ASSIGN(Converted converted, ConvertFile(*converter, all, most));
  return std::move(converted.file);
}

TEST(TorchFile, EveryFileFormatGivesTheSameModelAsSafetensors) {
  for (const StoredWeights weights : kConvertedWeights) {
    const auto expected = TorchConverted({"model.safetensors"}, weights);
    ASSERT_TRUE(expected.ok()) << expected.error().message;
    for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
             {"zip.bin"},
             {"older.bin"},
             {"float16.bin"},
             {"bfloat16.bin"},
             {"one-storage.bin"},
             {"interleaved.bin"},
             {"parameters.bin"},
             {"pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"}}) {
      const auto found = TorchConverted(names, weights);
      ASSERT_TRUE(found.ok()) << names[0] << ": " << found.error().message;
      EXPECT_EQ(TensorsOf(found.value()), TensorsOf(expected.value())) << names[0];
      const auto cut = TorchConverted(names, weights, 7);
      ASSERT_TRUE(cut.ok()) << cut.error().message;
      EXPECT_TRUE(cut.value() == found.value()) << names[0] << ": chunks change what comes out";
    }
  }
}

// The Hub stores GPT-BigCode's matrices as [out, in]; those of GPT-2 are transposed.
TEST(TorchFile, AGptBigCodeFileGivesTheSameModelAsSafetensors) {
  for (const char* name : {"bigcode-one-key-head", "bigcode-interleaved"}) {
    const std::string folder = TinyModelFolder(name);
    const std::string config = ReadTestFile(folder + "/config.json");
    const std::string safetensors = ReadTestFile(folder + "/model.safetensors");
    std::vector<std::pair<std::string, std::string>> dict;
    std::vector<std::string> storages;
    for (const auto& [tensor_name, tensor] : ReadFileTensors(safetensors)) {
      TensorView view{.key = std::to_string(storages.size()),
                      .values = static_cast<std::int64_t>(tensor.values.size())};
      for (const std::uint64_t size : tensor.shape) {
        view.shape.push_back(static_cast<std::int64_t>(size));
      }
      view.strides = {1};
      if (view.shape.size() == 2) view.strides.insert(view.strides.begin(), view.shape[1]);
      dict.emplace_back("transformer." + tensor_name, PickledTensor(view));
      const auto* const bytes = reinterpret_cast<const char*>(tensor.values.data());
      storages.emplace_back(bytes, tensor.values.size() * sizeof(float));
    }
    const std::string file = TorchZip(AsPickle(PickledDict(dict)), storages);
    for (const StoredWeights weights : kConvertedWeights) {
      auto from_safetensors = Converter::OfSafetensors(config, {}, weights);
      ASSERT_TRUE(from_safetensors.ok());
      const auto expected = ConvertFile(*from_safetensors.value(), safetensors);
      auto known = ReadTorchFile(file, "pytorch_model.bin");
      ASSERT_TRUE(known.ok()) << known.error().message;
      std::vector<TorchFile> files;
      files.push_back(std::move(known.value()));
      auto from_torch = Converter::OfTorch(config, std::move(files), weights);
      ASSERT_TRUE(from_torch.ok()) << from_torch.error().message;
      const auto found = ConvertFile(*from_torch.value(), file);
      ASSERT_TRUE(expected.ok() && found.ok()) << found.error().message;
      EXPECT_EQ(TensorsOf(found.value().file), TensorsOf(expected.value().file));
      EXPECT_EQ(found.value().folder.config, expected.value().folder.config);
    }
  }
}

TEST(TorchFile, ASharedHeadIsWrittenOnlyForAnUntiedModel) {
  const auto tied = AsSafetensors(TestFile("zip.bin"), true);
  const auto untied = AsSafetensors(TestFile("zip.bin"), false);
  ASSERT_TRUE(tied.ok() && untied.ok());
  EXPECT_EQ(TensorsOf(tied.value()).count("lm_head.weight"), 0u);
  auto tensors = TensorsOf(untied.value());
  EXPECT_EQ(tensors.at("lm_head.weight"), tensors.at("transformer.wte.weight"));
}

TEST(TorchFile, OnlyTheZipFormatNeedsTheFileSize) {
  EXPECT_TRUE(AsSafetensors(TestFile("older.bin"), true, 100, /*has_size=*/false).ok());
  const auto zip = AsSafetensors(TestFile("zip.bin"), true, 100, /*has_size=*/false);
  ASSERT_FALSE(zip.ok());
  EXPECT_TRUE(Has(zip.error().message, "does not state its size"));
}

TEST(TorchFile, AnErrorNamesTheTruncatedFile) {
  for (const char* const name : {"zip.bin", "older.bin"}) {
    const std::string whole = TestFile(name);
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 50) {
      const std::string error = TorchError(whole.substr(0, size));
      EXPECT_EQ(error.find("model.bin: "), 0u) << name << " " << size << " " << error;
    }
  }
}

// Views of one storage with the values 0, 1, 2, ...
std::string ViewsOf(const std::vector<TensorView>& views, std::size_t values,
                    const std::string& type = "FloatStorage", std::size_t bytes = 4) {
  std::vector<std::pair<std::string, std::string>> items;
  for (TensorView view : views) {
    view.type = type;
    view.values = static_cast<std::int64_t>(values);
    items.emplace_back("t" + std::to_string(items.size()), PickledTensor(view));
  }
  std::string storage;
  for (std::size_t i = 0; i < values; ++i) storage += LittleEndianBytes(i, bytes);
  return TorchZip(AsPickle(PickledDict(items)), {storage});
}

// The values of a tensor that ViewsOf has made.
std::vector<std::uint64_t> ViewValues(const std::string& tensor, std::size_t bytes = 4) {
  std::vector<std::uint64_t> values;
  const std::size_t begin = tensor.find("] ") + 2;
  for (std::size_t at = begin; at < tensor.size(); at += bytes) {
    values.push_back(WholeOf(std::string_view(tensor).substr(at, bytes)));
  }
  return values;
}

TEST(TorchFile, ViewsAreWrittenWithTheValuesThatTheirStridesSelect) {
  const std::string file =
      ViewsOf({{.offset = 2, .shape = {2, 3}, .strides = {3, 1}},
               {.offset = 9, .shape = {2, 2}, .strides = {1, 2}},  // transposed
               {.offset = 13, .shape = {3}, .strides = {2}},
               {.offset = 14, .shape = {2, 1}, .strides = {2, 99}},  // between
               {.offset = 18, .shape = {}, .strides = {}},
               {.offset = 19, .shape = {2, 0, 3}, .strides = {0, 3, 1}},
               {.offset = 14, .shape = {0}, .strides = {1}}},
              20);
  for (const std::size_t most : {1u, 5u, 1u << 20}) {
    const auto made = AsSafetensors(file, true, most);
    ASSERT_TRUE(made.ok()) << made.error().message;
    auto tensors = TensorsOf(made.value());
    using Values = std::vector<std::uint64_t>;
    EXPECT_EQ(tensors["t0"].substr(0, 11), "F32 [2, 3] ");
    EXPECT_EQ(ViewValues(tensors["t0"]), (Values{2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(ViewValues(tensors["t1"]), (Values{9, 11, 10, 12}));
    EXPECT_EQ(ViewValues(tensors["t2"]), (Values{13, 15, 17}));
    EXPECT_EQ(ViewValues(tensors["t3"]), (Values{14, 16}));
    EXPECT_EQ(ViewValues(tensors["t4"]), (Values{18}));
    EXPECT_EQ(tensors["t5"], "F32 [2, 0, 3] ");
    EXPECT_EQ(tensors["t6"], "F32 [0] ");
  }
}

TEST(TorchFile, EveryTypeGetsItsSafetensorsName) {
  for (const auto& [type, name, bytes] :
       {std::tuple("DoubleStorage", "F64", 8), std::tuple("FloatStorage", "F32", 4),
        std::tuple("HalfStorage", "F16", 2), std::tuple("BFloat16Storage", "BF16", 2),
        std::tuple("LongStorage", "I64", 8), std::tuple("IntStorage", "I32", 4),
        std::tuple("ShortStorage", "I16", 2), std::tuple("CharStorage", "I8", 1),
        std::tuple("ByteStorage", "U8", 1), std::tuple("BoolStorage", "BOOL", 1)}) {
    const auto made = AsSafetensors(ViewsOf({{.shape = {3}, .strides = {1}}}, 3, type, bytes));
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_TRUE(Has(made.value(), std::string("\"dtype\":\"") + name + "\""));
  }
  EXPECT_TRUE(
      Has(TorchError(ViewsOf({{.shape = {3}, .strides = {1}}}, 3, "ComplexFloatStorage", 8)),
          "\"t0\" has the type torch.ComplexFloatStorage"));
}

TEST(TorchFile, AViewOutsideItsStorageIsRefused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const TensorView& view : std::vector<TensorView>{
           {.shape = {13}, .strides = {1}},
           {.offset = 1, .shape = {12}, .strides = {1}},
           {.offset = 12, .shape = {}, .strides = {}},
           {.shape = {2, 2}, .strides = {11, 1}},
           {.shape = {13}, .strides = {0}},       // expanded
           {.shape = {4, 4}, .strides = {1, 1}},  // 16 values of 7
           {.offset = kMost, .shape = {1}, .strides = {1}},
           {.shape = {kMost, kMost}, .strides = {1, 1}},
           {.shape = {2}, .strides = {kMost}},
           {.shape = {3, 3, 3}, .strides = {kMost, kMost, kMost}},
           {.offset = -1, .shape = {1}, .strides = {1}},
           {.shape = {-1}, .strides = {1}},
           {.shape = {2}, .strides = {-1}},
           {.shape = {2}, .strides = {}},
           {.shape = {1, 1, 1, 1, 1, 1, 1, 1, 1}, .strides = {1, 1, 1, 1, 1, 1, 1, 1, 1}}}) {
    const std::string error = TorchError(ViewsOf({view}, 12));
    EXPECT_EQ(error.find("model.bin: tensor \"t0\" has "), 0u) << error;
  }
}

TEST(TorchFile, TooManyViewsOfOneStorageAreRefused) {
  const TensorView view{.shape = {12}, .strides = {1}};
  EXPECT_EQ(TorchError(ViewsOf({view, view}, 12)), "");
  EXPECT_TRUE(Has(TorchError(ViewsOf({view, view, view}, 12)), "more than 2 times"));
}

TEST(TorchFile, AFileWithoutAStateDictIsRefused) {
  const auto refused = [](const std::string& value, const std::string& expected) {
    const std::string error = TorchError(TorchZip(AsPickle(value), {}));
    EXPECT_TRUE(Has(error, expected));
  };
  refused("]", "it holds a list, expected a state dict");
  refused(PickledDict({{"epoch", PickledWhole(3)}}), "its entry \"epoch\" is a number");
  refused(PickledDict({{"model", PickledDict({})}}), "its entry \"model\" is a dict");
  refused("}N]s", "the name of a tensor is None");
  const std::string rebuild = PickledName("torch._utils", "_rebuild_tensor_v2");
  refused(PickledDict({{"a", rebuild + ")R"}}), "tensor \"a\" has no storage");
  refused(PickledDict({{"a", rebuild + "(NNNNtR"}}), "tensor \"a\" has no storage");
  refused(PickledDict({{"a", PickledName("torch._utils", "_rebuild_parameter") + ")R"}}),
          "tensor \"a\" is a parameter without a tensor");
  TensorView view{.values = 1, .shape = {1}, .strides = {1}};
  const std::string one = PickledTensor(view);
  view.values = 2;
  refused(PickledDict({{"a", one}, {"b", PickledTensor(view)}}), "another type or size");
  view.bits = "neg";
  refused(PickledDict({{"a", PickledTensor(view)}}), "tensor \"a\" has the bit \"neg\"");
  view.bits = "";
}

TEST(TorchFile, TensorsAndStoragesHaveShortNamesThatDiffer) {
  const auto error = [](const std::vector<std::string>& names, const std::string& key = "0") {
    // The first value is stored in the memo, from which the others come.
    const std::string tensor =
        PickledTensor({.key = key, .values = 1, .shape = {0}, .strides = {1}}) + "q\1";
    std::vector<std::pair<std::string, std::string>> dict;
    for (const std::string& name : names) dict.emplace_back(name, dict.empty() ? tensor : "h\1");
    return TorchError(
        ZipOf({{"m/data.pkl", AsPickle(PickledDict(dict))}, {"m/data/" + key, "1234"}}));
  };
  const std::string longest(256, 'n');
  EXPECT_EQ(error({longest}, longest), "");
  EXPECT_EQ(error({longest + "n"}),
            "model.bin: the name of a tensor has 257 bytes, expected at most 256");
  EXPECT_EQ(error({"a"}, longest + "n"),
            "model.bin: tensor \"a\" has a storage whose key has 257 bytes, expected at most 256");
  EXPECT_EQ(error({"a", "b", "a"}), "model.bin: tensor \"a\" occurs twice");

  std::vector<std::string> names;
  for (int i = 0; i < 16384; ++i) names.push_back(std::to_string(i));
  EXPECT_EQ(error(names), "");
  names.emplace_back("one more");
  EXPECT_EQ(error(names), "model.bin: it holds 16385 tensors, expected at most 16384");
}

TEST(TorchFile, OnlyZipFilesAsTorchSaveWritesThemAreRead) {
  const TensorView view{.values = 2, .shape = {2}, .strides = {1}};
  const std::string pickle = AsPickle(PickledDict({{"a", PickledTensor(view)}}));
  const std::vector<ZipPart> parts = {{"m/data.pkl", pickle}, {"m/data/0", "abcdefgh"}};
  const auto with = [&](std::size_t i, auto change) {
    std::vector<ZipPart> changed = parts;
    change(changed[i]);
    return ZipOf(changed);
  };
  const auto refused = [](const std::string& file, const std::string& expected) {
    EXPECT_TRUE(Has(TorchError(file), expected));
  };
  EXPECT_EQ(TorchError(ZipOf(parts)), "");
  EXPECT_EQ(TorchError(with(1, [](ZipPart& part) { part.is_zip64 = true; })), "");
  EXPECT_EQ(TorchError(with(0, [](ZipPart& part) { part.is_zip64 = true; })), "");
  // The parts may have any order, with other entries among them.
  EXPECT_EQ(TorchError(ZipOf({parts[1], {"m/byteorder", "little"}, {"x", "PK\3\4"}, parts[0]})),
            "");
  EXPECT_EQ(
      TorchError(ZipOf(parts) + "x").find("model.bin: it begins like a zip file, but has no end"),
      0u);
  refused(with(1, [](ZipPart& part) { part.method = 8; }),
          "its file \"m/data/0\" is compressed (method 8, deflate), expected it stored");
  refused(with(0, [](ZipPart& part) { part.flags |= 1; }), "its file \"m/data.pkl\" is encrypted");
  refused(with(1, [](ZipPart& part) { part.name = "m/data/1"; }), "\"m/data/0\" is missing");
  refused(with(0, [](ZipPart& part) { part.crc = 1; }), "file \"m/data.pkl\" is damaged: its CRC");
  // The values of a storage arrive later.
  const auto streamed = [&](std::uint32_t crc) {
    const std::string file = with(1, [&](ZipPart& part) { part.crc = crc; });
    auto made = TorchStream::Create({ReadTorchFile(file, "model.bin").value()}, false);
    TorchStream& stream = made.value();
    std::string error;
    for (const char byte : file) {
      std::span<const std::byte> bytes = std::as_bytes(std::span(&byte, 1));
      for (auto out = stream.Take(bytes); !out.ok() || !out.value().empty();
           out = stream.Take(bytes)) {
        if (!out.ok()) return out.error().message;
      }
    }
    return error;
  };
  EXPECT_EQ(streamed(0xaeef2a50), "");  // of "abcdefgh"
  EXPECT_TRUE(Has(streamed(0xaeef2a51), "model.bin: its file \"m/data/0\" is damaged: its CRC-32"));
  refused(with(1, [](ZipPart& part) { part.bytes += "x"; }), "has 9 bytes, its tensors need 8");
  refused(ZipOf({parts[0], parts[1], parts[1]}), "\"m/data/0\" occurs twice");
  refused(ZipOf({parts[1]}), "without data.pkl");
  refused(ZipOf({parts[0], parts[1], {"m/byteorder", "big"}}), "its byte order is \"big\"");
  refused(with(0, [](ZipPart& part) { part.bytes.resize(20); }), "ends inside a value");
  refused(with(0, [](ZipPart& part) { part.bytes.insert(2, kMostPickleBytes, 'N'); }),
          "its pickle has 8388");

  // Two storages that share bytes: the second's place is that of the first.
  TensorView other = view;
  other.key = "1";
  const std::string two =
      AsPickle(PickledDict({{"a", PickledTensor(view)}, {"b", PickledTensor(other)}}));
  std::string file =
      ZipOf({{"m/data.pkl", two}, {"m/data/0", "abcdefgh"}, {"m/data/1", "ABCDEFGH"}});
  EXPECT_EQ(TorchError(file), "");
  const std::size_t first = file.rfind("m/data/0"), second = file.rfind("m/data/1");
  file.replace(second - 4, 4, file, first - 4, 4);
  refused(file, "its storage \"0\" overlaps the next one");
}

TEST(TorchFile, OnlyOlderFilesAsTorchSaveWritesThemAreRead) {
  const std::string whole = TestFile("older.bin");
  const auto refused = [](const std::string& file, const std::string& expected) {
    EXPECT_TRUE(Has(TorchError(file), expected));
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string file = whole;
    const std::size_t at = file.find(from);
    EXPECT_NE(at, std::string::npos);
    return file.replace(at, from.size(), to);
  };
  refused("", "it is not a file of torch.save: it begins with \"\"");
  refused("version https://git-lfs.github.com/spec/v1\n", "it begins with \"version https");
  refused(AsPickle("}"), "it is not a file of torch.save");
  refused(changed("M\xe9\x03.", "M\xea\x03."), "its protocol is 1002, expected 1001");
  const std::string flag = "little_endianq\x02\x88";
  refused(changed(flag, flag.substr(0, flag.size() - 1) + "\x89"), "not little-endian");
  EXPECT_EQ(TorchError(whole + "x"), "");  // like PyTorch, which ignores bytes at the end
  // Each storage begins with its number of values; the first number is changed.
  const auto file = ReadTorchFile(whole, "older.bin");
  ASSERT_TRUE(file.ok());
  std::string other = whole;
  ++other[static_cast<std::size_t>(file.value().content().storages[0].begin)];
  refused(other, "values, its tensors need ");
}

TEST(TorchFile, AModelOfUnsupportedTypeIsRefusedByName) {
  std::string file = TestFile("older.bin");
  for (std::size_t at = file.find("torch\nFloatStorage"); at != std::string::npos;
       at = file.find("torch\nFloatStorage")) {
    file.replace(at, 18, "torch\nLongStorage");
  }
  // Only the types in the pickle change, not the bytes of the storages.
  auto read = ReadTorchFile(file, "older.bin", /*has_size=*/false);
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::vector<TorchFile> files;
  files.push_back(std::move(read.value()));
  const auto made =
      Converter::OfTorch(TestFile("config.json"), std::move(files), StoredWeights::kQ8);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(made.error().message.find("pytorch_model.bin: tensor \"transformer."), 0u)
      << made.error().message;
}

}  // namespace
}  // namespace gpt2::testing
