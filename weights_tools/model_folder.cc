#include "weights_tools/model_folder.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "engine/base/function_ref.h"
#include "engine/format/config_json.h"
#include "engine/format/sha256.h"
#include "engine/format/vocabulary_files.h"
#include "weights_tools/progress.h"

namespace gpt2::tools {
namespace {

Error CannotRead(const fs::path& path) {
  return Error{ErrorCode::kIo, "cannot read " + path.string() + ": " + std::strerror(errno)};
}

// The error of a file in `folder`, which its reader knows only by name.
Error InFolder(const fs::path& folder, const Error& error) {
  return Error{error.code, folder.string() + "/" + error.message};
}

// Calls take(bytes) for the file's bytes in order.
Status StreamFile(const fs::path& path, FunctionRef<Status(std::span<const std::byte>)> take) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return CannotRead(path);
  std::vector<std::byte> block(1 << 20);
  while (in) {
    in.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(block.size()));
    GPT2_TRY(take(std::span(block).first(static_cast<std::size_t>(in.gcount()))));
  }
  if (in.bad()) return CannotRead(path);
  return Done{};
}

Status StreamPieces(const fs::path& folder, const WeightsIndex& index,
                    FunctionRef<Status(std::span<const std::byte>)> take) {
  Sha256 whole;
  for (const Piece& piece : index.pieces) {
    const fs::path path = folder / piece.path;
    std::error_code error;
    const std::uint64_t size = fs::file_size(path, error);
    if (error)
      return Error{ErrorCode::kIo, "cannot read " + path.string() + ": " + error.message()};
    if (size != piece.size) {
      return Error{ErrorCode::kCorrupt, path.string() + " is " + std::to_string(size) +
                                            " bytes, weights.json says " +
                                            std::to_string(piece.size)};
    }
    // Checked before a byte of it is used.
    GPT2_ASSIGN(const std::string text, ReadFile(path));
    const auto bytes = std::as_bytes(std::span(text));
    Sha256 hash;
    hash.Update(bytes);
    if (const std::string found = ToHex(hash.Finish()); found != piece.sha256) {
      return Error{ErrorCode::kCorrupt,
                   path.string() + " has SHA-256 " + found + ", weights.json says " + piece.sha256};
    }
    whole.Update(bytes);
    GPT2_TRY(take(bytes));
  }
  if (const std::string found = ToHex(whole.Finish()); found != index.sha256) {
    return Error{ErrorCode::kCorrupt, "the pieces together have SHA-256 " + found +
                                          ", weights.json says " + index.sha256};
  }
  return Done{};
}

// A path that stays inside its folder.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\\') == std::string::npos;
}

Result<Piece> ReadPiece(const Json& json, const char* name_key) {
  const bool has_fields = json.is_object() && json.contains(name_key) &&
                          json[name_key].is_string() && json.contains("size") &&
                          json.contains("sha256") && json["sha256"].is_string();
  const auto size = has_fields ? WholeNumber(json["size"], 0, std::int64_t{1} << 53) : std::nullopt;
  if (!size || !IsPlainName(json[name_key].get<std::string>())) {
    return Error{ErrorCode::kCorrupt, std::string("weights.json: expected {\"") + name_key +
                                          "\": file name, \"size\": bytes, \"sha256\": text}"};
  }
  return Piece{json[name_key].get<std::string>(), static_cast<std::uint64_t>(*size),
               json["sha256"].get<std::string>()};
}

}  // namespace

Result<std::string> ReadFile(const fs::path& path) {
  std::string text;
  GPT2_TRY(StreamFile(path, [&](std::span<const std::byte> bytes) -> Status {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Done{};
  }));
  return text;
}

Result<WeightsIndex> ReadWeightsIndex(const std::string& text) {
  GPT2_ASSIGN(const Json json, ParseJson(text, kWeightsIndexFile));
  GPT2_ASSIGN(const Piece whole, ReadPiece(json, "file"));
  WeightsIndex index{whole.path, whole.size, whole.sha256, {}};
  if (!json.contains("pieces") || !json["pieces"].is_array()) {
    return Error{ErrorCode::kCorrupt, "weights.json: expected a list \"pieces\""};
  }
  std::uint64_t total = 0;
  for (const Json& entry : json["pieces"]) {
    GPT2_ASSIGN(Piece piece, ReadPiece(entry, "path"));
    total += piece.size;
    index.pieces.push_back(std::move(piece));
  }
  if (total != index.size) {
    return Error{ErrorCode::kCorrupt, "weights.json: its pieces are " + std::to_string(total) +
                                          " bytes together, its size is " +
                                          std::to_string(index.size)};
  }
  return index;
}

std::set<std::string> PresentSlots(const LoadedModel& model) {
  std::set<std::string> names;
  for (const TensorInfo& tensor : model.header.tensors) names.insert(SlotName(tensor.name));
  return names;
}

Result<LoadedModel> LoadModel(const fs::path& folder, WeightFormat float_format) {
  LoadedModel model;
  GPT2_ASSIGN(const std::string config_text, ReadFile(folder / kConfigFile));
  auto config = ReadConfigJson(config_text);
  if (!config.ok()) return InFolder(folder, config.error());
  model.config = config.value();
  WeightReader reader(model.config, float_format);
  Progress progress("loading " + folder.string());
  std::uint64_t done = 0;
  const auto feed = [&](std::span<const std::byte> bytes) -> Status {
    done += bytes.size();
    progress.Update(done, model.file_bytes);
    const Status status = reader.Feed(bytes);
    if (!status.ok()) return InFolder(folder, status.error());
    return Done{};
  };
  if (fs::exists(folder / kWeightsIndexFile)) {
    GPT2_ASSIGN(const std::string text, ReadFile(folder / kWeightsIndexFile));
    auto index = ReadWeightsIndex(text);
    if (!index.ok()) return InFolder(folder, index.error());
    model.file_bytes = index.value().size;
    GPT2_TRY(StreamPieces(folder, index.value(), feed));
  } else {
    std::error_code error;
    model.file_bytes = fs::file_size(folder / kWeightsFile, error);
    GPT2_TRY(StreamFile(folder / kWeightsFile, feed));
  }
  auto weights = reader.Finish();
  if (!weights.ok()) return InFolder(folder, weights.error());
  model.weights = std::move(weights.value());
  model.header = reader.header();
  if (fs::exists(folder / kVocabFile) || fs::exists(folder / kMergesFile)) {
    GPT2_ASSIGN(model.tokenizer, LoadTokenizer(folder));
  }
  return model;
}

Result<Tokenizer> LoadTokenizer(const fs::path& folder) {
  // A tokenizer's files may stand alone.
  std::size_t vocab_size = kMostVocabulary;
  if (fs::exists(folder / kConfigFile)) {
    GPT2_ASSIGN(const std::string config_text, ReadFile(folder / kConfigFile));
    const auto config = ReadConfigJson(config_text);
    if (!config.ok()) return InFolder(folder, config.error());
    vocab_size = config.value().config.vocab_size;
  }
  GPT2_ASSIGN(const std::string vocab, ReadFile(folder / kVocabFile));
  GPT2_ASSIGN(const std::string merges, ReadFile(folder / kMergesFile));
  auto tokenizer = ReadTokenizer(vocab, merges, vocab_size);
  if (!tokenizer.ok()) return InFolder(folder, tokenizer.error());
  return tokenizer;
}

}  // namespace gpt2::tools
