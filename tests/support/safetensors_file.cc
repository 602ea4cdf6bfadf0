#include "tests/support/safetensors_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "engine/format/float16.h"

namespace gpt2::testing {

FileParts SplitFile(const std::string& file) {
  const auto size = ReadSafetensorsPrefix(file);
  EXPECT_TRUE(size.ok());
  return {Json::parse(file.substr(kSafetensorsPrefix, size.value())),
          file.substr(kSafetensorsPrefix + size.value())};
}

std::string JoinFile(const Json& header, const std::string& data) {
  std::string json = header.dump();
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string file(kSafetensorsPrefix, '\0');
  const std::uint64_t size = json.size();
  std::memcpy(file.data(), &size, sizeof size);
  return file + json + data;
}

std::string SafetensorsFile(const FileTensors& tensors) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t begin = data.size();
    for (const float value : tensor.values) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      const std::uint16_t half = tensor.dtype == DType::kF16
                                     ? *NarrowFloat16(value)
                                     : static_cast<std::uint16_t>(bits >> 16);
      if (tensor.dtype == DType::kF32) {
        data.append(reinterpret_cast<const char*>(&bits), sizeof bits);
      } else {
        data.append(reinterpret_cast<const char*>(&half), sizeof half);
      }
    }
    header[name] = {{"dtype", DTypeName(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"data_offsets", {begin, data.size()}}};
  }
  return JoinFile(header, data);
}

FileTensors ReadFileTensors(const std::string& file) {
  const auto [header, data] = SplitFile(file);
  const auto parsed = ReadSafetensorsHeader(header.dump(), 1000);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  FileTensors tensors;
  for (const TensorInfo& info : parsed.value().tensors) {
    FileTensor& tensor = tensors[info.name];
    tensor.shape = info.shape;
    const char* const bytes = data.data() + info.begin;
    for (std::size_t i = 0; i < (info.end - info.begin) / DTypeSize(info.dtype); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, bytes + i * DTypeSize(info.dtype), DTypeSize(info.dtype));
      const auto half = static_cast<std::uint16_t>(bits);
      tensor.values.push_back(info.dtype == DType::kF32   ? std::bit_cast<float>(bits)
                              : info.dtype == DType::kF16 ? WidenFloat16(half)
                                                          : WidenBFloat16(half));
    }
  }
  return tensors;
}

std::map<std::string, std::string> TensorsOf(const std::string& file) {
  const auto [header, data] = SplitFile(file);
  const auto parsed = ReadSafetensorsHeader(header.dump(), 1000);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  std::map<std::string, std::string> tensors;
  for (const TensorInfo& tensor : parsed.value().tensors) {
    tensors[tensor.name] = tensor.Describe() + " " +
                           data.substr(static_cast<std::size_t>(tensor.begin),
                                       static_cast<std::size_t>(tensor.end - tensor.begin));
  }
  return tensors;
}

}  // namespace gpt2::testing
