#include "weights_tools/model_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/format/code_rows.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/safetensors.h"
#include "engine/format/sha256.h"
#include "engine/format/weight_plan.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "engine/model/weights.h"
#include "weights_tools/destination.h"
#include "weights_tools/files.h"
#include "weights_tools/interruption.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/progress.h"
#include "weights_tools/staged_folder.h"

namespace gpt2::tools {
namespace {

constexpr std::uint64_t kPieceBytes = 8 << 20;  // some hosts refuse files over 25 MB

Status WriteText(StagedFolder& folder, const std::string& name, const std::string& text) {
  GPT2_ASSIGN(OutputFile file, folder.Create(name));
  GPT2_TRY(file.Write(std::as_bytes(std::span(text))));
  return file.Close();
}

// An entry of weights.json.
Json EntryOf(const std::string& path, std::uint64_t size, Sha256& hash) {
  return {{"path", path}, {"size", size}, {"sha256", ToHex(hash.Finish())}};
}

// The nearest float16, ties to even; nothing if it would be infinite.
std::optional<std::uint16_t> NarrowFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const float magnitude = std::fabs(value);
  if (!(magnitude < 65520.0f)) return std::nullopt;  // halfway from the largest, 65504, to 65536
  if (magnitude < 0x1p-14f) {                        // subnormal: a multiple of 2^-24
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24f)));
  }
  const std::uint32_t rebased = (bits & 0x7fffffffu) - (112u << 23);
  const std::uint32_t rounded = rebased + 0xfffu + (rebased >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

// Bytes in pieces of kPieceBytes, hashed on the way.
class PieceWriter {
 public:
  explicit PieceWriter(StagedFolder& folder) : folder_(&folder) {}

  Status Write(std::span<const std::byte> bytes) {
    whole_.Update(bytes);
    while (!bytes.empty()) {
      if (!file_) GPT2_TRY(Open());
      const auto take = static_cast<std::size_t>(
          std::min<std::uint64_t>(bytes.size(), kPieceBytes - piece_.size));
      GPT2_TRY(file_->Write(bytes.first(take)));
      hash_.Update(bytes.first(take));
      piece_.size += take;
      total_ += take;
      bytes = bytes.subspan(take);
      if (piece_.size == kPieceBytes) GPT2_TRY(Close());
    }
    return Done{};
  }

  // Ends the last piece and writes weights.json, which lists `files`, too.
  Result<WriteReport> Finish(const Json& files) {
    if (file_) GPT2_TRY(Close());
    const std::string sha256 = ToHex(whole_.Finish());
    const Json index = {{"version", kIndexVersion}, {"file", kWeightsFile}, {"size", total_},
                        {"sha256", sha256},         {"pieces", pieces_},    {"files", files}};
    GPT2_TRY(WriteText(*folder_, kWeightsIndexFile, index.dump(1) + "\n"));
    return WriteReport{total_, pieces_.size(), sha256, {}};
  }

 private:
  Status Open() {
    piece_ = {PieceName(pieces_.size()), 0, ""};
    hash_ = {};
    GPT2_ASSIGN(file_, folder_->Create(piece_.path));
    return Done{};
  }

  Status Close() {
    GPT2_TRY(file_->Close());
    file_.reset();
    pieces_.push_back(EntryOf(piece_.path, piece_.size, hash_));
    return Done{};
  }

  StagedFolder* folder_;
  std::optional<OutputFile> file_;
  Piece piece_;
  Sha256 hash_;
  Sha256 whole_;
  Json pieces_ = Json::array();
  std::uint64_t total_ = 0;
};

// One tensor of the output file.
struct OutputTensor {
  std::string name;
  const TensorSpec* spec;
  const Matrix* matrix;                // of matrices
  const AlignedBuffer<float>* floats;  // of the others
  DType dtype;
  std::size_t rows;
  std::size_t cols;

  std::uint64_t Bytes() const { return std::uint64_t{rows} * cols * DTypeSize(dtype); }
};

// The tensors in file order. Vectors stay F32; wpe is F16 wherever matrices are narrower than F32.
std::vector<OutputTensor> PlanOutput(const std::vector<TensorSpec>& specs,
                                     const WriteRequest& request) {
  std::vector<OutputTensor> plan;
  for (const TensorSpec& spec : specs) {
    if (request.only != nullptr && !request.only->contains(spec.name)) continue;
    const auto [matrix, floats] = Bind(spec, *request.weights);
    const auto add = [&, of = matrix, values = floats](const std::string& name, DType dtype,
                                                       std::size_t cols) {
      plan.push_back({name, &spec, of, values, dtype, spec.rows, cols});
    };
    if (spec.is_matrix() && matrix->format() != WeightFormat::kF32) {
      const bool is_q4 = matrix->format() == WeightFormat::kQ4;
      add(spec.name, is_q4 ? DType::kU8 : DType::kI8, CodeRowBytes(matrix->format(), spec.cols));
      add(spec.name + kScaleSuffix, DType::kBF16, matrix->groups());
      continue;
    }
    const bool is_narrow = !spec.is_vector() && request.format != FileFormat::kF32;
    add(spec.name, is_narrow ? DType::kF16 : DType::kF32, spec.cols);
  }
  return plan;
}

std::string MakeHeader(const std::vector<OutputTensor>& plan, FileFormat format) {
  const char* version = format == FileFormat::kQ4 ? kQ4FormatVersion : kFormatVersion;
  Json json = {{"__metadata__", {{kFormatKey, kFormatName}, {kVersionKey, version}}}};
  std::uint64_t offset = 0;
  for (const OutputTensor& tensor : plan) {
    const Json shape =
        tensor.spec->is_vector() ? Json{tensor.cols} : Json{tensor.rows, tensor.cols};
    json[tensor.name] = {{"dtype", DTypeName(tensor.dtype)},
                         {"shape", shape},
                         {"data_offsets", {offset, offset + tensor.Bytes()}}};
    offset += tensor.Bytes();
  }
  std::string text = json.dump();
  text.resize(RoundUp(text.size(), 8), ' ');  // so that the data is aligned
  std::string prefix;
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    prefix.push_back(static_cast<char>(std::uint64_t{text.size()} >> (8 * i) & 0xff));
  }
  return prefix + text;
}

// The bytes of row `row` of `tensor`.
Status RowBytes(const OutputTensor& tensor, std::size_t row, std::vector<std::byte>& bytes) {
  bytes.resize(tensor.cols * DTypeSize(tensor.dtype));
  if (tensor.dtype == DType::kI8 || tensor.dtype == DType::kU8) {
    ReadCodes(*tensor.matrix, row, {reinterpret_cast<std::uint8_t*>(bytes.data()), tensor.cols});
    return Done{};
  }
  if (tensor.dtype == DType::kBF16) {
    std::vector<BFloat16> scales(tensor.cols);
    ReadScales(*tensor.matrix, row, scales);
    for (const BFloat16 scale : scales) {
      if (std::isfinite(WidenBFloat16(scale))) continue;
      return Error{ErrorCode::kUnsupported,
                   "tensor \"" + tensor.spec->name + "\" row " + std::to_string(row) +
                       ": a scale is not finite, its values are too large"};
    }
    std::memcpy(bytes.data(), scales.data(), bytes.size());
    return Done{};
  }
  std::vector<float> floats(tensor.cols);
  if (tensor.matrix != nullptr) {
    tensor.matrix->ReadRow(row, floats);
  } else {
    std::memcpy(floats.data(), tensor.floats->data() + row * tensor.cols,
                tensor.cols * sizeof(float));
  }
  if (tensor.dtype == DType::kF32) {
    std::memcpy(bytes.data(), floats.data(), bytes.size());
    return Done{};
  }
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto half = NarrowFloat16(floats[i]);
    if (!half) {
      return Error{ErrorCode::kUnsupported, "tensor \"" + tensor.name + "\" has the value " +
                                                std::to_string(floats[i]) +
                                                ", too large for float16: use --weights f32"};
    }
    std::memcpy(bytes.data() + 2 * i, &*half, 2);
  }
  return Done{};
}

// Writes the pieces, and weights.json, which lists `files`, too.
Result<WriteReport> WriteWeights(StagedFolder& folder, const WriteRequest& request,
                                 const Json& files) {
  const std::vector<TensorSpec> specs = TensorSpecs(request.weights->config);
  const std::vector<OutputTensor> plan = PlanOutput(specs, request);
  std::uint64_t total = 0;
  for (const OutputTensor& tensor : plan) total += tensor.Bytes();
  PieceWriter writer(folder);
  const std::string header = MakeHeader(plan, request.format);
  GPT2_TRY(writer.Write(std::as_bytes(std::span(header))));
  Progress progress("writing " + folder.folder().path().string());
  std::uint64_t done = 0;
  std::vector<std::byte> bytes;
  for (const OutputTensor& tensor : plan) {
    for (std::size_t row = 0; row < tensor.rows; ++row) {
      GPT2_TRY(RowBytes(tensor, row, bytes));
      GPT2_TRY(writer.Write(bytes));
      progress.Update(done += bytes.size(), total);
    }
  }
  return writer.Finish(files);
}

Result<WriteReport> WriteFolder(StagedFolder& folder, const WriteRequest& request) {
  Json config = request.config;
  const std::string_view name = kFileFormatNames[static_cast<std::size_t>(request.format)];
  config[std::string(kQuantizationConfigKey)] = {{kQuantMethodKey, kFormatName},
                                                 {kWeightsKey, name}};
  if (request.format == FileFormat::kQ8 || request.format == FileFormat::kQ4) {
    config[std::string(kQuantizationConfigKey)][kGroupSizeKey] = kGroup;
  }
  Json files = Json::array();
  const auto write = [&](const char* file, const std::string& text) -> Status {
    Sha256 hash;
    hash.Update(std::as_bytes(std::span(text)));
    files.push_back(EntryOf(file, text.size(), hash));
    return WriteText(folder, file, text);
  };
  GPT2_TRY(write(kConfigFile, config.dump(2) + "\n"));
  if (request.vocabulary != nullptr) {
    GPT2_TRY(write(kVocabFile, request.vocabulary->vocab_json));
    GPT2_TRY(write(kMergesFile, request.vocabulary->merges_txt));
  }
  if (request.generation_config != nullptr) {
    GPT2_TRY(write(kGenerationConfigFile, *request.generation_config));
  }
  return WriteWeights(folder, request, files);
}

}  // namespace

WeightFormat MemoryFormat(FileFormat format, const TensorSpec& spec) {
  if (format == FileFormat::kQ4 && spec.is_conv1d()) return WeightFormat::kQ4;
  const bool is_quantized = format == FileFormat::kQ8 || format == FileFormat::kQ4;
  return is_quantized ? WeightFormat::kQ8 : WeightFormat::kF32;
}

Status CheckOutput(const fs::path& path, const std::vector<fs::path>& inputs, bool force) {
  GPT2_ASSIGN(const Destination destination, Destination::Of(path));
  return CheckDestination(destination, Identities::OfInputs(inputs), force);
}

Result<WriteReport> WriteModel(const fs::path& path, const WriteRequest& request) {
  GPT2_TRY(CheckOutput(path, request.inputs, request.force));
  const Interruption until_clean;
  GPT2_ASSIGN(Destination destination, Destination::Of(path));
  GPT2_ASSIGN(StagedFolder folder, StagedFolder::Make(std::move(destination)));
  GPT2_ASSIGN(WriteReport report, WriteFolder(folder, request));
  GPT2_ASSIGN(report.leftovers, folder.Commit(request.force, Identities::OfInputs(request.inputs)));
  return report;
}

}  // namespace gpt2::tools
