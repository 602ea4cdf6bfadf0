#include "engine/languages/language_tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/languages/text_decoder.h"
#include "engine/languages/text_models.h"
#include "engine/languages/text_steps.h"
#include "engine/text/added_tokens.h"
#include "engine/text/aligned_text.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {
namespace {

Result<std::string> Normalized(const TextSteps& steps, std::string text) {
  for (const auto& step : steps) {
    GPT2_ASSIGN(text, step->Apply(std::move(text)));
  }
  return text;
}

class LanguageTokenizer final : public TextEncoder {
 public:
  static Result<std::shared_ptr<const LanguageTokenizer>> Create(LanguageParts parts) {
    auto tokenizer = std::make_shared<LanguageTokenizer>();
    std::vector<AddedToken> raw, normalized;
    for (AddedToken& token : parts.added) {
      const auto index = static_cast<std::size_t>(token.id);
      if (index >= parts.tokens.size()) parts.tokens.resize(index + 1);
      if (token.is_normalized) {
        GPT2_ASSIGN(token.content, Normalized(parts.normalizers, token.content));
      }
      parts.tokens[index] = token.content;
      if (token.content.empty()) continue;
      (token.is_normalized ? normalized : raw).push_back(std::move(token));
    }
    tokenizer->added_ = AddedTokens(std::move(raw));
    tokenizer->normalized_added_ = AddedTokens(std::move(normalized));
    // Only places tell whether a changed text begins where the original does.
    tokenizer->needs_places_ =
        !parts.normalizers.empty() &&
        std::any_of(parts.cutters.begin(), parts.cutters.end(),
                    [](const auto& cutter) { return cutter->wants_first(); });
    tokenizer->parts_ = std::move(parts);
    return std::shared_ptr<const LanguageTokenizer>(std::move(tokenizer));
  }

  Result<EncodedText> Encode(std::string_view text, SpecialTokens special, TextEnds ends,
                             bool has_places) const override {
    EncodedText out;
    if (ends != TextEnds::kWithout) {
      for (const std::int32_t id : parts_.beginning) out.Add(id, {});
    }
    const bool takes_special = special == SpecialTokens::kAllowed;
    AddedTokenCutter raw(added_, text, takes_special);
    while (!raw.is_done()) {
      const AddedTokenCutter::Cut cut = raw.Next();
      if (!cut.before.empty()) {
        TextPiece normalized{
            Align(cut.before, cut.place.begin - cut.before.size(), has_places || needs_places_),
            cut.before.data() == text.data()};
        for (const auto& step : parts_.normalizers) GPT2_TRY(step->ApplyTo(normalized));
        GPT2_TRY(EncodeNormalized(normalized, takes_special, out));
      }
      if (cut.id) out.Add(*cut.id, cut.place);
    }
    for (const std::int32_t id : parts_.end) {
      if (ends == TextEnds::kWith) out.Add(id, {text.size(), text.size()});
    }
    return out;
  }

  std::string Decode(std::span<const std::int32_t> ids) const override {
    std::vector<std::string> tokens;
    for (const std::int32_t id : ids) {
      const auto index = static_cast<std::size_t>(id);
      if (index < parts_.tokens.size() && !parts_.tokens[index].empty()) {
        tokens.push_back(parts_.tokens[index]);
      }
    }
    for (const auto& step : parts_.decoders) step->Apply(tokens);
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && parts_.joins_with_space) text += ' ';
      text += tokens[i];
    }
    return text;
  }

  // The bytes of each token when it follows other tokens.
  std::vector<std::string> BytesInside() const {
    // Tokens are decoded after two words, so that steps that strip the start leave them unchanged.
    std::vector<std::int32_t> ids;
    for (const bool needs_word : {true, false}) {
      for (std::size_t id = 0; id < parts_.tokens.size() && ids.size() < 2; ++id) {
        const std::string& token = parts_.tokens[id];
        if (!token.empty() && (IsWord(token) || !needs_word)) {
          ids.push_back(static_cast<std::int32_t>(id));
        }
      }
    }
    const std::string before = Decode(ids);
    const bool has_bytes = std::any_of(parts_.decoders.begin(), parts_.decoders.end(),
                                       [](const auto& step) { return step->has_byte_tokens(); });
    std::vector<std::string> all;
    for (std::size_t id = 0; id < parts_.tokens.size(); ++id) {
      const auto byte = has_bytes ? ByteOfTokenName(parts_.tokens[id]) : std::nullopt;
      ids.push_back(static_cast<std::int32_t>(id));
      std::string whole = parts_.tokens[id].empty() ? std::string() : Decode(ids);
      ids.pop_back();
      if (byte) {
        all.emplace_back(1, static_cast<char>(*byte));
      } else {
        all.push_back(whole.starts_with(before) ? whole.substr(before.size()) : whole);
      }
    }
    return all;
  }

 private:
  static bool IsWord(std::string_view token) {
    return std::all_of(token.begin(), token.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c & 0x80) != 0; });
  }

  Status EncodeNormalized(const TextPiece& text, bool takes_special, EncodedText& out) const {
    AddedTokenCutter cutter(normalized_added_, text.text, takes_special);
    while (!cutter.is_done()) {
      const AddedTokenCutter::Cut cut = cutter.Next();
      if (!cut.before.empty()) {
        const std::size_t begin = cut.place.begin - cut.before.size();
        std::vector<TextPiece> pieces = {text.Cut(begin, cut.place.begin)};
        for (const auto& step : parts_.cutters) {
          std::vector<TextPiece> next;
          for (TextPiece& piece : pieces) GPT2_TRY(step->Cut(std::move(piece), next));
          pieces = std::move(next);
        }
        GPT2_TRY(parts_.model->Encode(pieces, out));
      }
      if (cut.id) out.Add(*cut.id, text.PlaceOf(cut.place.begin, cut.place.end));
    }
    return Done{};
  }

  LanguageParts parts_;
  AddedTokens added_;
  AddedTokens normalized_added_;
  bool needs_places_ = false;
};

}  // namespace

Result<Tokenizer> MakeLanguageTokenizer(LanguageParts parts) {
  GPT2_ASSIGN(auto encoder, LanguageTokenizer::Create(std::move(parts)));
  std::vector<std::string> bytes = encoder->BytesInside();
  return Tokenizer::CreateOther(std::move(bytes), std::move(encoder));
}

}  // namespace gpt2
