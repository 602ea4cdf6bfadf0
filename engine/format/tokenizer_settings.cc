#include "engine/format/tokenizer_settings.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/tokenizer_fields.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/added_tokens.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

constexpr const char* kConfig = "tokenizer_config.json";
constexpr const char* kSpecial = "special_tokens_map.json";
constexpr const char* kAdded = "added_tokens.json";
// Ids without a token that may precede an added one: the tables stay about as small as the files.
constexpr std::int32_t kMostGap = 256;

Error Unsupported(std::string_view file, std::string_view key, const Json& found,
                  std::string_view expected) {
  return Error{ErrorCode::kUnsupported,
               Concat(file, ": \"", key, "\" is ", Shown(found), ", expected ", expected)};
}

Result<bool> ReadFlag(std::string_view file, const Json& json, const char* key, bool otherwise) {
  const Json* const value = field::FindValue(json, key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  return Unsupported(file, key, *value, "true or false");
}

// Collects the added tokens of all files: the first description of a token counts.
class Settings {
 public:
  explicit Settings(std::span<const std::string> tokens)
      : next_(static_cast<std::int32_t>(tokens.size())) {
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      if (!tokens[id].empty()) ids_.emplace(tokens[id], static_cast<std::int32_t>(id));
    }
  }

  TokenizerRules Take() {
    if (ids_.contains(std::string(kEndOfText))) {
      Add({.content = std::string(kEndOfText),
           .id = ids_[std::string(kEndOfText)],
           .is_special = true});
    }
    return std::move(rules_);
  }

  // The added tokens in tokenizer_config.json, with their ids.
  Status ReadDecoder(const Json& config) {
    const Json* const added = field::FindValue(config, "added_tokens_decoder");
    if (added == nullptr) return Done{};
    if (!added->is_object()) {
      return Unsupported(kConfig, "added_tokens_decoder", *added, "an object");
    }
    for (const auto& [id, token] : added->get_ref<const Json::object_t&>()) {
      GPT2_TRY(ReadDescribed(id, token));
    }
    return Done{};
  }

  // The rest of tokenizer_config.json.
  Status ReadConfig(const Json& json, std::span<const std::string_view> classes) {
    if (const Json* const name = field::FindValue(json, "tokenizer_class")) {
      const auto is_it = [&](std::string_view known) { return IsText(*name, known); };
      if (std::none_of(classes.begin(), classes.end(), is_it)) {
        std::string expected;
        for (const std::string_view known : classes) {
          expected += Concat(expected.empty() ? "" : " or ", "\"", known, "\"");
        }
        return Unsupported(kConfig, "tokenizer_class", *name, expected);
      }
    }
    GPT2_ASSIGN(const bool has_prefix, ReadFlag(kConfig, json, "add_prefix_space", false));
    if (has_prefix) rules_.prefix_space_at = 0;
    GPT2_TRY(ReadNamed(kConfig, json));
    GPT2_ASSIGN(const bool has_end, ReadFlag(kConfig, json, "add_eos_token", false));
    if (has_end) return Unsupported(kConfig, "add_eos_token", Json(true), "false");
    GPT2_ASSIGN(const bool has_beginning, ReadFlag(kConfig, json, "add_bos_token", false));
    if (!has_beginning) return Done{};
    const Json* const bos = field::FindValue(json, "bos_token");
    const Json* const content =
        bos == nullptr || bos->is_string() ? bos : field::FindValue(*bos, "content");
    const std::string name = content != nullptr && content->is_string()
                                 ? content->get<std::string>()
                                 : std::string(kEndOfText);
    const auto found = ids_.find(name);
    if (found == ids_.end()) return Unsupported(kConfig, "bos_token", Json(name), "a token");
    rules_.beginning = {found->second};
    return Done{};
  }

  // Tokens with a role, such as "pad_token". One without an id gets the next free one.
  Status ReadNamed(const char* file, const Json& json) {
    for (const char* key : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                            "cls_token", "mask_token"}) {
      if (const Json* const value = field::FindValue(json, key))
        GPT2_TRY(ReadRole(file, key, *value));
    }
    constexpr const char* kOthers = "additional_special_tokens";
    const Json* const others = field::FindValue(json, kOthers);
    if (others == nullptr) return Done{};
    if (!others->is_array()) return Unsupported(file, kOthers, *others, "an array");
    for (const Json& value : *others) GPT2_TRY(ReadRole(file, kOthers, value));
    return Done{};
  }

  // An entry of added_tokens.json.
  Status ReadPlain(const std::string& content, const Json& json) {
    const auto id = WholeNumber(json, 0, kMostVocabulary - 1);
    if (!id) return Unsupported(kAdded, content, json, "a token id");
    return Add(kAdded, {.content = content,
                        .id = static_cast<std::int32_t>(*id),
                        .is_special = special_.contains(content),
                        .is_normalized = !special_.contains(content)});
  }

  // Call this before added_tokens.json is read, which does not state which of its tokens are
  // special.
  void NoteSpecial(const Json& json) {
    const auto note = [this](const Json& value) {
      const Json* const content = value.is_string() ? &value : field::FindValue(value, "content");
      if (content != nullptr && content->is_string()) special_.emplace(*content, 0);
    };
    if (!json.is_object()) return;
    for (const auto& [key, value] : json.get_ref<const Json::object_t&>()) {
      if (key.ends_with("_token")) note(value);
      if (key != "additional_special_tokens" || !value.is_array()) continue;
      for (const Json& one : value) note(one);
    }
  }

 private:
  Status ReadFlags(std::string_view file, const Json& json, AddedToken& token) {
    GPT2_ASSIGN(token.is_single_word, ReadFlag(file, json, "single_word", false));
    GPT2_ASSIGN(token.strips_left, ReadFlag(file, json, "lstrip", false));
    GPT2_ASSIGN(token.strips_right, ReadFlag(file, json, "rstrip", false));
    GPT2_ASSIGN(token.is_normalized, ReadFlag(file, json, "normalized", !token.is_special));
    return Done{};
  }

  // An entry of added_tokens_decoder.
  Status ReadDescribed(const std::string& name, const Json& json) {
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    const Json* const content = field::FindValue(json, "content");
    if (error != std::errc() || end != name.data() + name.size() || id < 0 ||
        static_cast<std::size_t>(id) >= kMostVocabulary || content == nullptr ||
        !content->is_string()) {
      return Unsupported(kConfig, "added_tokens_decoder", json,
                         "token ids, each with an object that has a \"content\"");
    }
    AddedToken token{.content = content->get<std::string>(), .id = id};
    GPT2_ASSIGN(token.is_special, ReadFlag(kConfig, json, "special", false));
    GPT2_TRY(ReadFlags(kConfig, json, token));
    return Add(kConfig, std::move(token));
  }

  Status ReadRole(const char* file, const char* key, const Json& value) {
    const Json* const content = value.is_string() ? &value : field::FindValue(value, "content");
    if (content == nullptr || !content->is_string())
      return Unsupported(file, key, value, "a token");
    AddedToken token{.content = content->get<std::string>(), .is_special = true};
    if (token.content.empty()) return Done{};
    const auto found = ids_.find(token.content);
    token.id = found == ids_.end() ? next_ : found->second;
    if (value.is_object()) GPT2_TRY(ReadFlags(file, value, token));
    return Add(file, std::move(token));
  }

  Status Add(std::string_view file, AddedToken token) {
    if (token.content.empty() || token.content.size() > kMostAddedBytes) {
      return Error{ErrorCode::kUnsupported,
                   Concat(file, ": the token ", Quoted(token.content), " is ", token.content.size(),
                          " bytes, expected 1 to ", kMostAddedBytes)};
    }
    if (token.id > next_ + kMostGap) {
      return Error{ErrorCode::kUnsupported,
                   Concat(file, ": the token ", Quoted(token.content), " has the id ", token.id,
                          ", expected at most ", next_ + kMostGap)};
    }
    const auto found = ids_.find(token.content);
    if (found != ids_.end() && found->second != token.id) {
      return Error{ErrorCode::kUnsupported,
                   Concat(file, ": the token ", Quoted(token.content), " has the id ", token.id,
                          ", expected ", found->second)};
    }
    Add(std::move(token));
    return Done{};
  }

  void Add(AddedToken token) {
    ids_.emplace(token.content, token.id);
    next_ = std::max(next_, token.id + 1);
    if (is_added_.emplace(token.content, token.id).second) rules_.added.push_back(std::move(token));
  }

  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_map<std::string, std::int32_t> is_added_;
  std::unordered_map<std::string, std::int32_t> special_;
  std::int32_t next_;
  TokenizerRules rules_;
};

}  // namespace

Result<TokenizerRules> ReadTokenizerSettings(const TokenizerFiles& files,
                                             std::span<const std::string> tokens,
                                             std::span<const std::string_view> classes) {
  const auto parse = [](std::string_view text, const char* file) {
    return ParseJson(text.empty() ? "{}" : text, file);
  };
  GPT2_ASSIGN(const ParsedJson config, parse(files.tokenizer_config, kConfig));
  GPT2_ASSIGN(const ParsedJson special, parse(files.special_tokens_map, kSpecial));
  Settings settings(tokens);
  settings.NoteSpecial(*special);
  settings.NoteSpecial(*config);
  GPT2_TRY(settings.ReadDecoder(*config));
  if (!files.added_tokens.empty()) {
    GPT2_TRY(ForMembers(files.added_tokens, kAdded, [&](std::string& token, const Json& id) {
      return settings.ReadPlain(token, id);
    }));
  }
  GPT2_TRY(settings.ReadConfig(*config, classes));
  GPT2_TRY(settings.ReadNamed(kSpecial, *special));
  return settings.Take();
}

}  // namespace gpt2
