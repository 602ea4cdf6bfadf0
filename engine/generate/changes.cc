#include "engine/generate/changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/model/config.h"
#include "engine/model/forward.h"
#include "engine/model/hooks.h"

namespace gpt2 {
namespace {

bool IsAttention(Place place) {
  return place == Place::kScores || place == Place::kPattern;
}

// The row of a token at a place: `heads` parts of `width` values. Scores and patterns have a row of
// positions for each head.
struct RowShape {
  std::size_t heads;
  std::size_t width;
};
RowShape ShapeOf(const Config& config, Place place) {
  switch (place) {
    case Place::kQ:
    case Place::kZ:
      return {config.n_head, config.head_dim()};
    case Place::kK:
    case Place::kV:
      return {config.n_kv_head(), config.head_dim()};
    case Place::kScores:
    case Place::kPattern:
      return {config.n_head, config.n_positions};
    case Place::kMlpPre:
    case Place::kMlpPost:
      return {1, config.n_inner};
    case Place::kLogits:
      return {1, config.vocab_size};
    default:
      return {1, config.n_embd};
  }
}

// The number of values that a change selects in a row.
std::size_t SelectedWidth(const Config& config, const Change& change) {
  const RowShape shape = ShapeOf(config, change.at.place);
  return (change.head == Change::kAll ? shape.heads : 1) *
         (change.column == Change::kAll ? shape.width : 1);
}

bool Fits(const Config& config, const Change& change) {
  const RowShape shape = ShapeOf(config, change.at.place);
  const auto is_below = [](std::size_t value, std::size_t end) {
    return value == Change::kAll || value < end;
  };
  if (change.at.layer >= config.n_layer || !is_below(change.head, shape.heads) ||
      !is_below(change.column, shape.width)) {
    return false;
  }
  if (change.kind == Change::Kind::kScale) return true;
  const std::size_t count = change.values.size();
  if (count == 1 || IsAttention(change.at.place)) return count == 1;
  const std::size_t width = SelectedWidth(config, change);
  return count > 0 && (count == width || count == width * change.positions.size());
}

// Reads numbers one after another. Past their end, and after one that is not an index, it returns
// zeros and is not ok.
class HookNumbers {
 public:
  explicit HookNumbers(std::span<const double> numbers) : rest_(numbers) {}

  bool is_ok() const { return is_ok_; }
  bool is_at_end() const { return rest_.empty(); }

  double Next() { return Take(1).empty() ? 0 : taken_.front(); }
  // A whole number below `end`.
  std::size_t Index(std::size_t end = INT32_MAX) {
    const double number = Next();
    is_ok_ =
        is_ok_ && number >= 0 && number < static_cast<double>(end) && number == std::floor(number);
    return is_ok_ ? static_cast<std::size_t>(number) : 0;
  }
  // The same, or -1 for Change::kAll.
  std::size_t IndexOrAll() {
    if (rest_.empty() || rest_.front() != -1) return Index();
    Next();
    return Change::kAll;
  }
  std::span<const double> List() { return Take(Index()); }
  LayerPlace At() {
    const auto place = static_cast<Place>(Index(static_cast<std::size_t>(Place::kLogits) + 1));
    return {place, Index()};
  }
  Change ReadChange() {
    return {
        .at = At(),
        .head = IndexOrAll(),
        .column = IndexOrAll(),
        .kind = static_cast<Change::Kind>(Index(static_cast<std::size_t>(Change::Kind::kAdd) + 1)),
        .factor = static_cast<float>(Next()),
        .positions = List(),
        .values = List()};
  }

 private:
  std::span<const double> Take(std::size_t count) {
    is_ok_ = is_ok_ && count <= rest_.size();
    taken_ = rest_.first(is_ok_ ? count : 0);
    rest_ = rest_.subspan(taken_.size());
    return taken_;
  }

  std::span<const double> rest_;
  std::span<const double> taken_;
  bool is_ok_ = true;
};

// The place of `position` in `positions`, or Change::kAll if it is not there. Without positions,
// all are.
std::size_t IndexIn(std::span<const double> positions, std::size_t position) {
  if (positions.empty()) return position;
  const auto found = std::find(positions.begin(), positions.end(), static_cast<double>(position));
  return found == positions.end() ? Change::kAll
                                  : static_cast<std::size_t>(found - positions.begin());
}

}  // namespace

Result<std::shared_ptr<Changes>> Changes::Create(const Config& config, std::vector<double> numbers,
                                                 std::size_t tokens) {
  std::shared_ptr<Changes> made(new Changes(config, std::move(numbers), tokens));
  HookNumbers reader(made->numbers_);
  bool has_attention = false;
  bool fits = true;
  for (std::size_t left = reader.Index(); left > 0 && reader.is_ok(); --left) {
    const Change change = reader.ReadChange();
    made->changes_.push_back(change);
    fits = fits && Fits(config, change);
    has_attention |= IsAttention(change.at.place);
  }
  const std::size_t captures = reader.Index();
  for (std::size_t left = captures; left > 0 && reader.is_ok(); --left) {
    const LayerPlace at = reader.At();
    made->captured_.push_back({at, 0});
    fits = fits && at.layer < config.n_layer;
    has_attention |= IsAttention(at.place);
  }
  made->positions_ = reader.List();
  if (!fits || !reader.is_ok() || !reader.is_at_end()) {
    return Error{ErrorCode::kInvalidArgument, "the numbers of hooks do not fit the model"};
  }
  const std::size_t rows = made->positions_.empty() ? tokens : made->positions_.size();
  double values = 0;  // cannot overflow
  for (Captured& captured : made->captured_) {
    captured.begin = static_cast<std::size_t>(values);
    const RowShape shape = ShapeOf(config, captured.at.place);
    const std::size_t width = IsAttention(captured.at.place) ? tokens : shape.width;
    values +=
        static_cast<double>(rows) * static_cast<double>(shape.heads) * static_cast<double>(width);
    if (values * sizeof(float) > static_cast<double>(kMostBytes)) {
      return Error{ErrorCode::kCapacity, Concat("the capture takes more than ", kMostBytes,
                                                " bytes: name fewer places or positions")};
    }
  }
  made->values_.resize(static_cast<std::size_t>(values));
  if (has_attention) made->scores_.resize(kMaxBatch * config.n_positions);
  return made;
}

bool Changes::Wants(Place place, std::size_t layer) const {
  const auto is_here = [&](const auto& each) { return each.at == LayerPlace{place, layer}; };
  return std::ranges::any_of(changes_, is_here) || std::ranges::any_of(captured_, is_here);
}

bool Changes::Captures(Place place, std::size_t first, std::size_t count) const {
  const auto is_here = [&](const Captured& each) { return each.at.place == place; };
  if (std::ranges::none_of(captured_, is_here)) return false;
  if (positions_.empty()) return true;
  return std::ranges::any_of(positions_, [&](double position) {
    return position >= static_cast<double>(first) && position < static_cast<double>(first + count);
  });
}

bool Changes::ChangesAttention(std::size_t layer) const {
  return std::ranges::any_of(changes_, [&](const Change& change) {
    return IsAttention(change.at.place) && change.at.layer == layer;
  });
}

std::size_t Changes::FirstPosition() const {
  std::size_t first = SIZE_MAX;
  const auto reach = [&first](std::span<const double> positions) {
    const double position = positions.empty() ? 0 : std::ranges::min(positions);
    first = std::min(first, static_cast<std::size_t>(position));
  };
  if (!captured_.empty()) reach(positions_);
  for (const Change& change : changes_) {
    // The attention of such a layer is computed in another way at all positions.
    reach(IsAttention(change.at.place) ? std::span<const double>() : change.positions);
  }
  return first;
}

MatView<float> Changes::Scores() {
  return DenseView(scores_.data(), kMaxBatch, config_.n_positions);
}

void Changes::Visit(const HookPoint& point, std::span<const BatchToken> batch, MatView<float> x) {
  const LayerPlace here{point.place, point.layer};
  for (const Change& change : changes_) {
    if (change.at != here) continue;
    for (std::size_t t = 0; t < x.rows; ++t) Apply(change, point, batch[t].position, x.Row(t));
  }
  for (const Captured& captured : captured_) {
    if (captured.at != here) continue;
    for (std::size_t t = 0; t < x.rows; ++t) Keep(captured, point, batch[t].position, x.Row(t));
  }
}

// Changes the row of the token at `position`.
void Changes::Apply(const Change& change, const HookPoint& point, std::size_t position,
                    std::span<float> row) const {
  const std::size_t index = IndexIn(change.positions, position);
  if (index == Change::kAll) return;
  RowShape shape = ShapeOf(config_, point.place);
  std::size_t first = change.head, last = change.head + 1;
  if (IsAttention(point.place)) {
    if (change.head != Change::kAll && change.head != point.head) return;
    first = 0;
    last = 1;
    shape.width = position + 1;  // where a row of scores ends
  } else if (change.head == Change::kAll) {
    first = 0;
    last = shape.heads;
  }
  const std::size_t selected = SelectedWidth(config_, change);
  const double* value = change.values.data();
  const bool has_rows = change.kind != Change::Kind::kScale && change.values.size() > selected;
  if (has_rows) value += index * selected;
  const std::size_t step = change.values.size() > 1 ? 1 : 0;
  for (std::size_t head = first; head < last; ++head) {
    for (std::size_t i = 0; i < shape.width; ++i) {
      if (change.column != Change::kAll && change.column != i) continue;
      float& x = row[head * point.head_stride + i];
      if (change.kind == Change::Kind::kScale) {
        x *= change.factor;
      } else {
        const auto given = static_cast<float>(*value);
        x = change.kind == Change::Kind::kSet ? given : x + change.factor * given;
        value += step;
      }
    }
  }
}

// Keeps the row of the token at `position`.
void Changes::Keep(const Captured& captured, const HookPoint& point, std::size_t position,
                   std::span<const float> row) {
  const std::size_t rows = positions_.empty() ? tokens_ : positions_.size();
  const std::size_t index = IndexIn(positions_, position);
  if (index >= rows) return;
  const RowShape shape = ShapeOf(config_, point.place);
  float* const to = values_.data() + captured.begin;
  if (IsAttention(point.place)) {
    float* const begin = to + (point.head * rows + index) * tokens_;
    const auto end = std::ranges::copy(row.first(std::min(row.size(), tokens_)), begin).out;
    std::fill(end, begin + tokens_, point.place == Place::kScores ? -INFINITY : 0.0f);
    return;
  }
  for (std::size_t head = 0; head < shape.heads; ++head) {
    std::ranges::copy(row.subspan(head * point.head_stride, shape.width),
                      to + (index * shape.heads + head) * shape.width);
  }
}

}  // namespace gpt2
