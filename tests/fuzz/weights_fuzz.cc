// The weight reader, and the converter of published models before it: chunks of any size do not
// change the result. A loaded model holds the file's values and runs, and every call after an error
// returns that error.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/aligned_buffer.h"
#include "engine/base/thread_pool.h"
#include "engine/convert/converter.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/context.h"
#include "tests/fuzz/support/any_json.h"
#include "tests/fuzz/support/fuzz_model.h"
#include "tests/fuzz/support/stream.h"

namespace gpt2::fuzz {
namespace {

struct Model {
  ModelConfig config;
  std::string file;
  bool is_sound = false;
};

// Turns a hub's tensors into those of a converted folder, see weights_tools/FORMAT.md. `floats` are
// the same tensors in float32, the type of vectors.
void Convert(std::vector<FileTensor>& tensors, std::vector<FileTensor> floats,
             StoredWeights weights, bool is_bigcode) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].shape.size() == 1) tensors[i] = std::move(floats[i]);
  }
  std::vector<FileTensor> converted;
  for (FileTensor& tensor : tensors) {
    const bool is_matrix = tensor.shape.size() == 2 && tensor.name != "wpe.weight";
    const bool is_in_block = is_matrix && tensor.name.starts_with("h.");
    if (is_in_block && !is_bigcode) std::swap(tensor.shape[0], tensor.shape[1]);
    const bool has_codes = weights == StoredWeights::kQ8 || weights == StoredWeights::kQ4;
    if (!is_matrix || !has_codes || tensor.shape[1] < kGroup) {
      converted.push_back(std::move(tensor));
      continue;
    }
    const std::uint64_t rows = tensor.shape[0], groups = CeilDiv(tensor.shape[1], kGroup);
    const bool is_q4 = weights == StoredWeights::kQ4 && is_in_block;
    tensor.dtype = is_q4 ? "U8" : "I8";
    if (is_q4) tensor.shape[1] = groups * kGroup / 2;
    tensor.bytes = RandomBytes(rows, rows * tensor.shape[1]);
    if (!is_q4) std::replace(tensor.bytes.begin(), tensor.bytes.end(), '\x80', '\x7f');
    FileTensor scales{tensor.name + kScaleSuffix, "BF16", {rows, groups}, {}};
    for (std::uint64_t i = rows * groups; i > 0; --i) scales.bytes += {'\x10', '\x3c'};
    converted.push_back(std::move(tensor));
    converted.push_back(std::move(scales));
  }
  tensors = std::move(converted);
}

// Makes one scale, if there are scales, infinite, NaN or negative.
void SpoilScale(FuzzedDataProvider& input, std::vector<FileTensor>& tensors) {
  const auto is_scales = [](const FileTensor& tensor) {
    return tensor.name.ends_with(kScaleSuffix) && !tensor.bytes.empty();
  };
  const auto count = std::count_if(tensors.begin(), tensors.end(), is_scales);
  if (count == 0) return;
  auto left = input.ConsumeIntegralInRange<std::ptrdiff_t>(0, count - 1);
  const auto scales = std::find_if(tensors.begin(), tensors.end(), [&](const FileTensor& tensor) {
    return is_scales(tensor) && left-- == 0;
  });
  const auto last = scales->bytes.size() / 2 - 1;
  scales->bytes.replace(2 * input.ConsumeIntegralInRange<std::size_t>(0, last), 2,
                        input.PickValueInArray({"\x80\x7f", "\x80\xff", "\xc0\x7f", "\x10\xbc"}));
}

void SpoilTensor(FuzzedDataProvider& input, std::vector<FileTensor>& tensors) {
  const auto index = input.ConsumeIntegralInRange<std::size_t>(0, tensors.size() - 1);
  FileTensor& tensor = tensors[index];
  switch (input.ConsumeIntegralInRange<int>(0, 8)) {
    case 0:
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(index));
      break;
    case 1:
      std::swap(tensor, tensors[input.ConsumeIntegralInRange<std::size_t>(0, tensors.size() - 1)]);
      break;
    case 2:
      tensor.name = input.PickValueInArray({"h.0.attn.bias", "lm_head.weight", "wte.weight_scale",
                                            "h.0.attn.c_attn.weight_scale", "h.7.ln_1.bias"});
      break;
    case 3:
      tensor.dtype = input.PickValueInArray({"F32", "F16", "BF16", "I8", "U8", "F64", "I64"});
      break;
    case 4:
      if (!tensor.shape.empty()) tensor.shape[0] = input.ConsumeIntegral<std::uint32_t>();
      break;
    case 5:
      tensor.shape.push_back(input.ConsumeIntegralInRange<std::uint64_t>(0, 2));
      break;
    case 6:
      tensor.name = "transformer." + tensor.name;
      break;
    case 7:
      SpoilScale(input, tensors);
      break;
    default:
      if (tensor.bytes.empty()) break;
      const auto at = input.ConsumeIntegralInRange<std::size_t>(0, tensor.bytes.size() - 1);
      if (input.ConsumeBool()) {
        tensor.bytes.replace(at / 4 * 4, 4, "\x80\x7f\x80\x7f");  // not finite, whatever the type
      } else {
        tensor.bytes.replace(at, 4, input.ConsumeBytesAsString(4));
      }
  }
}

Model AnyModel(FuzzedDataProvider& input) {
  Model model;
  model.config.config = SmallConfig(input);
  const bool is_hub = input.ConsumeBool();
  const StoredWeights weights = input.PickValueInArray(kConvertedWeights);
  if (!is_hub) model.config.weights = weights;
  DType dtype = weights == StoredWeights::kF32 ? DType::kF32 : DType::kF16;
  if (is_hub) dtype = input.PickValueInArray({DType::kF32, DType::kF16, DType::kBF16});
  const auto seed = input.ConsumeIntegral<std::uint8_t>();
  const Config& config = model.config.config;
  auto tensors = HubTensors(config, dtype, seed);
  if (!is_hub) {
    Convert(tensors, HubTensors(config, DType::kF32, seed), weights, config.is_bigcode);
  }
  model.is_sound = input.ConsumeBool();
  while (!model.is_sound && !tensors.empty() && input.ConsumeBool()) SpoilTensor(input, tensors);
  Json header = HeaderJson(tensors);
  if (!is_hub) {
    header["__metadata__"] = {
        {kFormatKey, kFormatName},
        {kVersionKey, weights == StoredWeights::kQ4 ? kQ4FormatVersion : kFormatVersion}};
  }
  if (!model.is_sound && input.ConsumeBool()) {
    header[input.ConsumeRandomLengthString(8)] = AnyJson(input);
  }
  std::string text = TextOf(header);
  if (!model.is_sound) text = MaybeDamaged(input, std::move(text));
  model.file = SafetensorsFile(text, tensors);
  if (!model.is_sound) model.file = MaybeDamaged(input, std::move(model.file));
  return model;
}

// Converts a published model; chunks change nothing. Returns false if it is refused.
bool ConvertPublished(Model& model, StoredWeights weights, std::size_t chunk) {
  const auto convert = [&](std::size_t most) {
    const auto converter =
        Converter::OfSafetensors(ConfigJson(model.config.config).dump(), {}, weights);
    Check(converter.ok(), "the config is refused");
    return ConvertWhole(*converter.value(), model.file, most);
  };
  const Streamed whole = convert(model.file.size()), cut = convert(chunk);
  CheckSame(whole, cut);
  if (whole.error) {
    Check(!model.is_sound, whole.error->message);
    Check(whole.error->message.find("model.safetensors") != std::string::npos, "names no file");
    return false;
  }
  model = {ReadConfigJson(whole.folder.config).value(), whole.file, /*is_sound=*/true};
  return true;
}

struct Loaded {
  std::unique_ptr<Weights> weights;
  std::optional<Error> error;
};

// Feeds `file` in chunks of next_size() bytes.
template <typename NextSize>
Loaded Load(const Model& model, NextSize next_size) {
  WeightReader reader(model.config);
  std::span<const std::byte> rest = std::as_bytes(std::span(model.file));
  Loaded loaded;
  while (!rest.empty() && !loaded.error) {
    const std::size_t take = std::min<std::size_t>(rest.size(), next_size());
    const Status status = reader.Feed(rest.first(take));
    if (!status.ok()) loaded.error = status.error();
    rest = rest.subspan(take);
  }
  auto weights = reader.Finish();
  if (loaded.error) {
    Check(!weights.ok(), "a load that failed has weights");
    const Status later = reader.Feed(rest);
    Check(!later.ok() && later.error().message == loaded.error->message, "the error does not stay");
  } else if (weights.ok()) {
    loaded.weights = std::move(weights.value());
  } else {
    loaded.error = weights.error();
  }
  return loaded;
}

// This many chunks may be single bytes, which covers the header and some tensors. Later chunks have
// a prime size, which splits values, groups and rows anywhere. With single bytes to the end, these
// chunks took half of the fuzzer's time.
constexpr std::size_t kMostChunks = 3000, kLaterChunk = 251;

// Every value of every tensor, in the order of TensorSpecs.
std::vector<float> Values(const Weights& weights) {
  std::vector<float> values;
  for (const TensorSpec& spec : TensorSpecs(weights.config)) {
    const auto [matrix, floats] = Bind(spec, weights);
    if (!spec.is_matrix()) {
      Check(floats->size() >= spec.rows * spec.cols, spec.name);
      values.insert(values.end(), floats->data(), floats->data() + spec.rows * spec.cols);
      continue;
    }
    std::vector<float> row(spec.cols);
    for (std::size_t r = 0; r < spec.rows; ++r) {
      matrix->ReadRow(r, row);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return values;
}

void RunOnce(const Weights& weights) {
  static ThreadPool pool(1);
  auto context = Context::Create(weights, {&BestKernels(), &pool}, KvFormat::kQ8);
  Check(context.ok(), "no memory for a tiny context");
  const std::int32_t last = static_cast<std::int32_t>(weights.config.vocab_size - 1);
  const std::vector<std::int32_t> ids(std::min<std::size_t>(2, weights.config.n_positions), last);
  context.value().sequence().SetWindow(ids);
  const Pass pass = context.value().Prefill(context.value().sequence(), ids.size());
  // Finite weights may give logits that are not: then they are an error, not numbers.
  const auto logits = pass.Logits(pass.tokens() - 1, 1);
  if (logits.ok()) Check(logits.value().cols == weights.config.vocab_size, "logits");
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  const StoredWeights weights = input.PickValueInArray(kConvertedWeights);
  const std::size_t most = input.PickValueInArray<std::size_t>({1, 7, 100, 1 << 16});
  Model model = AnyModel(input);
  if (!model.config.weights && !ConvertPublished(model, weights, most)) return 0;
  Loaded whole = Load(model, [&] { return model.file.size(); });
  std::size_t chunks = 0;
  Loaded cut = Load(model, [&]() -> std::size_t {
    if (++chunks > kMostChunks) return kLaterChunk;
    return input.remaining_bytes() == 0 ? most : input.ConsumeIntegralInRange<std::size_t>(1, most);
  });
  if (whole.error) {
    Check(!model.is_sound, whole.error->message);
    Check(whole.error->message.find("model.safetensors") != std::string::npos, "names no file");
    Check(cut.error && cut.error->code == whole.error->code, "chunks turn an error into another");
    return 0;
  }
  Check(!cut.error, "chunks make a load fail");
  const std::vector<float> values = Values(*whole.weights), others = Values(*cut.weights);
  Check(values.size() == others.size() &&
            std::memcmp(values.data(), others.data(), values.size() * sizeof(float)) == 0,
        "chunks change values");
  for (const float value : values) Check(std::isfinite(value), "a value that is not finite");
  RunOnce(*whole.weights);
  return 0;
}
