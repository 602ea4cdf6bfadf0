#include "engine/languages/text_models.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/languages/text_steps.h"
#include "engine/text/aligned_text.h"
#include "engine/text/encoding.h"
#include "engine/text/quoted.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

std::optional<std::int32_t> Find(const TokenIds& ids, const std::string& token) {
  const auto found = ids.find(token);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

Error NoToken(std::string_view piece) {
  return Error{ErrorCode::kInvalidArgument,
               Concat("the vocabulary has no token for ", Quoted(piece), ", and no unknown token")};
}

class BytePairs final : public TextModel {
 public:
  explicit BytePairs(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}
  Status Encode(const std::vector<TextPiece>& pieces, EncodedText& out) const override {
    WordMerger merger(tokenizer_);
    for (const TextPiece& piece : pieces) {
      GPT2_TRY(merger.Encode(piece.text));
      for (std::size_t begin = 0; !merger.is_done();) {
        const std::int32_t id = merger.Next();
        const std::size_t end = begin + tokenizer_.Symbols(id);
        out.Add(id, piece.PlaceOf(begin, end));
        begin = end;
      }
    }
    return Done{};
  }

 private:
  Tokenizer tokenizer_;
};

class WordLevel final : public TextModel {
 public:
  WordLevel(TokenIds ids, const std::string& unknown)
      : ids_(std::move(ids)), unknown_(Find(ids_, unknown)) {}
  Status Encode(const std::vector<TextPiece>& pieces, EncodedText& out) const override {
    for (const TextPiece& piece : pieces) {
      const auto found = Find(ids_, piece.text);
      if (!found && !unknown_) return NoToken(piece.text);
      out.Add(found ? *found : *unknown_, piece.PlaceOf(0, piece.text.size()));
    }
    return Done{};
  }

 private:
  TokenIds ids_;
  std::optional<std::int32_t> unknown_;
};

class WordPiece final : public TextModel {
 public:
  WordPiece(TokenIds ids, WordPieceRules rules)
      : ids_(std::move(ids)), rules_(std::move(rules)), unknown_(Find(ids_, rules_.unknown)) {
    for (const auto& [token, id] : ids_) longest_ = std::max(longest_, token.size());
  }
  Status Encode(const std::vector<TextPiece>& pieces, EncodedText& out) const override {
    for (const TextPiece& piece : pieces) {
      const std::size_t before = out.ids.size();
      if (EncodeWord(piece, out)) continue;
      if (!unknown_) return NoToken(piece.text);
      out.Resize(before);
      out.Add(*unknown_, piece.PlaceOf(0, piece.text.size()));
    }
    return Done{};
  }

 private:
  // False if a part of the word has no token.
  bool EncodeWord(const TextPiece& piece, EncodedText& out) const {
    const std::string& word = piece.text;
    std::vector<std::size_t> ends;  // of its characters
    for (std::size_t at = 0; at < word.size();) {
      at += ReadUtf8(std::string_view(word).substr(at)).size;
      ends.push_back(at);
      if (ends.size() > rules_.most_characters) return false;
    }
    for (std::size_t begin = 0, first = 0; begin < word.size();) {
      std::optional<std::int32_t> found;
      std::size_t last = ends.size();
      const std::string prefix = begin == 0 ? std::string() : rules_.prefix;
      for (; last > first && !found; --last) {
        const std::size_t size = ends[last - 1] - begin;
        if (size <= longest_) found = Find(ids_, prefix + word.substr(begin, size));
      }
      if (!found) return false;
      out.Add(*found, piece.PlaceOf(begin, ends[last]));
      first = last + 1;
      begin = ends[last];
    }
    return true;
  }

  TokenIds ids_;
  WordPieceRules rules_;
  std::optional<std::int32_t> unknown_;
  std::size_t longest_ = 0;  // bytes of a token
};

class Unigram final : public TextModel {
 public:
  Unigram(std::vector<ScoredToken> tokens, std::optional<std::int32_t> unknown, bool falls_back)
      : tokens_(std::move(tokens)), unknown_(unknown) {
    double least = tokens_.empty() ? 0 : tokens_[0].score;
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      least = std::min(least, tokens_[id].score);
      if (tokens_[id].is_in_text) by_text_.push_back(static_cast<std::int32_t>(id));
    }
    std::sort(by_text_.begin(), by_text_.end(), [this](std::int32_t a, std::int32_t b) {
      const int order = TextOf(a).compare(TextOf(b));
      return order != 0 ? order < 0 : a > b;
    });
    // Of tokens with the same text the last counts.
    by_text_.erase(
        std::unique(by_text_.begin(), by_text_.end(),
                    [this](std::int32_t a, std::int32_t b) { return TextOf(a) == TextOf(b); }),
        by_text_.end());
    constexpr double kUnknownPenalty = 10;  // tokenizers/src/models/unigram/model.rs
    unknown_score_ = least - kUnknownPenalty;
    if (!falls_back) return;
    byte_ids_.assign(256, -1);
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      const auto byte = ByteOfTokenName(tokens_[id].text);
      if (byte && tokens_[id].text == ByteTokenName(*byte)) {
        byte_ids_[*byte] = static_cast<std::int32_t>(id);
      }
    }
  }

  Status Encode(const std::vector<TextPiece>& pieces, EncodedText& out) const override {
    for (const TextPiece& piece : pieces) GPT2_TRY(EncodePiece(piece, out));
    return Done{};
  }

 private:
  // The best way to split a text so that a token ends at a byte.
  struct Node {
    double score = 0;
    std::size_t begin = 0;  // of that token
    std::int32_t id = -1;   // -1: no way so far; kUnknown: it has no token
  };
  static constexpr std::int32_t kUnknown = -2;

  const std::string& TextOf(std::int32_t id) const {
    return tokens_[static_cast<std::size_t>(id)].text;
  }

  std::optional<std::int32_t> FindText(std::string_view text) const {
    const auto found =
        std::lower_bound(by_text_.begin(), by_text_.end(), text,
                         [this](std::int32_t id, std::string_view t) { return TextOf(id) < t; });
    return found == by_text_.end() || TextOf(*found) != text ? std::nullopt : std::optional(*found);
  }

  // Calls `take` with each token that is a prefix of `text`, the shortest first: they are in a
  // range that each byte narrows.
  template <typename Take>
  void ForPrefixes(std::string_view text, Take take) const {
    auto first = by_text_.begin();
    auto last = by_text_.end();
    for (std::size_t i = 0; first != last; ++i) {
      if (TextOf(*first).size() == i) take(*first++);
      if (i == text.size()) return;
      const auto byte = static_cast<unsigned char>(text[i]);
      const auto byte_of = [&](std::int32_t id) {
        return static_cast<unsigned char>(TextOf(id)[i]);
      };
      first =
          std::partition_point(first, last, [&](std::int32_t id) { return byte_of(id) < byte; });
      last =
          std::partition_point(first, last, [&](std::int32_t id) { return byte_of(id) == byte; });
    }
  }

  std::vector<Node> BestWays(std::string_view text) const {
    std::vector<Node> ways(text.size() + 1);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t character = ReadUtf8(text.substr(at)).size;
      const auto offer = [&](std::size_t size, std::int32_t id, double score) {
        Node& way = ways[at + size];
        const double whole = score + ways[at].score;
        if (way.id == -1 || whole > way.score) way = {whole, at, id};
      };
      bool has_single = false;
      ForPrefixes(text.substr(at), [&](std::int32_t id) {
        const std::size_t size = TextOf(id).size();
        offer(size, id, tokens_[static_cast<std::size_t>(id)].score);
        has_single |= size == character;
      });
      if (!has_single) offer(character, kUnknown, unknown_score_);
      at += character;
    }
    return ways;
  }

  Status EncodePiece(const TextPiece& piece, EncodedText& out) const {
    const std::vector<Node> ways = BestWays(piece.text);
    std::vector<Node> tokens;  // with their ends in `score`, which is no longer used
    std::vector<std::size_t> ends;
    for (std::size_t end = piece.text.size(); end > 0; end = ways[end].begin) {
      tokens.push_back(ways[end]);
      ends.push_back(end);
    }
    for (std::size_t i = tokens.size(); i-- > 0;) {
      const bool is_unknown = tokens[i].id == kUnknown || tokens[i].id == unknown_;
      if (!is_unknown) {
        out.Add(tokens[i].id, piece.PlaceOf(tokens[i].begin, ends[i]));
        continue;
      }
      // Adjacent unknown tokens become one.
      const std::size_t begin = tokens[i].begin;
      while (i > 0 && (tokens[i - 1].id == kUnknown || tokens[i - 1].id == unknown_)) --i;
      GPT2_TRY(EncodeUnknown(piece, begin, ends[i], out));
    }
    return Done{};
  }

  Status EncodeUnknown(const TextPiece& piece, std::size_t begin, std::size_t end,
                       EncodedText& out) const {
    const std::string_view text = std::string_view(piece.text).substr(begin, end - begin);
    if (!unknown_) return NoToken(text);
    if (const auto id = FindText(text)) {
      out.Add(*id, piece.PlaceOf(begin, end));
      return Done{};
    }
    const bool has_bytes =
        !byte_ids_.empty() && std::all_of(text.begin(), text.end(), [this](char c) {
          return byte_ids_[static_cast<unsigned char>(c)] >= 0;
        });
    if (!has_bytes) {
      out.Add(*unknown_, piece.PlaceOf(begin, end));
      return Done{};
    }
    for (std::size_t i = begin; i < end; ++i) {
      out.Add(byte_ids_[static_cast<unsigned char>(piece.text[i])], piece.PlaceOf(i, i + 1));
    }
    return Done{};
  }

  std::vector<ScoredToken> tokens_;
  std::vector<std::int32_t> by_text_;
  std::optional<std::int32_t> unknown_;
  double unknown_score_ = 0;
  std::vector<std::int32_t> byte_ids_;  // [256], or empty
};

}  // namespace

std::string ByteTokenName(unsigned char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
}

std::optional<unsigned char> ByteOfTokenName(std::string_view name) {
  if (name.size() != 6 || !name.starts_with("<0x") || name[5] != '>') return std::nullopt;
  int value = 0;
  for (const char c : name.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = 16 * value + digit;
  }
  return static_cast<unsigned char>(value);
}

std::unique_ptr<const TextModel> BytePairModel(Tokenizer tokenizer) {
  return std::make_unique<BytePairs>(std::move(tokenizer));
}
std::unique_ptr<const TextModel> WordLevelModel(TokenIds ids, const std::string& unknown) {
  return std::make_unique<WordLevel>(std::move(ids), unknown);
}
std::unique_ptr<const TextModel> WordPieceModel(TokenIds ids, WordPieceRules rules) {
  return std::make_unique<WordPiece>(std::move(ids), std::move(rules));
}
std::unique_ptr<const TextModel> UnigramModel(std::vector<ScoredToken> tokens,
                                              std::optional<std::int32_t> unknown,
                                              bool falls_back) {
  return std::make_unique<Unigram>(std::move(tokens), unknown, falls_back);
}

}  // namespace gpt2
