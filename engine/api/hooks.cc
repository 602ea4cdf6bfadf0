// Changes and captures of a request.
#include "engine/model/hooks.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/api/engine.h"
#include "engine/api/reply.h"
#include "engine/api/requests.h"
#include "engine/base/result.h"
#include "engine/generate/changes.h"
#include "engine/generate/context.h"

namespace gpt2 {
namespace {

// Reads the numbers of gpt2_set_hooks one after another. Past their end, and after one that is not
// an index, it returns zeros and is not ok.
class HookNumbers {
 public:
  explicit HookNumbers(std::span<const double> numbers) : rest_(numbers) {}

  bool is_ok() const { return is_ok_; }
  bool is_at_end() const { return rest_.empty(); }

  double Next() {
    is_ok_ = is_ok_ && !rest_.empty();
    if (!is_ok_) return 0;
    const double number = rest_.front();
    rest_ = rest_.subspan(1);
    return number;
  }
  // A whole number; -1 is Change::kAll.
  std::size_t Index() {
    const double number = Next();
    if (number == -1) return Change::kAll;
    is_ok_ = is_ok_ && number >= 0 && number <= INT32_MAX && std::trunc(number) == number;
    return is_ok_ ? static_cast<std::size_t>(number) : 0;
  }
  // The length of a list whose items take at least a number each.
  std::size_t Length() {
    const std::size_t length = Index();
    is_ok_ = is_ok_ && length <= rest_.size();
    return is_ok_ ? length : 0;
  }
  LayerPlace At() {
    const std::size_t place = Index();
    is_ok_ = is_ok_ && place <= static_cast<std::size_t>(Place::kLogits);
    const auto known = static_cast<Place>(is_ok_ ? place : 0);
    return {known, Index()};
  }
  std::vector<std::size_t> Indices() {
    std::vector<std::size_t> indices(Length());
    for (std::size_t& index : indices) index = Index();
    return indices;
  }
  Change ReadChange() {
    Change change{.at = At(), .head = Index(), .column = Index()};
    const std::size_t kind = Index();
    is_ok_ = is_ok_ && kind <= static_cast<std::size_t>(Change::Kind::kAdd);
    change.kind = static_cast<Change::Kind>(is_ok_ ? kind : 0);
    change.factor = static_cast<float>(Next());
    change.positions = Indices();
    change.values.resize(Length());
    for (float& value : change.values) value = static_cast<float>(Next());
    return change;
  }

 private:
  std::span<const double> rest_;
  bool is_ok_ = true;
};

}  // namespace

Result<Context*> ContextOf(Gpt2Engine& engine, std::size_t tokens) {
  const std::vector<double> numbers = std::exchange(engine.hooks, {});
  if (numbers.empty()) return &*engine.context;
  HookNumbers reader(numbers);
  std::vector<Change> changes;
  for (std::size_t count = reader.Length(); reader.is_ok() && changes.size() < count;) {
    changes.push_back(reader.ReadChange());
  }
  std::vector<LayerPlace> captures(reader.Length());
  for (LayerPlace& place : captures) place = reader.At();
  std::vector<std::size_t> positions = reader.Indices();
  if (!reader.is_ok() || !reader.is_at_end()) return Misuse("the numbers of hooks are damaged");
  if (!engine.changed) {
    GPT2_ASSIGN(engine.changed,
                Context::Create(*engine.weights, engine.context->compute(), *engine.kv_format));
  }
  if (!captures.empty() || engine.changes == nullptr || engine.changes_from != numbers) {
    GPT2_ASSIGN(engine.changes, Changes::Create(engine.context->config(), std::move(changes),
                                                captures, std::move(positions), tokens));
    engine.changes_from = numbers;
  }
  engine.changed->SetHooks(engine.changes);
  return &*engine.changed;
}

}  // namespace gpt2
