#include "weights_tools/model_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/convert/stored_tensor.h"
#include "engine/format/code_rows.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/safetensors.h"
#include "engine/format/sha256.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "engine/model/weights.h"
#include "weights_tools/files.h"
#include "weights_tools/interruption.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/output_folder.h"
#include "weights_tools/progress.h"

namespace gpt2::tools {
namespace {

Status WriteText(OutputFolder& folder, const std::string& name, const std::string& text) {
  GPT2_ASSIGN(OutputFile file, folder.Create(name));
  GPT2_TRY(file.Write(std::as_bytes(std::span(text))));
  return file.Close();
}

// An entry of weights.json.
Json EntryOf(const std::string& path, std::uint64_t size, Sha256& hash) {
  return {{"path", path}, {"size", size}, {"sha256", ToHex(hash.Finish())}};
}

// Writes pieces of equal size, and hashes them.
class PieceWriter {
 public:
  // `total`: all bytes that will be written.
  PieceWriter(OutputFolder& folder, std::uint64_t total)
      : folder_(&folder), piece_bytes_(PieceBytes(total)) {}

  Status Write(std::span<const std::byte> bytes) {
    whole_.Update(bytes);
    while (!bytes.empty()) {
      if (!file_) GPT2_TRY(Open());
      const auto take = static_cast<std::size_t>(
          std::min<std::uint64_t>(bytes.size(), piece_bytes_ - piece_.size));
      GPT2_TRY(file_->Write(bytes.first(take)));
      hash_.Update(bytes.first(take));
      piece_.size += take;
      total_ += take;
      bytes = bytes.subspan(take);
      if (piece_.size == piece_bytes_) GPT2_TRY(Close());
    }
    return Done{};
  }

  // Ends the last piece and writes weights.json, which also lists `files`.
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

  OutputFolder* folder_;
  std::uint64_t piece_bytes_;
  std::optional<OutputFile> file_;
  Piece piece_;
  Sha256 hash_;
  Sha256 whole_;
  Json pieces_ = Json::array();
  std::uint64_t total_ = 0;
};

// The tensors in file order.
std::vector<StoredTensor> PlanOutput(const std::vector<TensorSpec>& specs,
                                     const WriteRequest& request) {
  std::vector<StoredTensor> plan;
  for (const TensorSpec& spec : specs) {
    if (request.only != nullptr && !request.only->contains(spec.name)) continue;
    StoreTensor(spec, request.format, plan);
  }
  return plan;
}

// The bytes of row `row` of `tensor`.
Status RowBytes(const StoredTensor& tensor, const Weights& weights, std::size_t row,
                std::vector<std::byte>& bytes) {
  const auto [matrix, values] = Bind(*tensor.spec, weights);
  bytes.resize(tensor.RowBytes());
  if (tensor.has_codes()) {
    ReadCodes(*matrix, row, {reinterpret_cast<std::uint8_t*>(bytes.data()), tensor.cols});
    return Done{};
  }
  if (tensor.dtype == DType::kBF16) {
    std::vector<BFloat16> scales(tensor.cols);
    ReadScales(*matrix, row, scales);
    for (const BFloat16 scale : scales) {
      if (!std::isfinite(WidenBFloat16(scale))) return ScaleNotFinite(tensor, row);
    }
    std::memcpy(bytes.data(), scales.data(), bytes.size());
    return Done{};
  }
  if (matrix == nullptr) {
    return StoreFloats(tensor, {values->data() + row * tensor.cols, tensor.cols}, bytes.data());
  }
  std::vector<float> floats(tensor.cols);
  matrix->ReadRow(row, floats);
  return StoreFloats(tensor, floats, bytes.data());
}

// Writes the pieces and weights.json, which also lists `files`.
Result<WriteReport> WriteWeights(OutputFolder& folder, const WriteRequest& request,
                                 const Json& files) {
  const std::vector<TensorSpec> specs = TensorSpecs(request.weights->config);
  const std::vector<StoredTensor> plan = PlanOutput(specs, request);
  std::uint64_t total = 0;
  for (const StoredTensor& tensor : plan) total += tensor.Bytes();
  const std::string header = StoredHeader(plan, request.format);
  PieceWriter writer(folder, header.size() + total);
  GPT2_TRY(writer.Write(std::as_bytes(std::span(header))));
  Progress progress("writing " + folder.path().string());
  std::uint64_t done = 0;
  std::vector<std::byte> bytes;
  for (const StoredTensor& tensor : plan) {
    for (std::size_t row = 0; row < tensor.rows; ++row) {
      GPT2_TRY(RowBytes(tensor, *request.weights, row, bytes));
      GPT2_TRY(writer.Write(bytes));
      progress.Update(done += bytes.size(), total);
    }
  }
  return writer.Finish(files);
}

Result<WriteReport> WriteFolder(OutputFolder& folder, const WriteRequest& request) {
  Json config = request.config;
  config[std::string(kQuantizationConfigKey)] =
      Json::parse(QuantizationConfig(request.format, request.other_heads));
  Json files = Json::array();
  const auto write = [&](const char* file, const std::string& text) -> Status {
    Sha256 hash;
    hash.Update(std::as_bytes(std::span(text)));
    files.push_back(EntryOf(file, text.size(), hash));
    return WriteText(folder, file, text);
  };
  GPT2_TRY(write(kConfigFile, config.dump(2) + "\n"));
  if (request.vocabulary != nullptr) {
    GPT2_TRY(request.vocabulary->ForEach(write));
  }
  if (request.generation_config != nullptr) {
    GPT2_TRY(write(kGenerationConfigFile, *request.generation_config));
  }
  GPT2_TRY(WriteText(folder, kGitAttributesFile, "* -text\n"));
  return WriteWeights(folder, request, files);
}

}  // namespace

Result<WriteReport> WriteModel(const fs::path& path, const WriteRequest& request) {
  GPT2_TRY(CheckDestination(path, request.inputs, request.force));
  const Interruption until_clean;
  GPT2_ASSIGN(OutputFolder folder, OutputFolder::Make(path));
  GPT2_ASSIGN(WriteReport report, WriteFolder(folder, request));
  GPT2_ASSIGN(report.leftovers, folder.Commit(request.inputs, request.force));
  return report;
}

}  // namespace gpt2::tools
