// The numbers of gpt2_set_hooks, from what they describe.
#pragma once

#include <limits>
#include <vector>

#include "engine/generate/changes.h"

namespace gpt2::testing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct ChangeSpec {
  LayerPlace at;
  double head = -1;
  double column = -1;
  Change::Kind kind = Change::Kind::kSet;
  double factor = 1;
  std::vector<double> positions = {};
  std::vector<double> values = {};
};

inline std::vector<double> HookNumbers(const std::vector<ChangeSpec>& changes,
                                       const std::vector<LayerPlace>& captures = {},
                                       const std::vector<double>& positions = {}) {
  std::vector<double> numbers;
  const auto add_list = [&](const std::vector<double>& list) {
    numbers.push_back(static_cast<double>(list.size()));
    numbers.insert(numbers.end(), list.begin(), list.end());
  };
  const auto add_place = [&](const LayerPlace& at) {
    numbers.push_back(static_cast<double>(at.place));
    numbers.push_back(static_cast<double>(at.layer));
  };
  numbers.push_back(static_cast<double>(changes.size()));
  for (const ChangeSpec& change : changes) {
    add_place(change.at);
    numbers.insert(numbers.end(),
                   {change.head, change.column, static_cast<double>(change.kind), change.factor});
    add_list(change.positions);
    add_list(change.values);
  }
  numbers.push_back(static_cast<double>(captures.size()));
  for (const LayerPlace& at : captures) add_place(at);
  add_list(positions);
  return numbers;
}

}  // namespace gpt2::testing
