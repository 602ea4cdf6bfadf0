// Files of torch.save: any bytes end in an error that names the file, or in a safetensors file. Its
// tensors hold the values that their views show, which this target finds by their strides alone.
// Neither chunks nor knowledge of the size change the result.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/convert/converter.h"
#include "engine/convert/little_endian.h"
#include "engine/convert/torch_file.h"
#include "engine/convert/torch_stream.h"
#include "engine/convert/zip_directory.h"
#include "engine/format/safetensors.h"
#include "engine/model/weights.h"
#include "tests/fuzz/support/stream.h"
#include "tests/support/torch_writer.h"

namespace gpt2::fuzz {
namespace {

constexpr const char* kName = "x.bin";

// The model of tests/data/torch, two values wide.
constexpr std::string_view kConfig =
    R"({"model_type":"gpt2","vocab_size":3,"n_positions":2,"n_embd":2,"n_layer":1,"n_head":1,)"
    R"("n_inner":2,"layer_norm_epsilon":1e-5})";

constexpr std::int64_t kValues = 96;  // of a storage

void CheckNamed(const Error& error) {
  Check(error.message.starts_with(kName) || error.code == ErrorCode::kOutOfMemory, error.message);
}

Streamed AsSafetensors(const TorchFile& file, std::string_view bytes, bool is_tied,
                       std::size_t chunk) {
  auto stream = TorchStream::Create({file}, is_tied);
  if (!stream.ok()) {
    CheckNamed(stream.error());
    return {.error = stream.error()};
  }
  Streamed made = Stream(stream.value(), bytes, chunk);
  if (made.error) CheckNamed(*made.error);
  return made;
}

// The value of `tensor` that lies `place` values behind its first.
std::string_view ValueAt(const TorchFile& file, std::string_view bytes, const TorchTensor& tensor,
                         std::uint64_t place) {
  const TorchStorage& storage = file.content().storages[tensor.storage];
  std::uint64_t begin = storage.begin + kTorchCountBytes;
  if (file.is_zip()) {
    begin = storage.begin + kZipLocalHead + WholeOf(bytes.substr(storage.begin + 26, 2)) +
            WholeOf(bytes.substr(storage.begin + 28, 2));
  }
  const std::size_t size = storage.type->bytes;
  return bytes.substr(begin + (tensor.begin + place) * size, size);
}

void CheckValues(const TorchFile& file, std::string_view bytes, const std::string& made) {
  const auto head = ReadSafetensorsPrefix(made);
  Check(head.ok(), "no head");
  const std::size_t data = kSafetensorsPrefix + head.value();
  const auto header = ReadSafetensorsHeader(
      std::string_view(made).substr(kSafetensorsPrefix, head.value()), 1 << 20);
  if (!header.ok()) return;  // two names differ only in bytes that are not UTF-8
  Check(header.value().tensors.empty() || header.value().tensors.back().end + data == made.size(),
        "another size than its head says");
  std::map<std::string, const TorchTensor*> tensors;
  for (const TorchTensor& tensor : file.content().tensors) tensors[tensor.name] = &tensor;
  for (const TensorInfo& info : header.value().tensors) {
    const auto found = tensors.find(info.name);
    if (found == tensors.end()) continue;  // its name was no UTF-8
    const TorchTensor& tensor = *found->second;
    Check(info.shape == tensor.shape, "another shape");
    std::string expected;
    for (std::uint64_t i = 0; i < tensor.values; ++i) {
      std::uint64_t rest = i, place = 0;
      for (std::size_t d = tensor.shape.size(); d-- > 0; rest /= tensor.shape[d]) {
        place += rest % tensor.shape[d] * tensor.strides[d];
      }
      expected += ValueAt(file, bytes, tensor, place);
    }
    Check(made.compare(data + info.begin, info.end - info.begin, expected) == 0, info.name);
  }
}

void CheckConverts(const TorchFile& file, std::string_view bytes) {
  for (const StoredWeights weights : {StoredWeights::kF32, StoredWeights::kQ8}) {
    const auto converter = Converter::OfTorch(kConfig, {file}, weights);
    if (!converter.ok()) return;
    const Streamed made = ConvertWhole(*converter.value(), bytes, 1 + bytes.size() / 5);
    if (!made.error) CheckLoads(made);
  }
}

using Views = std::vector<std::pair<std::string, testing::TensorView>>;

// Any views of three storages.
Views AnyViews(FuzzedDataProvider& input) {
  Views views;
  const int count = input.ConsumeIntegralInRange(0, 5);
  for (int i = 0; i < count; ++i) {
    testing::TensorView view{.key = std::to_string(input.ConsumeIntegralInRange(0, 2))};
    view.offset = input.ConsumeIntegralInRange(0, 8);
    const int dimensions = input.ConsumeIntegralInRange(0, 3);
    for (int d = 0; d < dimensions; ++d) {
      view.shape.push_back(input.ConsumeIntegralInRange(0, 4));
      view.strides.push_back(input.ConsumeIntegralInRange(0, 12));
    }
    views.emplace_back(std::string(1, static_cast<char>('a' + i)), view);
  }
  return views;
}

// The parameters of the model of kConfig, each a view of the storage 0, 1 or 2.
Views ModelViews(FuzzedDataProvider& input) {
  Views views;
  const auto config = ReadConfigJson(kConfig);
  Check(config.ok(), "the config is refused");
  std::array<std::int64_t, 3> ends{};
  for (const TensorSpec& spec : TensorSpecs(config.value().config)) {
    const int storage = input.ConsumeIntegralInRange(0, 2);
    auto rows = static_cast<std::int64_t>(spec.rows), cols = static_cast<std::int64_t>(spec.cols);
    if (spec.is_conv1d()) std::swap(rows, cols);  // as on the Hub
    testing::TensorView view{.key = std::to_string(storage), .offset = ends[storage]};
    const bool is_transposed = input.ConsumeBool();
    view.shape = {rows, cols};
    view.strides =
        is_transposed ? std::vector{std::int64_t{1}, rows} : std::vector{cols, std::int64_t{1}};
    if (spec.is_vector()) {
      view.shape = {cols};
      view.strides = {1};
    }
    ends[storage] += rows * cols + input.ConsumeIntegralInRange(0, 1);
    if (ends[storage] > kValues) continue;
    views.emplace_back((input.ConsumeBool() ? "transformer." : "") + spec.name, view);
  }
  return views;
}

// A file of views of storages whose bytes are all different.
std::string FileOf(FuzzedDataProvider& input, Views views) {
  static constexpr std::array<std::pair<const char*, std::size_t>, 5> kTypes = {
      {{"FloatStorage", 4},
       {"HalfStorage", 2},
       {"BFloat16Storage", 2},
       {"BoolStorage", 1},
       {"DoubleStorage", 8}}};
  std::vector<std::string> storages;
  std::vector<std::size_t> value_bytes;
  std::vector<const char*> names;
  for (int i = 0; i < 3; ++i) {
    const auto& [name, bytes] =
        kTypes[input.ConsumeIntegralInRange<std::size_t>(0, kTypes.size() - 1)];
    names.push_back(name);
    value_bytes.push_back(bytes);
    std::string storage;
    for (std::size_t v = 0; v < kValues * bytes; ++v) storage += static_cast<char>(v * 7 % 61);
    storages.push_back(storage);
  }
  std::vector<std::pair<std::string, std::string>> items;
  for (auto& [name, view] : views) {
    const auto storage = static_cast<std::size_t>(view.key[0] - '0');
    view.type = names[storage];
    view.values = kValues;
    items.emplace_back(name, testing::PickledTensor(view));
  }
  const std::string pickle = testing::AsPickle(testing::PickledDict(items));
  // The older format lists only the storages that tensors use.
  std::vector<bool> is_used(3);
  for (const auto& [name, view] : views)
    is_used[static_cast<std::size_t>(view.key[0] - '0')] = true;
  const bool all = is_used[0] && is_used[1] && is_used[2];
  return all && input.ConsumeBool() ? testing::TorchOlder(pickle, storages, value_bytes)
                                    : testing::TorchZip(pickle, storages);
}

// The input itself, or a file that it describes.
std::string FileFrom(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return input.ConsumeRemainingBytesAsString();
    case 1: {
      const std::string storage(64, 'x');
      return testing::TorchZip(input.ConsumeRemainingBytesAsString(), {storage, storage, storage});
    }
    case 2: {
      const Views views = AnyViews(input);
      std::string file = FileOf(input, views);
      return MaybeDamaged(input, std::move(file));
    }
    default: {
      const Views views = ModelViews(input);
      std::string file = FileOf(input, views);
      return MaybeDamaged(input, std::move(file));
    }
  }
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  const std::string text = FileFrom(data, size);
  const std::string_view bytes = text;
  for (const bool has_size : {true, false}) {
    const auto file = testing::ReadTorchFile(bytes, kName, has_size);
    if (!file.ok()) {
      CheckNamed(file.error());
      continue;
    }
    for (const bool is_tied : {true, false}) {
      const Streamed whole =
          AsSafetensors(file.value(), bytes, is_tied, std::max<std::size_t>(1, text.size()));
      const Streamed cut = AsSafetensors(file.value(), bytes, is_tied, 1 + text.size() / 7 % 61);
      CheckSame(whole, cut);
      if (!whole.error) CheckValues(file.value(), bytes, whole.file);
    }
    CheckConverts(file.value(), bytes);
  }
  return 0;
}
