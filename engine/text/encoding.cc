#include "engine/text/encoding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/text/added_tokens.h"
#include "engine/text/aligned_text.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

Status WordMerger::Encode(std::string_view word) {
  size_ = next_ = 0;
  const std::size_t size = word.size();
  if (is_wide_) {
    wide_.resize(size);
  } else {
    narrow_.resize(size);
  }
  begins_.assign(size, true);
  if (const auto token = tokenizer_->WholeWord(word)) {
    SetToken(0, *token);
    size_ = size;
    return Done{};
  }
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(word[i]);
    const std::int32_t token = tokenizer_->ByteToken(byte);
    if (token < 0) {
      return Error{ErrorCode::kInvalidArgument,
                   Concat("the vocabulary has no token for byte ", byte)};
    }
    SetToken(i, token);
  }
  size_ = size;
  // Together with the text, the tokens and begins_, this stays under four times the text, even
  // while the queue grows. A word with more candidates is scanned again, about twenty times.
  constexpr std::size_t kAlwaysQueued = 64 * 1024;
  most_queued_ = std::max(kAlwaysQueued, size / 16);
  QueueAll();
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const Candidate best = queue_.back();
    queue_.pop_back();
    // The candidate is stale if one of its tokens has been merged since.
    const Tokenizer::Merge* merge = begins_[best.left] ? MergeAt(best.left) : nullptr;
    if (merge != nullptr && merge->rank == best.rank) Apply(best.left, merge->merged);
    if (queue_.empty() && has_limit_) QueueAll();
  }
  return Done{};
}

std::int32_t WordMerger::Next() {
  const std::int32_t token = Token(next_);
  next_ += tokenizer_->Symbols(token);
  return token;
}

void WordMerger::SetToken(std::size_t symbol, std::int32_t token) {
  if (is_wide_) {
    wide_[symbol] = token;
  } else {
    narrow_[symbol] = static_cast<std::uint16_t>(token);
  }
}

// The merge of the token that begins at `left` with the next one, or null.
const Tokenizer::Merge* WordMerger::MergeAt(std::size_t left) const {
  const std::size_t right = left + Symbols(left);
  return right < size_ ? tokenizer_->FindMerge(Token(left), Token(right)) : nullptr;
}

void WordMerger::Consider(std::size_t left) {
  if (const Tokenizer::Merge* merge = MergeAt(left)) {
    Queue({merge->rank, static_cast<std::uint32_t>(left)});
  }
}

void WordMerger::Queue(Candidate candidate) {
  if (has_limit_ && !(limit_ > candidate)) return;
  if (queue_.size() == most_queued_) {
    // Keeps the better half of them.
    const auto middle = queue_.begin() + static_cast<std::ptrdiff_t>(queue_.size() / 2);
    std::nth_element(queue_.begin(), middle, queue_.end(),
                     [](const Candidate& a, const Candidate& b) { return b > a; });
    limit_ = *middle;
    has_limit_ = true;
    queue_.erase(middle, queue_.end());
    std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
    if (!(limit_ > candidate)) return;
  }
  if (queue_.size() == queue_.capacity()) {
    queue_.reserve(std::min(most_queued_, std::max<std::size_t>(16, 2 * queue_.size())));
  }
  queue_.push_back(candidate);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

void WordMerger::QueueAll() {
  has_limit_ = false;
  for (std::size_t symbol = 0; symbol < size_; symbol += Symbols(symbol)) Consider(symbol);
}

// A token is recorded at its first and its last symbol, so that both its neighbours find it.
void WordMerger::Apply(std::size_t left, std::int32_t merged) {
  begins_[left + Symbols(left)] = false;
  SetToken(left, merged);
  SetToken(left + Symbols(left) - 1, merged);
  if (left > 0) Consider(left - Symbols(left - 1));
  Consider(left);
}

Encoding::Encoding(const Tokenizer& tokenizer, std::string_view text, SpecialTokens special,
                   TextEnds ends, bool has_places)
    : tokenizer_(&tokenizer),
      takes_special_(special == SpecialTokens::kAllowed),
      raw_(tokenizer.added(), text, takes_special_),
      normal_(tokenizer.normalized_added(), {}, takes_special_),
      rest_(tokenizer.rules().splitters.size() + 1),
      has_places_(has_places),
      size_(text.size()),
      word_(tokenizer) {
  if (tokenizer.encoder() != nullptr) {
    others_ = tokenizer.encoder()->Encode(text, special, ends, has_places);
    is_done_ = true;
    return;
  }
  if (ends != TextEnds::kWithout) beginning_ = tokenizer.rules().beginning;
  if (ends == TextEnds::kWith) ending_ = tokenizer.rules().end;
  FindText();
}

bool Encoding::HasText() const {
  return std::any_of(rest_.begin(), rest_.end(),
                     [](std::string_view rest) { return !rest.empty(); });
}

// Finds what comes next: text, a token after it, or the end.
void Encoding::FindText() {
  while (beginning_.empty() && !HasText() && !id_) {
    if (!normal_.is_done()) {
      const AddedTokenCutter::Cut cut = normal_.Next();
      at_ = cut.place.begin - cut.before.size();
      rest_[0] = WithPrefix(0, cut.before);
      id_ = cut.id;
      id_place_ = PlaceInText(cut.place);
    } else if (raw_id_) {
      std::swap(id_, raw_id_);
      id_place_ = raw_place_;
    } else if (!raw_.is_done()) {
      const AddedTokenCutter::Cut cut = raw_.Next();
      raw_id_ = cut.id;
      raw_place_ = cut.place;
      std::string_view text = cut.before;
      piece_begin_ = cut.place.begin - text.size();
      if (!tokenizer_->rules().normalizers.empty() && !text.empty()) {
        normalized_ = Align(text, piece_begin_, has_places_);
        Normalize(tokenizer_->rules().normalizers, normalized_);
        text = normalized_.text;
      }
      normal_ = AddedTokenCutter(tokenizer_->normalized_added(), text, takes_special_);
    } else {
      is_done_ = ending_.empty();
      return;
    }
  }
}

std::string_view Encoding::WithPrefix(std::size_t level, std::string_view piece) {
  if (tokenizer_->rules().prefix_space_at != level || piece.empty() || piece[0] == ' ') {
    return piece;
  }
  (prefixed_ = ' ') += piece;
  added_ = 1;
  return prefixed_;
}

// The place in the text of bytes of the last text from raw_, which may have been normalized.
TokenPlace Encoding::PlaceInText(TokenPlace in_piece) const {
  if (!tokenizer_->rules().normalizers.empty()) {
    return normalized_.PlaceOf(in_piece.begin, in_piece.end);
  }
  return {piece_begin_ + in_piece.begin, piece_begin_ + in_piece.end};
}

// The place of the next `size` bytes of a word.
TokenPlace Encoding::NextInWord(std::size_t size) {
  const std::size_t begin = at_;
  at_ += size - std::min(size, added_);
  added_ -= std::min(size, added_);
  return PlaceInText({begin, at_});
}

std::string_view Encoding::NextWord() {
  const std::vector<Splitter>& splitters = tokenizer_->rules().splitters;
  std::size_t level = splitters.size();
  while (rest_[level].empty()) --level;
  for (; level < splitters.size(); ++level) {
    const std::size_t size = FirstPieceSize(splitters[level], rest_[level]);
    rest_[level + 1] = WithPrefix(level + 1, rest_[level].substr(0, size));
    rest_[level].remove_prefix(size);
  }
  return std::exchange(rest_[level], {});
}

Result<std::size_t> Encoding::Next(std::span<std::int32_t> ids, std::span<TokenPlace> places) {
  if (!others_.ok()) return others_.error();
  const EncodedText& others = others_.value();
  std::size_t count = 0;
  const auto take = [&](std::span<const std::int32_t>& some) {
    ids[count] = some[0];
    some = some.subspan(1);
  };
  for (; count < ids.size() && !is_done(); ++count) {
    bool needs_text = others.ids.empty();
    while (needs_text && beginning_.empty() && word_.is_done() && HasText()) {
      GPT2_TRY(word_.Encode(NextWord()));
      FindText();
    }
    TokenPlace place;
    if (!needs_text) {
      ids[count] = others.ids[given_];
      place = others.places[given_++];
    } else if (!beginning_.empty()) {
      take(beginning_);
    } else if (!word_.is_done()) {
      ids[count] = word_.Next();
      place = NextInWord(tokenizer_->Symbols(ids[count]));
      needs_text = false;
    } else if (id_) {
      ids[count] = *id_;
      place = id_place_;
      id_.reset();
    } else {
      take(ending_);
      place = {size_, size_};
    }
    if (!places.empty()) places[count] = place;
    if (needs_text) FindText();
  }
  return count;
}

Result<EncodedText> Encoding::TakeAll() {
  constexpr std::size_t kPortion = 1024;
  EncodedText all;
  while (!is_done()) {
    const std::size_t begin = all.ids.size();
    all.Resize(begin + kPortion);
    GPT2_ASSIGN(const std::size_t count,
                Next(std::span(all.ids).subspan(begin), std::span(all.places).subspan(begin)));
    all.Resize(begin + count);
  }
  return all;
}

}  // namespace gpt2
