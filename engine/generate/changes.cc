#include "engine/generate/changes.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/place_names.h"
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
  bool has_heads = true;
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
      return {1, config.n_inner, false};
    case Place::kLogits:
      return {1, config.vocab_size, false};
    default:
      return {1, config.n_embd, false};
  }
}

// The columns that a change selects, for scores and patterns the one of its key.
std::optional<std::size_t> ColumnOf(const Change& change) {
  return change.key ? change.key : change.column;
}

std::size_t SelectedWidth(const Config& config, const Change& change) {
  if (ColumnOf(change)) return 1;
  const RowShape shape = ShapeOf(config, change.at.place);
  return change.head || IsAttention(change.at.place) ? shape.width : shape.heads * shape.width;
}

Status Check(const Config& config, const Change& change) {
  const RowShape shape = ShapeOf(config, change.at.place);
  const bool is_attention = IsAttention(change.at.place);
  const auto bad = [&](auto... parts) {
    return Error{ErrorCode::kInvalidArgument,
                 Concat("the change at ", NameOf(change.at), " ", parts...)};
  };
  const auto check = [&](const char* name, std::optional<std::size_t> value, bool is_known,
                         std::size_t end) -> Status {
    if (!value) return Done{};
    if (!is_known) return bad("has a ", name, ", which this place lacks");
    if (*value < end) return Done{};
    return bad("has the ", name, " ", *value, ", expected 0 to ", end - 1);
  };
  GPT2_TRY(check("head", change.head, shape.has_heads, shape.heads));
  GPT2_TRY(check("neuron", change.column, !is_attention, shape.width));
  GPT2_TRY(check("key", change.key, is_attention, shape.width));
  for (const std::size_t position : change.positions) {
    GPT2_TRY(check("position", position, true, config.n_positions));
  }
  if (change.column && shape.has_heads && !change.head) return bad("has a neuron, but no head");
  if (change.kind == Change::Kind::kScale) return Done{};
  const std::size_t width = SelectedWidth(config, change);
  const std::size_t rows = std::max<std::size_t>(1, change.positions.size());
  const std::size_t count = change.values.size();
  if (count != 1 && (is_attention || (count != width && count != rows * width))) {
    return bad("has ", count, " values, expected 1",
               is_attention ? "" : Concat(" or ", width, " for each position"));
  }
  for (const float value : change.values) {
    const bool is_hidden = change.at.place == Place::kScores && value == -INFINITY &&
                           change.kind == Change::Kind::kSet;
    if (!std::isfinite(value) && !is_hidden) return bad("has a value that is not finite");
  }
  return Done{};
}

// The place of `position` in `positions`; nothing if it is not there. Without positions, all are.
std::optional<std::size_t> IndexIn(const std::vector<std::size_t>& positions,
                                   std::size_t position) {
  if (positions.empty()) return position;
  const auto found = std::find(positions.begin(), positions.end(), position);
  if (found == positions.end()) return std::nullopt;
  return static_cast<std::size_t>(found - positions.begin());
}

}  // namespace

Result<std::shared_ptr<Changes>> Changes::Create(const Config& config, std::vector<Change> changes,
                                                 std::span<const LayerPlace> captures,
                                                 std::vector<std::size_t> positions,
                                                 std::size_t tokens) {
  for (const Change& change : changes) GPT2_TRY(Check(config, change));
  for (const std::size_t position : positions) {
    if (position < tokens) continue;
    return Error{ErrorCode::kInvalidArgument,
                 Concat("positions has ", position, ", but the text has ", tokens, " tokens")};
  }
  std::shared_ptr<Changes> made(new Changes(config));
  const std::size_t rows = positions.empty() ? tokens : positions.size();
  double values = 0;  // cannot overflow
  for (const LayerPlace& at : captures) {
    const RowShape shape = ShapeOf(config, at.place);
    Captured captured{
        .at = at, .shape = {rows, shape.width}, .begin = static_cast<std::size_t>(values)};
    if (shape.has_heads) captured.shape = {rows, shape.heads, shape.width};
    if (IsAttention(at.place)) captured.shape = {shape.heads, rows, tokens};
    double size = 1;
    for (const std::size_t count : captured.shape) size *= static_cast<double>(count);
    values += size;
    if (values * sizeof(float) > static_cast<double>(kMostBytes)) {
      return Error{ErrorCode::kCapacity, Concat("the capture takes more than ", kMostBytes,
                                                " bytes: name fewer places or positions")};
    }
    made->captured_.push_back(std::move(captured));
  }
  made->values_.resize(static_cast<std::size_t>(values));
  made->changes_ = std::move(changes);
  made->positions_ = std::move(positions);
  const auto needs_scores = [](const auto& each) { return IsAttention(each.at.place); };
  if (std::ranges::any_of(made->changes_, needs_scores) ||
      std::ranges::any_of(made->captured_, needs_scores)) {
    made->scores_.resize(kMaxBatch * config.n_positions);
  }
  return made;
}

bool Changes::Wants(Place place, std::size_t layer) const {
  const auto is_here = [&](const auto& each) { return each.at == LayerPlace{place, layer}; };
  return std::ranges::any_of(changes_, is_here) || std::ranges::any_of(captured_, is_here);
}

bool Changes::ChangesAttention(std::size_t layer) const {
  return std::ranges::any_of(changes_, [&](const Change& change) {
    return IsAttention(change.at.place) && change.at.layer == layer;
  });
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
  const std::optional<std::size_t> index = IndexIn(change.positions, position);
  if (!index) return;
  const RowShape shape = ShapeOf(config_, change.at.place);
  const bool is_attention = IsAttention(point.place);
  if (is_attention && change.head.value_or(point.head) != point.head) return;
  // A row of scores ends at its own position.
  const std::size_t width = is_attention ? std::min(position + 1, row.size()) : shape.width;
  const std::size_t selected = SelectedWidth(config_, change);
  const bool has_rows = !change.positions.empty() && change.values.size() > selected;
  const std::size_t begin = has_rows ? *index * selected : 0;
  for (std::size_t head = 0; head < (is_attention ? 1 : shape.heads); ++head) {
    if (!is_attention && change.head.value_or(head) != head) continue;
    for (std::size_t i = 0; i < width; ++i) {
      if (ColumnOf(change).value_or(i) != i) continue;
      const std::size_t place = ColumnOf(change) ? 0 : (change.head ? 0 : head * shape.width) + i;
      const auto value = [&] {
        return change.values[change.values.size() == 1 ? 0 : begin + place];
      };
      float& x = row[head * point.head_stride + i];
      switch (change.kind) {
        case Change::Kind::kSet:
          x = value();
          break;
        case Change::Kind::kScale:
          x *= change.factor;
          break;
        case Change::Kind::kAdd:
          x += change.factor * value();
          break;
      }
    }
  }
}

// Keeps the row of the token at `position`.
void Changes::Keep(const Captured& captured, const HookPoint& point, std::size_t position,
                   std::span<const float> row) {
  const std::vector<std::size_t>& shape = captured.shape;
  const std::optional<std::size_t> index = IndexIn(positions_, position);
  if (!index || *index >= shape[IsAttention(point.place) ? 1 : 0]) return;
  float* const to = values_.data() + captured.begin;
  if (IsAttention(point.place)) {
    float* const begin = to + (point.head * shape[1] + *index) * shape[2];
    const auto end = std::ranges::copy(row.first(std::min(row.size(), shape[2])), begin).out;
    std::fill(end, begin + shape[2], point.place == Place::kScores ? -INFINITY : 0.0f);
    return;
  }
  const std::size_t heads = shape.size() == 3 ? shape[1] : 1;
  const std::size_t width = shape.back();
  for (std::size_t head = 0; head < heads; ++head) {
    std::ranges::copy(row.subspan(head * point.head_stride, width),
                      to + (*index * heads + head) * width);
  }
}

}  // namespace gpt2
