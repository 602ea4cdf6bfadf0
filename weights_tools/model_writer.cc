#include "weights_tools/model_writer.h"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "engine/format/config_json.h"
#include "engine/format/sha256.h"
#include "engine/format/weight_reader.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/progress.h"

namespace gpt2::tools {
namespace {

constexpr std::uint64_t kPieceBytes = 8 << 20;  // some hosts refuse files over 25 MB

Error CannotWrite(const fs::path& path) {
  return Error{ErrorCode::kIo, "cannot write " + path.string() + ": " + std::strerror(errno)};
}

Status WriteText(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return CannotWrite(path);
  return Done{};
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
  explicit PieceWriter(fs::path folder) : folder_(std::move(folder)) {}

  Status Write(std::span<const std::byte> bytes) {
    whole_.Update(bytes);
    while (!bytes.empty()) {
      if (!out_.is_open()) GPT2_TRY(Open());
      const auto take = static_cast<std::size_t>(
          std::min<std::uint64_t>(bytes.size(), kPieceBytes - piece_.size));
      out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(take));
      hash_.Update(bytes.first(take));
      piece_.size += take;
      total_ += take;
      bytes = bytes.subspan(take);
      if (piece_.size == kPieceBytes) GPT2_TRY(Close());
    }
    return Done{};
  }

  // Ends the last piece and writes weights.json.
  Result<WriteReport> Finish() {
    if (out_.is_open()) GPT2_TRY(Close());
    const std::string sha256 = ToHex(whole_.Finish());
    const Json index = {
        {"file", kWeightsFile}, {"size", total_}, {"sha256", sha256}, {"pieces", pieces_}};
    GPT2_TRY(WriteText(folder_ / kWeightsIndexFile, index.dump(1) + "\n"));
    return WriteReport{total_, pieces_.size(), sha256};
  }

 private:
  Status Open() {
    std::string number = std::to_string(pieces_.size());
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
    piece_ = {std::string(kWeightsFile) + "." + number, 0, ""};
    hash_ = {};
    out_.open(folder_ / piece_.path, std::ios::binary);
    if (!out_) return CannotWrite(folder_ / piece_.path);
    return Done{};
  }

  Status Close() {
    out_.close();
    if (!out_) return CannotWrite(folder_ / piece_.path);
    pieces_.push_back(
        {{"path", piece_.path}, {"size", piece_.size}, {"sha256", ToHex(hash_.Finish())}});
    return Done{};
  }

  fs::path folder_;
  std::ofstream out_;
  Piece piece_;
  Sha256 hash_;
  Sha256 whole_;
  Json pieces_ = Json::array();
  std::uint64_t total_ = 0;
};

// One tensor of the output file.
struct OutputTensor {
  std::string name;
  const TensorSlot* slot;
  DType dtype;
  std::size_t rows;
  std::size_t cols;

  std::uint64_t Bytes() const { return std::uint64_t{rows} * cols * DTypeSize(dtype); }
};

// The tensors in file order. Vectors stay F32; wpe is F16 wherever matrices are narrower than F32.
std::vector<OutputTensor> PlanOutput(const std::vector<TensorSlot>& slots,
                                     const WriteRequest& request) {
  std::vector<OutputTensor> plan;
  for (const TensorSlot& slot : slots) {
    if (request.only != nullptr && !request.only->contains(slot.name)) continue;
    if (slot.matrix != nullptr && slot.matrix->format() != WeightFormat::kF32) {
      const bool is_q4 = slot.matrix->format() == WeightFormat::kQ4;
      plan.push_back({slot.name, &slot, is_q4 ? DType::kU8 : DType::kI8, slot.rows,
                      slot.matrix->code_row_bytes()});
      plan.push_back(
          {slot.name + kScaleSuffix, &slot, DType::kBF16, slot.rows, slot.matrix->groups()});
      continue;
    }
    const bool is_narrow = !slot.is_vector && request.format != FileFormat::kF32;
    plan.push_back({slot.name, &slot, is_narrow ? DType::kF16 : DType::kF32, slot.rows, slot.cols});
  }
  return plan;
}

std::string MakeHeader(const std::vector<OutputTensor>& plan, FileFormat format) {
  const char* version = format == FileFormat::kQ4 ? kQ4FormatVersion : kFormatVersion;
  Json json = {{"__metadata__", {{kFormatKey, kFormatName}, {kVersionKey, version}}}};
  std::uint64_t offset = 0;
  for (const OutputTensor& tensor : plan) {
    const Json shape = tensor.slot->is_vector ? Json{tensor.cols} : Json{tensor.rows, tensor.cols};
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
  const TensorSlot& slot = *tensor.slot;
  bytes.resize(tensor.cols * DTypeSize(tensor.dtype));
  if (tensor.dtype == DType::kI8 || tensor.dtype == DType::kU8) {
    slot.matrix->ReadCodes(row, {reinterpret_cast<std::uint8_t*>(bytes.data()), tensor.cols});
    return Done{};
  }
  if (tensor.dtype == DType::kBF16) {
    std::vector<BFloat16> scales(tensor.cols);
    slot.matrix->ReadScales(row, scales);
    std::memcpy(bytes.data(), scales.data(), bytes.size());
    return Done{};
  }
  std::vector<float> floats(tensor.cols);
  if (slot.matrix != nullptr) {
    slot.matrix->ReadRow(row, floats);
  } else {
    std::memcpy(floats.data(), slot.floats->data() + row * tensor.cols,
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

Result<WriteReport> WriteWeights(const fs::path& folder, const WriteRequest& request) {
  const std::vector<TensorSlot> slots = TensorSlots(*request.weights);
  const std::vector<OutputTensor> plan = PlanOutput(slots, request);
  std::uint64_t total = 0;
  for (const OutputTensor& tensor : plan) total += tensor.Bytes();
  PieceWriter writer(folder);
  const std::string header = MakeHeader(plan, request.format);
  GPT2_TRY(writer.Write(std::as_bytes(std::span(header))));
  Progress progress("writing " + folder.string());
  std::uint64_t done = 0;
  std::vector<std::byte> bytes;
  for (const OutputTensor& tensor : plan) {
    for (std::size_t row = 0; row < tensor.rows; ++row) {
      GPT2_TRY(RowBytes(tensor, row, bytes));
      GPT2_TRY(writer.Write(bytes));
      progress.Update(done += bytes.size(), total);
    }
  }
  return writer.Finish();
}

Result<WriteReport> WriteFolder(const fs::path& folder, const WriteRequest& request) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!fs::create_directories(folder, error)) {
    return Error{ErrorCode::kIo, "cannot create " + folder.string() + ": " + error.message()};
  }
  Json config = request.config;
  const std::string_view name = kFileFormatNames[static_cast<std::size_t>(request.format)];
  config[std::string(kQuantizationConfigKey)] = {{"quant_method", "gpt2-wasm"}, {"weights", name}};
  if (request.format == FileFormat::kQ8 || request.format == FileFormat::kQ4) {
    config[std::string(kQuantizationConfigKey)]["group_size"] = kGroup;
  }
  GPT2_TRY(WriteText(folder / kConfigFile, config.dump(2) + "\n"));
  for (const char* file : {kVocabFile, kMergesFile}) {
    const fs::path source = request.copy_vocabulary_from / file;
    if (request.copy_vocabulary_from.empty() || !fs::exists(source)) continue;
    GPT2_ASSIGN(const std::string text, ReadFile(source));
    GPT2_TRY(WriteText(folder / file, text));
  }
  return WriteWeights(folder, request);
}

}  // namespace

WeightFormat MemoryFormat(FileFormat format, const TensorSlot& slot) {
  if (format == FileFormat::kQ4 && slot.is_conv1d) return WeightFormat::kQ4;
  const bool is_quantized = format == FileFormat::kQ8 || format == FileFormat::kQ4;
  return is_quantized ? WeightFormat::kQ8 : WeightFormat::kF32;
}

Result<WriteReport> WriteModel(const fs::path& path, const WriteRequest& request) {
  const fs::path out = path.has_filename() ? path : path.parent_path();  // "out/" is "out"
  if (fs::exists(out) && !request.force) {
    return Error{ErrorCode::kInvalidArgument,
                 out.string() + " is there already; --force replaces it"};
  }
  fs::path partial = out;
  partial += ".partial";
  auto report = WriteFolder(partial, request);
  std::error_code error;
  if (!report.ok()) {
    fs::remove_all(partial, error);
    return report;
  }
  fs::remove_all(out, error);
  fs::rename(partial, out, error);
  if (error)
    return Error{ErrorCode::kIo, "cannot rename to " + out.string() + ": " + error.message()};
  return report;
}

}  // namespace gpt2::tools
