#include "weights_tools/model_folder.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/generation_config.h"
#include "engine/base/concat.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/converter.h"
#include "engine/convert/gguf_model.h"
#include "engine/format/config_json.h"
#include "engine/format/float16.h"
#include "engine/format/json.h"
#include "engine/format/safetensors.h"
#include "engine/format/sha256.h"
#include "engine/format/stored_weights.h"
#include "engine/format/vocabulary_files.h"
#include "engine/format/weight_plan.h"
#include "engine/format/weight_reader.h"
#include "engine/languages/language_json.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/tokenizer.h"
#include "weights_tools/adapters.h"
#include "weights_tools/files.h"
#include "weights_tools/other_models.h"
#include "weights_tools/progress.h"
#include "weights_tools/quantizer.h"

namespace gpt2::tools {
namespace {

std::string HashOf(const std::string& text) {
  Sha256 hash;
  hash.Update(std::as_bytes(std::span(text)));
  return ToHex(hash.Finish());
}

// Why `text` differs from `piece`, as the end of a message: web/src/model/sources/read-text.ts has
// the same rule.
std::string WhyDiffers(const std::string& text, const Piece& piece) {
  constexpr const char* kAgain =
      ". Copy it again, with the line \"* -text\" in .gitattributes, and exclude it from "
      "formatting";
  std::string unix_ends, other_ends;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    unix_ends += text[i];
    other_ends += text[i] == '\n' ? "\r\n" : std::string(1, text[i]);
  }
  if (HashOf(unix_ends) == piece.sha256 || HashOf(other_ends) == piece.sha256) {
    return std::string(": its line endings were changed, as by Git (core.autocrlf)") + kAgain;
  }
  const bool is_formatted = piece.path.ends_with(".json") && text.size() != piece.size &&
                            ParseJson(text, piece.path).ok();
  if (!is_formatted) return "";
  return std::string(": perhaps a formatter such as Prettier changed it") + kAgain;
}

// The bytes of `piece`, verified against weights.json.
Result<std::string> ReadChecked(const Folder& folder, const Piece& piece) {
  const std::string path = (folder.path() / piece.path).string();
  GPT2_ASSIGN(const std::uint64_t size, folder.SizeOf(piece.path));
  constexpr std::uint64_t kMostRead = 64 << 20;
  std::string bytes;
  if (size == piece.size || size <= kMostRead) {
    GPT2_ASSIGN(bytes, folder.Read(piece.path));
  }
  if (size != piece.size) {
    return Error{ErrorCode::kCorrupt, path + " is " + std::to_string(size) +
                                          " bytes, weights.json says " +
                                          std::to_string(piece.size) + WhyDiffers(bytes, piece)};
  }
  if (const std::string found = HashOf(bytes); found != piece.sha256) {
    return Error{ErrorCode::kCorrupt, path + " has SHA-256 " + found + ", weights.json says " +
                                          piece.sha256 + WhyDiffers(bytes, piece)};
  }
  return bytes;
}

Status StreamPieces(const Folder& folder, const WeightsIndex& index, TakeBytes take) {
  Sha256 whole;
  for (const Piece& piece : index.pieces) {
    GPT2_ASSIGN(const std::string text, ReadChecked(folder, piece));
    const auto bytes = std::as_bytes(std::span(text));
    whole.Update(bytes);
    GPT2_TRY(take(bytes));
  }
  if (const std::string found = ToHex(whole.Finish()); found != index.sha256) {
    return Error{ErrorCode::kCorrupt, folder.path().string() +
                                          ": the pieces together have SHA-256 " + found +
                                          ", weights.json says " + index.sha256};
  }
  return Done{};
}

// A name that stays inside its folder and needs no escaping in an address. The page has the same
// rule (web/src/model/weights-index.ts).
bool IsPlainName(const std::string& name) {
  constexpr std::string_view kNameCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
  return !name.empty() && name[0] != '.' &&
         name.find_first_not_of(kNameCharacters) == std::string::npos;
}

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The page holds a whole piece in memory to verify it: the same limit as in weights-index.ts.
constexpr std::int64_t kLargestPiece = 64 * 1024 * 1024;
constexpr std::int64_t kLargestFile = std::int64_t{1} << 53;  // exact in a JavaScript number

// An entry of weights.json with at most `most` bytes, whose name is in `name_key`.
Result<Piece> ReadPiece(const Json& json, const char* name_key, std::int64_t most) {
  const bool has_fields = json.is_object() && json.contains(name_key) &&
                          json[name_key].is_string() && json.contains("size") &&
                          json.contains("sha256") && json["sha256"].is_string();
  const auto size = has_fields ? WholeNumber(json["size"], 0, most) : std::nullopt;
  if (!size || !IsPlainName(json[name_key].get<std::string>()) ||
      !IsSha256(json["sha256"].get<std::string>())) {
    return Error{ErrorCode::kCorrupt, std::string("weights.json: expected {\"") + name_key +
                                          "\": file name, \"size\": bytes, \"sha256\": 64 "
                                          "hexadecimal digits}, found " +
                                          Shown(json)};
  }
  return Piece{json[name_key].get<std::string>(), static_cast<std::uint64_t>(*size),
               json["sha256"].get<std::string>()};
}

// The list `key` of weights.json. Its names are added to `names`, in which each may occur only
// once.
Result<std::vector<Piece>> ReadPieces(const Json& json, const char* key,
                                      std::set<std::string>& names) {
  const Json* const list = FindMember(json, key);
  if (list == nullptr || !list->is_array()) {
    return Error{ErrorCode::kCorrupt, std::string("weights.json: expected a list \"") + key +
                                          "\", found " +
                                          (list == nullptr ? "nothing" : Shown(*list))};
  }
  std::vector<Piece> pieces;
  for (const Json& entry : *list) {
    GPT2_ASSIGN(Piece piece, ReadPiece(entry, "path", kLargestPiece));
    if (!names.insert(piece.path).second) {
      return Error{ErrorCode::kCorrupt, "weights.json lists \"" + piece.path + "\" twice"};
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// A model's files except the weights, each verified against weights.json.
class TextFiles {
 public:
  static Result<TextFiles> Open(const Folder& folder) {
    TextFiles files(folder);
    if (folder.Has(kWeightsIndexFile)) {
      GPT2_ASSIGN(const std::string text, folder.Read(kWeightsIndexFile));
      auto index = ReadWeightsIndex(text);
      if (!index.ok()) return InFolder(folder, index.error());
      files.index_ = std::move(index.value());
    }
    return files;
  }

  // The contents of weights.json; nothing if there is none.
  const std::optional<WeightsIndex>& index() const { return index_; }

  // A listed file must exist.
  bool Has(const char* name) const { return folder_->Has(name) || Find(name) != nullptr; }

  Result<std::string> Read(const char* name) const {
    const Piece* const piece = Find(name);
    return piece == nullptr ? folder_->Read(name) : ReadChecked(*folder_, *piece);
  }

 private:
  explicit TextFiles(const Folder& folder) : folder_(&folder) {}

  const Piece* Find(const char* name) const {
    if (!index_) return nullptr;
    for (const Piece& file : index_->files) {
      if (file.path == name) return &file;
    }
    return nullptr;
  }

  const Folder* folder_;
  std::optional<WeightsIndex> index_;
};

}  // namespace

std::string PieceName(std::size_t index) {
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
  return std::string(kWeightsFile) + "." + number;
}

std::uint64_t PieceBytes(std::uint64_t total) {
  std::uint64_t bytes = 4 << 20;
  while (bytes * 1000 < total) bytes *= 2;
  return bytes;
}

bool IsPieceName(const std::string& name) {
  const std::string start = std::string(kWeightsFile) + ".";
  return name.size() >= start.size() + 3 && name.starts_with(start) &&
         name.find_first_not_of("0123456789", start.size()) == std::string::npos;
}

bool IsModelFile(const std::string& name) {
  for (const char* file :
       {kConfigFile, kTokenizerFile, kVocabFile, kBertVocabFile, kMergesFile, kTokenizerConfigFile,
        kSpecialTokensFile, kAddedTokensFile, kGenerationConfigFile, kWeightsIndexFile,
        kWeightsFile, kGitAttributesFile}) {
    if (name == file) return true;
  }
  for (const char* file : kSentencePieceFiles) {
    if (name == file) return true;
  }
  return IsPieceName(name);
}

Status VocabularyFiles::ForEach(
    FunctionRef<Status(const char* name, const std::string& text)> take) const {
  const std::pair<const char*, const std::string*> files[] = {
      {kTokenizerFile, &tokenizer_json},
      {kVocabFile, &vocab_json},
      {kMergesFile, &merges_txt},
      {kTokenizerConfigFile, &tokenizer_config},
      {kSpecialTokensFile, &special_tokens_map},
      {kAddedTokensFile, &added_tokens},
      {kBertVocabFile, &vocab_txt},
      {sentence_piece_name, &sentence_piece}};
  for (const auto& [name, text] : files) {
    if (!text->empty()) GPT2_TRY(take(name, *text));
  }
  return Done{};
}

Result<WeightsIndex> ReadWeightsIndex(const std::string& text) {
  GPT2_ASSIGN(const ParsedJson parsed, ParseJson(text, kWeightsIndexFile));
  const Json& json = *parsed;
  GPT2_ASSIGN(const Piece whole, ReadPiece(json, "file", kLargestFile));
  WeightsIndex index{whole.path, whole.size, whole.sha256, {}, {}};
  const Json* const version = FindMember(json, "version");
  const bool lists_files = version != nullptr;
  if (lists_files && !WholeNumber(*version, kIndexVersion, kIndexVersion)) {
    return Error{ErrorCode::kUnsupported, "weights.json has version " + Shown(*version) +
                                              ", expected " + std::to_string(kIndexVersion)};
  }
  std::set<std::string> names;
  GPT2_ASSIGN(index.pieces, ReadPieces(json, "pieces", names));
  if (lists_files) {
    GPT2_ASSIGN(index.files, ReadPieces(json, "files", names));
  }
  std::uint64_t total = 0;
  for (const Piece& piece : index.pieces) {
    if (piece.size > index.size - total) {
      return Error{ErrorCode::kCorrupt,
                   "weights.json: its pieces have more bytes together than "
                   "its size, " +
                       std::to_string(index.size)};
    }
    total += piece.size;
  }
  if (total != index.size) {
    return Error{ErrorCode::kCorrupt, "weights.json: its pieces have " + std::to_string(total) +
                                          " bytes together, but its size is " +
                                          std::to_string(index.size)};
  }
  return index;
}

std::set<std::string> PresentTensors(const LoadedModel& model) {
  std::set<std::string> names;
  for (const TensorInfo& tensor : model.header.tensors) names.insert(CanonicalName(tensor.name));
  return names;
}

namespace {

// The name of the SentencePiece file; null if there is none.
const char* SentencePieceFileIn(const TextFiles& texts) {
  for (const char* name : kSentencePieceFiles) {
    if (texts.Has(name)) return name;
  }
  return nullptr;
}

bool HasTokenizer(const TextFiles& texts) {
  return texts.Has(kTokenizerFile) || texts.Has(kVocabFile) || texts.Has(kMergesFile) ||
         texts.Has(kBertVocabFile) || SentencePieceFileIn(texts) != nullptr;
}

Result<VocabularyFiles> ReadVocabularyFiles(const TextFiles& texts) {
  VocabularyFiles files;
  if (texts.Has(kTokenizerFile)) {
    GPT2_ASSIGN(files.tokenizer_json, texts.Read(kTokenizerFile));
    if (!files.tokenizer_json.empty()) return files;
    return Error{ErrorCode::kCorrupt, "tokenizer.json is empty, expected JSON"};
  }
  const char* const sentence_piece = SentencePieceFileIn(texts);
  const bool has_pairs = texts.Has(kVocabFile) || texts.Has(kMergesFile);
  if (!has_pairs && texts.Has(kBertVocabFile)) {
    GPT2_ASSIGN(files.vocab_txt, texts.Read(kBertVocabFile));
  } else if (!has_pairs && sentence_piece != nullptr) {
    GPT2_ASSIGN(files.sentence_piece, texts.Read(sentence_piece));
    files.sentence_piece_name = sentence_piece;
    if (files.sentence_piece.empty()) {
      return Error{ErrorCode::kCorrupt, Concat(sentence_piece, " is empty")};
    }
  } else {
    GPT2_ASSIGN(files.vocab_json, texts.Read(kVocabFile));
    GPT2_ASSIGN(files.merges_txt, texts.Read(kMergesFile));
  }
  const auto read = [&](const char* name, std::string& text) -> Status {
    if (!texts.Has(name)) return Done{};
    GPT2_ASSIGN(text, texts.Read(name));
    return Done{};
  };
  GPT2_TRY(read(kTokenizerConfigFile, files.tokenizer_config));
  GPT2_TRY(read(kSpecialTokensFile, files.special_tokens_map));
  GPT2_TRY(read(kAddedTokensFile, files.added_tokens));
  return files;
}

Result<Tokenizer> MakeTokenizer(const Folder& folder, const VocabularyFiles& files,
                                std::size_t vocab_size) {
  auto tokenizer = ReadAnyTokenizer(files.views(), vocab_size);
  if (!tokenizer.ok()) return InFolder(folder, tokenizer.error());
  return tokenizer;
}

// The converter's output for floats that become `format`.
StoredWeights ConvertedTo(WeightFormat format) {
  if (format == WeightFormat::kQ8) return StoredWeights::kQ8;
  return format == WeightFormat::kQ4 ? StoredWeights::kQ4 : StoredWeights::kF32;
}

Status RoundToHalf(std::span<float> values) {
  for (float& value : values) {
    const auto half = NarrowFloat16(value);
    if (!half) return CorruptWeights("a value is too large for float16: use --weights f32");
    value = WidenFloat16(*half);
  }
  return Done{};
}

// Quantizes a model of floats to 8 bits, as the converter does.
Status QuantizeFloats(Weights& weights) {
  for (const TensorSpec& spec : TensorSpecs(weights.config)) {
    const auto [matrix, floats] = Bind(spec, weights);
    if (spec.is_vector()) continue;
    if (matrix == nullptr) {
      GPT2_TRY(RoundToHalf({floats->data(), spec.rows * spec.cols}));
    } else if (MatrixFormat(StoredWeights::kQ8, spec) == WeightFormat::kQ8) {
      GPT2_ASSIGN(*matrix, QuantizeToQ8(*matrix));
    } else {
      std::vector<float> values(spec.cols);
      for (std::size_t row = 0; row < spec.rows; ++row) {
        matrix->ReadRow(row, values);
        GPT2_TRY(RoundToHalf(values));
        matrix->SetRow(row, values);
      }
    }
  }
  return Done{};
}

// Moves the weights and what was found in them.
Status Finish(WeightReader& reader, LoadedModel& model) {
  GPT2_ASSIGN(model.weights, reader.Finish());
  model.header = reader.header();
  model.config.config = model.weights->config;
  model.warnings.insert(model.warnings.begin(), reader.warnings().begin(), reader.warnings().end());
  return Done{};
}

Result<LoadedModel> LoadGguf(const fs::path& path, WeightFormat float_format,
                             std::vector<Adapter> adapters = {}) {
  LoadedModel model;
  std::optional<WeightReader> reader;
  Progress progress("loading " + path.string());
  std::uint64_t done = 0;
  const auto begin = [&](const ConvertedFolder& texts) -> Status {
    GPT2_ASSIGN(model.config, ReadConfigJson(texts.config));
    GPT2_ASSIGN(ParsedJson config_json, ParseJson(texts.config, kConfigFile));
    model.config_json = config_json.Take();
    if (const GgufVocabulary& files = texts.vocabulary; !files.vocab.empty()) {
      model.vocabulary = VocabularyFiles{.vocab_json = files.vocab,
                                         .merges_txt = files.merges,
                                         .tokenizer_config = files.tokenizer_config};
      GPT2_ASSIGN(model.tokenizer,
                  ReadTokenizer(model.vocabulary->views(), model.config.config.vocab_size));
    }
    reader.emplace(model.config);
    model.file_bytes = texts.weight_bytes;       // for the progress
    model.config.weights = StoredWeights::kF32;  // inspect shows its values as floats
    return Done{};
  };
  const auto feed = [&](std::span<const std::byte> bytes) {
    progress.Update(done += bytes.size(), model.file_bytes);
    return reader->Feed(bytes);
  };
  const auto load = [&]() -> Status {
    GPT2_ASSIGN(model.file_bytes,
                StreamGguf(path, ConvertedTo(float_format), std::move(adapters), begin, feed));
    return Finish(*reader, model);
  };
  if (const Status loaded = load(); !loaded.ok()) {
    return Error{loaded.error().code, path.string() + ": " + loaded.error().message};
  }
  return model;
}

}  // namespace

Result<LoadedModel> LoadModel(const fs::path& path, WeightFormat float_format,
                              std::optional<WeightFormat> converted_format,
                              const std::vector<AdapterFolder>& adapter_folders) {
  GPT2_ASSIGN(std::vector<Adapter> adapters, ReadAdapters(adapter_folders));
  if (IsGgufName(path) && !fs::is_directory(path)) {
    return LoadGguf(path, float_format, std::move(adapters));
  }
  GPT2_ASSIGN(const Folder folder, Folder::Open(path));
  GPT2_ASSIGN(const TextFiles texts, TextFiles::Open(folder));
  LoadedModel model;
  GPT2_ASSIGN(const std::string config_text, texts.Read(kConfigFile));
  auto config = ReadConfigJson(config_text);
  if (!config.ok()) return InFolder(folder, config.error());
  model.config = config.value();
  GPT2_ASSIGN(ParsedJson config_json, ParseJson(config_text, kConfigFile));
  model.config_json = config_json.Take();
  if (texts.Has(kGenerationConfigFile)) {
    GPT2_ASSIGN(model.generation_config, texts.Read(kGenerationConfigFile));
    auto defaults = ReadGenerationConfig(*model.generation_config);
    if (!defaults.ok()) return InFolder(folder, defaults.error());
    model.defaults = std::move(defaults.value());
    model.warnings = IgnoredSettings(*model.generation_config);
  }
  const std::optional<StoredWeights> stored = model.config.weights;
  if (stored && stored != StoredWeights::kQ4 && converted_format == WeightFormat::kQ4) {
    return Error{ErrorCode::kInvalidArgument, path.string() + " is already converted to " +
                                                  std::string(StoredWeightsName(*stored)) +
                                                  ": convert the original model instead"};
  }
  const bool is_converted = stored || texts.index();
  if (is_converted && !adapters.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        path.string() + " is already converted: merge the adapter into the original model instead"};
  }
  std::optional<WeightReader> reader;
  Progress progress("loading " + path.string());
  std::uint64_t done = 0;
  const auto feed = [&](std::span<const std::byte> bytes) -> Status {
    progress.Update(done += bytes.size(), model.file_bytes);
    const Status status = reader->Feed(bytes);
    if (!status.ok()) return InFolder(folder, status.error());
    return Done{};
  };
  const auto begin = [&](const ConvertedFolder& converted) -> Status {
    GPT2_ASSIGN(const ModelConfig found, ReadConfigJson(converted.config));
    model.config.other_heads = found.other_heads;
    model.file_bytes = converted.weight_bytes;  // for the progress
    reader.emplace(found);
    return Done{};
  };
  if (is_converted) reader.emplace(model.config);
  if (!is_converted) {
    GPT2_ASSIGN(model.file_bytes, StreamHub(folder, config_text, ConvertedTo(float_format),
                                            std::move(adapters), begin, feed));
  } else if (texts.index()) {
    model.file_bytes = texts.index()->size;
    GPT2_TRY(StreamPieces(folder, *texts.index(), feed));
  } else {
    GPT2_ASSIGN(model.file_bytes, folder.SizeOf(kWeightsFile));
    GPT2_TRY(folder.Stream(kWeightsFile, feed));
  }
  const Status finished = Finish(*reader, model);
  if (!finished.ok()) return InFolder(folder, finished.error());
  const bool is_float = stored && !InfoOf(*stored).has_codes();
  if (is_float && converted_format.value_or(float_format) == WeightFormat::kQ8) {
    GPT2_TRY(QuantizeFloats(*model.weights));
  }
  if (HasTokenizer(texts)) {
    GPT2_ASSIGN(model.vocabulary, ReadVocabularyFiles(texts));
    GPT2_ASSIGN(model.tokenizer,
                MakeTokenizer(folder, *model.vocabulary, model.config.config.vocab_size));
  }
  return model;
}

Result<Tokenizer> LoadTokenizer(const fs::path& path) {
  if (IsGgufName(path) && !fs::is_directory(path)) {
    GPT2_ASSIGN(LoadedModel model, LoadGguf(path, WeightFormat::kQ8));
    if (model.tokenizer) return std::move(*model.tokenizer);
    return Error{ErrorCode::kNotFound,
                 path.string() + " has no tokenizer, which this command needs"};
  }
  GPT2_ASSIGN(const Folder folder, Folder::Open(path));
  GPT2_ASSIGN(const TextFiles texts, TextFiles::Open(folder));
  GPT2_ASSIGN(const VocabularyFiles files, ReadVocabularyFiles(texts));
  if (!texts.Has(kConfigFile)) {  // a folder may contain only a tokenizer: no matrix has more rows
    GPT2_ASSIGN(Tokenizer tokenizer, MakeTokenizer(folder, files, kMostVocabulary));
    tokenizer.SetRows(tokenizer.vocab_size());
    return tokenizer;
  }
  GPT2_ASSIGN(const std::string config_text, texts.Read(kConfigFile));
  const auto config = ReadConfigJson(config_text);
  if (!config.ok()) return InFolder(folder, config.error());
  return MakeTokenizer(folder, files, config.value().config.vocab_size);
}

}  // namespace gpt2::tools
