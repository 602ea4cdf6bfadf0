#include "weights_tools/other_models.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/converter.h"
#include "engine/convert/torch_file.h"
#include "engine/format/json.h"
#include "engine/format/safetensors.h"
#include "engine/format/stored_weights.h"
#include "engine/text/utf8.h"
#include "weights_tools/files.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {
namespace {

// In order of preference, after model.safetensors. The page has the same order
// (web/src/model/convert/weight-files.ts).
constexpr const char* kShardIndexFile = "model.safetensors.index.json";
constexpr const char* kTorchFile = "pytorch_model.bin";
constexpr const char* kTorchIndexFile = "pytorch_model.bin.index.json";

// Converts the files `names` of `folder`, one after another. Returns the number of their bytes.
// Errors of the converter begin with `where`.
Result<std::uint64_t> Stream(const Folder& folder, const std::set<std::string>& names,
                             const std::string& where, Converter& converter, TakeTexts begin,
                             TakeBytes take) {
  std::uint64_t read = 0;
  bool has_begun = false;
  const auto named = [&](const Error& error) { return Error{error.code, where + error.message}; };
  for (const std::string& name : names) {
    const auto convert = [&](std::span<const std::byte> bytes) -> Status {
      read += bytes.size();
      while (true) {
        const auto out = converter.Take(bytes);
        if (!out.ok()) return named(out.error());
        if (out.value().empty()) return Done{};
        if (!std::exchange(has_begun, true)) GPT2_TRY(begin(*converter.folder()));
        GPT2_TRY(take(out.value()));
      }
    };
    GPT2_TRY(folder.Stream(name, convert));
  }
  const Status finished = converter.Finish();
  if (!finished.ok()) return named(finished.error());
  return read;
}

// C0 and C1 control characters, line separators, and marks that reorder what a terminal shows.
bool IsInvisible(char32_t character) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x0, 0x1f},      {0x7f, 0x9f},     {0x61c, 0x61c},  {0x200b, 0x200f},
      {0x2028, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}};
  return std::ranges::any_of(kRanges, [character](const auto& range) {
    return character >= range.first && character <= range.second;
  });
}

// Whether a file in a model's folder may have this name on any system. The page has the same rule
// (web/src/shared/file-names.mjs).
bool IsFileName(std::string_view name) {
  constexpr std::size_t kLongestName = 1024;
  if (name.size() > kLongestName || name.find_first_not_of(". ") == std::string_view::npos ||
      name.find_first_of("/\\:") != std::string_view::npos) {
    return false;
  }
  while (!name.empty()) {
    const Utf8Character next = ReadUtf8(name);
    if (next.code_point == kInvalidCodePoint || IsInvisible(next.code_point)) return false;
    name.remove_prefix(next.size);
  }
  return true;
}

// The names of the files, in the order of their numbers.
Result<std::set<std::string>> ShardNames(const Folder& folder, const char* index_file) {
  GPT2_ASSIGN(const std::string text, folder.Read(index_file));
  GPT2_ASSIGN(const ParsedJson parsed, ParseJson(text, index_file));
  const Json* const map = FindMember(*parsed, "weight_map");
  std::set<std::string> names;
  if (map != nullptr && map->is_object()) {
    for (const auto& [tensor, file] : map->items()) {
      if (file.is_string() && IsFileName(file.get_ref<const std::string&>())) {
        names.insert(file.get<std::string>());
      } else {
        names.clear();
        break;
      }
    }
  }
  if (!names.empty()) return names;
  return Error{ErrorCode::kCorrupt,
               Concat(index_file,
                      ": expected \"weight_map\" with the name of a file for each tensor, found ",
                      map == nullptr ? "nothing" : Shown(*map))};
}

// All bytes before the tensors of a safetensors file.
Result<std::string> ReadHead(const Folder& folder, const std::string& name) {
  GPT2_ASSIGN(const std::string prefix, folder.ReadPart(name, 0, kSafetensorsPrefix));
  const auto length = ReadSafetensorsPrefix(prefix);
  if (!length.ok()) {
    return Error{length.error().code,
                 Concat("the shard ", name, " is not valid as ", length.error().message)};
  }
  return folder.ReadPart(name, 0, kSafetensorsPrefix + length.value());
}

using MadeConverter = Result<std::unique_ptr<Converter>>;

MadeConverter OfSafetensors(const Folder& folder, const std::set<std::string>& names,
                            std::string_view config_json, StoredWeights weights,
                            std::vector<Adapter> adapters) {
  std::string heads;
  for (const std::string& name : names) {
    if (names.size() == 1) break;
    GPT2_ASSIGN(const std::string head, ReadHead(folder, name));
    heads += head;
  }
  return Converter::OfSafetensors(config_json, heads, weights, std::move(adapters));
}

MadeConverter OfTorch(const Folder& folder, const std::set<std::string>& names,
                      std::string_view config_json, StoredWeights weights,
                      std::vector<Adapter> adapters) {
  std::vector<TorchFile> files;
  for (const std::string& name : names) {
    GPT2_ASSIGN(const std::uint64_t size, folder.SizeOf(name));
    TorchFile& file = files.emplace_back(name, size);
    while (const auto wanted = file.wanted()) {
      GPT2_ASSIGN(const std::string part, folder.ReadPart(name, wanted->begin, wanted->size));
      GPT2_TRY(file.Give(part));
    }
  }
  return Converter::OfTorch(config_json, std::move(files), weights, std::move(adapters));
}

}  // namespace

bool IsGgufName(const fs::path& path) {
  return path.extension() == ".gguf";
}

Result<std::uint64_t> StreamGguf(const fs::path& path, StoredWeights weights,
                                 std::vector<Adapter> adapters, TakeTexts begin, TakeBytes take) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  GPT2_ASSIGN(const Folder folder, Folder::Open(parent));
  const auto converter = Converter::OfGguf(weights, std::move(adapters));
  return Stream(folder, {path.filename().string()}, "", *converter, begin, take);
}

Result<std::uint64_t> StreamHub(const Folder& folder, std::string_view config_json,
                                StoredWeights weights, std::vector<Adapter> adapters,
                                TakeTexts begin, TakeBytes take) {
  const bool has_shards = folder.Has(kShardIndexFile), has_torch = folder.Has(kTorchFile);
  const bool has_others = has_shards || has_torch || folder.Has(kTorchIndexFile);
  const bool is_torch = !folder.Has(kWeightsFile) && has_others && !has_shards;
  std::set<std::string> names = {is_torch ? kTorchFile : kWeightsFile};
  if (!folder.Has(*names.begin()) && has_others) {
    GPT2_ASSIGN(names, ShardNames(folder, is_torch ? kTorchIndexFile : kShardIndexFile));
  }
  const auto converter =
      is_torch ? OfTorch(folder, names, config_json, weights, std::move(adapters))
               : OfSafetensors(folder, names, config_json, weights, std::move(adapters));
  if (!converter.ok()) return converter.error();
  return Stream(folder, names, folder.path().string() + "/", *converter.value(), begin, take);
}

}  // namespace gpt2::tools
