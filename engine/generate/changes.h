// Changes and captures at named places of the forward pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/model/config.h"
#include "engine/model/hooks.h"

namespace gpt2 {

// A place of one layer; layer 0 for those outside the layers.
struct LayerPlace {
  Place place;
  std::size_t layer;

  bool operator==(const LayerPlace&) const = default;
};

// A change of the values at one place. Its lists are parts of the numbers that describe it.
struct Change {
  enum class Kind { kSet, kScale, kAdd };
  static constexpr std::size_t kAll = SIZE_MAX;

  LayerPlace at;
  std::size_t head;    // of a place that has heads; kAll: all
  std::size_t column;  // in the row, or in the head's part of it; in scores and patterns, the
                       // position looked at; kAll: all
  Kind kind;
  float factor;                       // kScale: of the old value; kAdd: of `values`
  std::span<const double> positions;  // in the context; none: all
  std::span<const double> values;     // one for all, one for each column, or a row for each of
                                      // `positions`
};

// The values at a place, for all tokens of a text or for some.
struct Captured {
  LayerPlace at;
  std::size_t begin;  // in Changes::captured_values()
};

// Applies changes in their order, then captures what is left. Not thread-safe.
class Changes final : public Hooks {
 public:
  // The most bytes that can be captured at once.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  // Reads the numbers of gpt2_set_hooks (api.h), for a text of `tokens` tokens. Fails if they are
  // damaged, if a change or a capture is not in the model, or if the captures are too large.
  static Result<std::shared_ptr<Changes>> Create(const Config& config, std::vector<double> numbers,
                                                 std::size_t tokens);

  bool Wants(Place place, std::size_t layer) const override;
  bool ChangesAttention(std::size_t layer) const override;
  std::size_t FirstPosition() const override;
  void Visit(const HookPoint& point, std::span<const BatchToken> batch, MatView<float> x) override;
  MatView<float> Scores() override;

  // Whether values at `place` are captured at one of the positions [first, first + count).
  bool Captures(Place place, std::size_t first, std::size_t count) const;

  // What describes them.
  const std::vector<double>& numbers() const { return numbers_; }
  const std::vector<Captured>& captured() const { return captured_; }
  // Of each place [positions, width], [positions, heads, width] or, for scores and patterns,
  // [heads, positions, tokens].
  std::span<const float> captured_values() const { return values_; }

 private:
  Changes(const Config& config, std::vector<double> numbers, std::size_t tokens)
      : config_(config), numbers_(std::move(numbers)), tokens_(tokens) {}

  void Apply(const Change& change, const HookPoint& point, std::size_t position,
             std::span<float> row) const;
  void Keep(const Captured& captured, const HookPoint& point, std::size_t position,
            std::span<const float> row);

  const Config& config_;
  std::vector<double> numbers_;
  std::size_t tokens_;
  std::vector<Change> changes_;
  std::vector<Captured> captured_;
  std::span<const double> positions_;  // that are captured; none: all
  std::vector<float> values_;
  std::vector<float> scores_;  // [kMaxBatch, n_positions], or empty
};

}  // namespace gpt2
