#include "engine/api/changes_json.h"

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/engine.h"
#include "engine/api/options_json.h"
#include "engine/api/reply.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/changes.h"
#include "engine/generate/context.h"
#include "engine/generate/place_names.h"

namespace gpt2 {
namespace {

// The most changes of a request, once those of every layer are counted one by one.
constexpr std::size_t kMostChanges = 100'000;

Result<std::optional<std::size_t>> ReadIndex(const Json& value, const std::string& name) {
  using Index = std::optional<std::size_t>;
  const auto number = WholeNumber(value, 0, std::numeric_limits<std::int32_t>::max());
  if (number) return Index(static_cast<std::size_t>(*number));
  return Misuse(Concat(name, " is ", Shown(value), ", expected a whole number of at least 0"));
}

// A whole number, or a list of them.
Result<std::vector<std::size_t>> ReadIndices(const Json& value, const std::string& name) {
  std::vector<std::size_t> indices;
  const auto add = [&](const Json& each) -> Status {
    GPT2_ASSIGN(const std::optional<std::size_t> index, ReadIndex(each, name));
    indices.push_back(*index);
    return Done{};
  };
  if (!value.is_array()) {
    GPT2_TRY(add(value));
  } else {
    for (const Json& each : value) GPT2_TRY(add(each));
  }
  return indices;
}

Result<float> ReadFloat(const Json& value, const std::string& name) {
  if (IsText(value, "-Infinity")) return -std::numeric_limits<float>::infinity();
  if (value.is_number()) {
    const auto number = static_cast<float>(value.get<double>());
    if (std::isfinite(number)) return number;
  }
  return Misuse(Concat(name, " is ", Shown(value), ", expected a number"));
}

// A number, or a list of them.
Result<std::vector<float>> ReadFloats(const Json& value, const std::string& name) {
  std::vector<float> floats;
  const auto add = [&](const Json& each) -> Status {
    GPT2_ASSIGN(const float number, ReadFloat(each, name));
    floats.push_back(number);
    return Done{};
  };
  if (!value.is_array()) {
    GPT2_TRY(add(value));
  } else {
    for (const Json& each : value) GPT2_TRY(add(each));
  }
  return floats;
}

Result<std::vector<LayerPlace>> ReadPlace(const Json& value, const std::string& name,
                                          std::size_t layers) {
  const auto* const text = value.get_ptr<const std::string*>();  // null if it is not a string
  if (text != nullptr) return PlacesNamed(*text, layers);
  return Misuse(Concat(name, " is ", Shown(value), ", expected the name of a place"));
}

// Reads the member `name` of a change into it.
Status ReadMember(const std::string& name, const Json& value, Change& change) {
  const std::string field = "change." + name;
  const auto read_index = [&](std::optional<std::size_t>& index) -> Status {
    GPT2_ASSIGN(index, ReadIndex(value, field));
    return Done{};
  };
  if (name == "head") return read_index(change.head);
  if (name == "neuron") return read_index(change.column);
  if (name == "key") return read_index(change.key);
  if (name == "position" || name == "query") {
    GPT2_ASSIGN(change.positions, ReadIndices(value, field));
  } else if (name == "set" || name == "add") {
    change.kind = name == "set" ? Change::Kind::kSet : Change::Kind::kAdd;
    GPT2_ASSIGN(change.values, ReadFloats(value, field));
  } else if (name == "scale" || name == "weight") {
    if (name == "scale") change.kind = Change::Kind::kScale;
    GPT2_ASSIGN(change.factor, ReadFloat(value, field));
  }
  return Done{};
}

Status ReadChange(const Json& json, std::size_t layers, std::vector<Change>& changes) {
  GPT2_TRY(CheckNames(
      json, "the members of a change",
      {"at", "head", "neuron", "position", "query", "key", "set", "scale", "add", "weight"}));
  const Json* const at = FindMember(json, "at");
  if (at == nullptr) return Misuse("a change has no \"at\", the name of its place");
  GPT2_ASSIGN(const std::vector<LayerPlace> places, ReadPlace(*at, "change.at", layers));
  std::size_t kinds = 0;
  Change change;
  for (const auto& [name, value] : json.items()) {
    GPT2_TRY(ReadMember(name, value, change));
    if (name == "set" || name == "scale" || name == "add") ++kinds;
  }
  if (kinds != 1) return Misuse("a change has none or several of \"set\", \"scale\" and \"add\"");
  if (changes.size() + places.size() > kMostChanges) {
    return Misuse(Concat("there are more than ", kMostChanges, " changes"));
  }
  for (const LayerPlace& place : places) {
    changes.push_back(change);
    changes.back().at = place;
  }
  return Done{};
}

// The items of the list `name` in `options`; none without it.
Result<const Json*> ListIn(const Json& options, std::string_view name) {
  const Json* const list = FindMember(options, name);
  if (list == nullptr || list->is_array()) return list;
  return Misuse(Concat(name, " is ", Shown(*list), ", expected a list"));
}

}  // namespace

bool IsChangeOption(std::string_view name) {
  return name == "change" || name == "capture" || name == "positions";
}

Result<Context*> ContextOf(Gpt2Engine& engine, const Json& options, std::size_t tokens,
                           bool may_capture) {
  GPT2_ASSIGN(const Json* const change, ListIn(options, "change"));
  GPT2_ASSIGN(const Json* const capture, ListIn(options, "capture"));
  GPT2_ASSIGN(const Json* const positions, ListIn(options, "positions"));
  if (capture == nullptr && positions != nullptr) return Misuse("positions needs capture");
  if (capture != nullptr && !may_capture) return Misuse("only inspect can capture");
  const bool is_empty = (change == nullptr || change->empty()) && capture == nullptr;
  if (is_empty) return &*engine.context;
  const Config& config = engine.context->config();
  std::vector<Change> changes;
  if (change != nullptr) {
    for (const Json& each : *change) GPT2_TRY(ReadChange(each, config.n_layer, changes));
  }
  std::vector<LayerPlace> places;
  if (capture != nullptr) {
    for (const Json& each : *capture) {
      GPT2_ASSIGN(const std::vector<LayerPlace> named, ReadPlace(each, "capture", config.n_layer));
      places.insert(places.end(), named.begin(), named.end());
    }
  }
  std::vector<std::size_t> rows;
  if (positions != nullptr) {
    GPT2_ASSIGN(rows, ReadIndices(*positions, "positions"));
  }
  if (!engine.changed) {
    GPT2_ASSIGN(engine.changed,
                Context::Create(*engine.weights, engine.context->compute(), *engine.kv_format));
  }
  const bool is_same = capture == nullptr && engine.changes != nullptr &&
                       engine.changes->captured().empty() && engine.changes->changes() == changes;
  if (!is_same) {
    GPT2_ASSIGN(engine.changes,
                Changes::Create(config, std::move(changes), places, std::move(rows), tokens));
  }
  engine.changed->SetHooks(engine.changes);
  return &*engine.changed;
}

}  // namespace gpt2
