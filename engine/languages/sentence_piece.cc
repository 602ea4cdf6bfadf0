#include "engine/languages/sentence_piece.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/tokenizer_settings.h"
#include "engine/format/vocabulary_files.h"
#include "engine/languages/charsmap.h"
#include "engine/languages/language_tokenizer.h"
#include "engine/languages/pattern.h"
#include "engine/languages/sentence_piece_file.h"
#include "engine/languages/text_decoder.h"
#include "engine/languages/text_models.h"
#include "engine/languages/text_steps.h"
#include "engine/languages/tokenizer_config.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";  // U+2581, which stands for a space

constexpr std::string_view kClasses[] = {"T5Tokenizer", "T5TokenizerFast", "ReformerTokenizer",
                                         "ReformerTokenizerFast"};

// The settings of tokenizer_config.json, except its tokens.
struct T5Settings {
  bool is_t5 = false;  // T5Tokenizer has tokens of its own, and adds one after each text
  bool lowercases = false;
  bool adds_space = true;
  bool is_legacy = true;      // otherwise only the start of a text gets a space
  std::size_t extra_ids = 0;  // T5's tokens "<extra_id_0>" and so on
  std::string end;            // T5's
};

Result<T5Settings> ReadT5Settings(const Json& json, const Json& special) {
  constexpr std::int64_t kMostExtraIds = 1000;
  T5Settings settings;
  const Json* const name = config::FindSaid(json, "tokenizer_class");
  settings.is_t5 = name != nullptr && (IsText(*name, kClasses[0]) || IsText(*name, kClasses[1]));
  GPT2_ASSIGN(settings.lowercases, config::ReadFlag(json, "do_lower_case", false));
  GPT2_ASSIGN(settings.adds_space, config::ReadFlag(json, "add_prefix_space", true));
  GPT2_ASSIGN(settings.is_legacy, config::ReadFlag(json, "legacy", true));
  if (!settings.is_t5) return settings;
  GPT2_ASSIGN(settings.end, config::ReadRole(json, special, "eos_token", "</s>"));
  settings.extra_ids = 100;
  const Json* const count = config::FindSaid(json, "extra_ids");
  if (count == nullptr) return settings;
  const auto number = WholeNumber(*count, 0, kMostExtraIds);
  if (!number) return config::Unsupported("extra_ids", *count, Concat("0 to ", kMostExtraIds));
  settings.extra_ids = static_cast<std::size_t>(*number);
  return settings;
}

// The tokens of `file`, followed by T5's own.
std::vector<ScoredToken> TokensOf(const SentencePieceFile& file, const T5Settings& settings) {
  std::vector<ScoredToken> tokens;
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    const bool is_in_text = piece.type == SentencePieceFile::Type::kNormal ||
                            piece.type == SentencePieceFile::Type::kUserDefined;
    tokens.push_back({piece.text, piece.score, is_in_text});
  }
  for (std::size_t i = settings.extra_ids; i-- > 0;) {
    tokens.push_back({Concat("<extra_id_", i, ">"), 0, /*is_in_text=*/false});
  }
  return tokens;
}

// Adds the tokens that are found in a text before all rules to those of the settings.
void AddTokens(const SentencePieceFile& file, const T5Settings& settings,
               std::vector<AddedToken>& added) {
  std::unordered_set<std::string> known;
  for (const AddedToken& token : added) known.insert(token.content);
  const auto add = [&](std::string content, std::size_t id, bool is_special) {
    if (!known.insert(content).second) return;
    added.push_back({.content = std::move(content),
                     .id = static_cast<std::int32_t>(id),
                     .is_special = is_special});
  };
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const auto& [text, score, type] = file.pieces[id];
    const bool is_special =
        type == SentencePieceFile::Type::kControl || type == SentencePieceFile::Type::kUnknown;
    if (is_special || type == SentencePieceFile::Type::kUserDefined) add(text, id, is_special);
  }
  const std::size_t count = settings.extra_ids;
  for (std::size_t i = 0; i < count; ++i) {
    add(Concat("<extra_id_", i, ">"), file.pieces.size() + count - 1 - i, /*is_special=*/true);
  }
}

// Adds the steps that change a text, split it into pieces and, in reverse, decode tokens.
Status AddSteps(const SentencePieceFile& file, const T5Settings& settings, LanguageParts& parts) {
  const bool adds_space = file.adds_space && settings.adds_space;
  const std::string space(kSpace);
  if (settings.lowercases) parts.normalizers.push_back(LowercaseStep());
  if (!file.charsmap.empty()) {
    GPT2_ASSIGN(CharsMap map, CharsMap::Read(file.charsmap));
    parts.normalizers.push_back(CharsMapStep(std::move(map)));
  }
  if (file.falls_back_to_bytes) parts.decoders.push_back(ByteFallbackDecoder());
  if (file.removes_spaces) {
    parts.normalizers.push_back(PlainStep({.kind = Normalizer::Kind::kStrip,
                                           .pattern = {},
                                           .content = {},
                                           .strips_left = !adds_space,
                                           .strips_right = true}));
    GPT2_ASSIGN(Pattern spaces, Pattern::Read(" {2,}"));
    parts.normalizers.push_back(ReplaceStep(std::move(spaces), space));
    const PrependScheme scheme = !adds_space          ? PrependScheme::kNever
                                 : settings.is_legacy ? PrependScheme::kAlways
                                                      : PrependScheme::kFirst;
    parts.cutters.push_back(MetaspaceCutter(space, scheme, /*is_split=*/true));
    parts.decoders.push_back(MetaspaceDecoder(space, adds_space));
    return Done{};
  }
  // A text that starts with a space gets another one, and only that is removed again.
  if (adds_space) {
    parts.normalizers.push_back(
        PlainStep({.kind = Normalizer::Kind::kPrepend, .pattern = {}, .content = " "}));
  }
  parts.cutters.push_back(MetaspaceCutter(space, PrependScheme::kNever, /*is_split=*/false));
  parts.decoders.push_back(ReplaceDecoder(space, " "));
  parts.decoders.push_back(FuseDecoder());
  if (adds_space) parts.decoders.push_back(StripDecoder(" ", /*most_left=*/1, /*most_right=*/0));
  return Done{};
}

Result<LanguageParts> ReadParts(const TokenizerFiles& files, std::size_t vocab_size) {
  GPT2_ASSIGN(const ParsedJson json, config::Read(files.tokenizer_config));
  GPT2_ASSIGN(const ParsedJson special, config::ReadSpecialTokens(files.special_tokens_map));
  auto read = ReadSentencePieceFile(files.sentence_piece, vocab_size);
  if (!read.ok()) {
    return Error{read.error().code, Concat(files.sentence_piece_name, ": ", read.error().message)};
  }
  const SentencePieceFile& file = read.value();
  GPT2_ASSIGN(const T5Settings settings, ReadT5Settings(*json, *special));
  LanguageParts parts;
  std::vector<ScoredToken> tokens = TokensOf(file, settings);
  for (const ScoredToken& token : tokens) parts.tokens.push_back(token.text);
  GPT2_ASSIGN(TokenizerRules rules, ReadTokenizerSettings(files, parts.tokens, kClasses));
  parts.added = std::move(rules.added);
  parts.beginning = std::move(rules.beginning);
  AddTokens(file, settings, parts.added);
  if (settings.is_t5) {
    const auto end = std::find(parts.tokens.begin(), parts.tokens.end(), settings.end);
    if (end == parts.tokens.end()) {
      return Error{ErrorCode::kUnsupported, Concat(files.sentence_piece_name, " has no piece ",
                                                   Quoted(settings.end), ", the \"eos_token\"")};
    }
    parts.end = {static_cast<std::int32_t>(end - parts.tokens.begin())};
  }
  const Status steps = AddSteps(file, settings, parts);
  if (!steps.ok()) {
    return Error{steps.error().code,
                 Concat(files.sentence_piece_name, ": ", steps.error().message)};
  }
  parts.model = UnigramModel(std::move(tokens), file.unknown, file.falls_back_to_bytes);
  return parts;
}

}  // namespace

Result<Tokenizer> ReadSentencePiece(const TokenizerFiles& files, std::size_t vocab_size) {
  GPT2_ASSIGN(LanguageParts parts, ReadParts(files, vocab_size));
  GPT2_ASSIGN(Tokenizer tokenizer, MakeLanguageTokenizer(std::move(parts)));
  tokenizer.SetRows(vocab_size);
  return tokenizer;
}

}  // namespace gpt2
