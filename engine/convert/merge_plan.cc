#include "engine/convert/merge_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/adapter_config.h"
#include "engine/convert/low_rank.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::string_view kHead = "lm_head.weight";
constexpr std::string_view kEmbedding = "wte.weight";

constexpr std::string_view kTheAdapter = "the adapter";  // begins each error of one adapter

Error BadAdapter(ErrorCode code, const std::string& what) {
  return Error{code, Concat(kTheAdapter, ": ", what)};
}

// "h.0.attn.c_attn.weight" -> "h.0.attn.c_attn"
std::string_view ModuleOf(std::string_view tensor) {
  return tensor.substr(0, tensor.rfind('.'));
}

// Whether PEFT can give the matrix of `spec` an A and a B. Embeddings get other factors.
bool TakesLowRank(const TensorSpec& spec) {
  return spec.is_block_matrix() || spec.name == kHead;
}

// The spec of the matrix of `module`, or null.
const TensorSpec* FindMatrix(std::span<const TensorSpec> specs, std::string_view module) {
  for (const TensorSpec& spec : specs) {
    if (TakesLowRank(spec) && ModuleOf(spec.name) == module) return &spec;
  }
  return nullptr;
}

Status CheckAdded(const std::string& name, const LowRank& change, const Adapter& adapter,
                  std::span<const TensorSpec> specs) {
  const std::string module = Quoted(name);
  const TensorSpec* const spec = FindMatrix(specs, name);
  if (spec == nullptr) {
    return BadAdapter(ErrorCode::kUnsupported,
                      Concat("it has LoRA for ", module,
                             ", expected c_attn, c_proj or c_fc of a layer of this model, or the "
                             "lm_head of a model that does not tie it to its embedding"));
  }
  if (change.in != spec->cols || change.out != spec->rows) {
    return BadAdapter(
        ErrorCode::kCorrupt,
        Concat(module, ": lora_A is [", change.rank, ", ", change.in, "] and lora_B [", change.out,
               ", ", change.rank, "], expected [r, ", spec->cols, "] and [", spec->rows, ", r]"));
  }
  if (const std::size_t rank = adapter.config.RankOf(name); change.rank != rank) {
    return BadAdapter(ErrorCode::kCorrupt, Concat(module, " has rank ", change.rank,
                                                  ", adapter_config.json says ", rank));
  }
  if (!adapter.config.targets || adapter.config.IsTarget(name)) return Done{};
  return BadAdapter(ErrorCode::kCorrupt,
                    Concat("it has LoRA for ", module,
                           ", which target_modules of adapter_config.json does not name"));
}

// Whether each module exists that the config names.
Status CheckComplete(const Adapter& adapter, std::span<const TensorSpec> specs) {
  const AdapterConfig& config = adapter.config;
  for (const TensorSpec& spec : specs) {
    const std::string_view module = ModuleOf(spec.name);
    if (!TakesLowRank(spec) || !config.IsTarget(module) || adapter.FindAdded(module) != nullptr) {
      continue;
    }
    return BadAdapter(ErrorCode::kNotFound,
                      Concat("target_modules names ", Quoted(module), ", which has no lora_A"));
  }
  for (const std::string& end : config.targets.value_or(std::vector<std::string>())) {
    const bool is_known = std::any_of(specs.begin(), specs.end(), [&](const TensorSpec& spec) {
      return TakesLowRank(spec) && ModuleEndsIn(ModuleOf(spec.name), end);
    });
    if (is_known) continue;
    return BadAdapter(
        ErrorCode::kUnsupported,
        Concat("target_modules names ", Quoted(end),
               ", expected c_attn, c_proj, c_fc, or lm_head of a model that does not tie it"));
  }
  for (const std::string& end : config.saved_modules) {
    const auto& saved = adapter.saved;
    const bool is_there = std::any_of(saved.begin(), saved.end(), [&](const auto& entry) {
      return ModuleOf(entry.first).ends_with(end);
    });
    if (is_there) continue;
    return BadAdapter(ErrorCode::kNotFound,
                      Concat("modules_to_save names ", Quoted(end), ", which has no tensor"));
  }
  return Done{};
}

bool SavesModule(const Adapter& adapter, std::string_view tensor) {
  const auto& ends = adapter.config.saved_modules;
  return std::any_of(ends.begin(), ends.end(),
                     [&](const std::string& end) { return ModuleOf(tensor).ends_with(end); });
}

// Whether a tied head becomes a separate one. PEFT copies each module of modules_to_save, so that
// embedding and head are no longer tied, unless ensure_weight_tying is set. A saved embedding or
// head that is not named there belongs to both.
Result<bool> UntiesHead(const Adapter& adapter) {
  const SavedTensor* const head = adapter.FindSaved(kHead);
  const SavedTensor* const embedding = adapter.FindSaved(kEmbedding);
  const bool stays_tied = adapter.config.keeps_tie ||
                          (!SavesModule(adapter, kHead) && !SavesModule(adapter, kEmbedding));
  if (!stays_tied && head != nullptr) return true;
  const bool has_both = head != nullptr && embedding != nullptr;
  const bool is_one = has_both ? head->values == embedding->values : head == nullptr;
  if (is_one && (stays_tied || embedding == nullptr)) return false;
  return BadAdapter(
      ErrorCode::kUnsupported,
      "this model ties lm_head to wte: expected both in the adapter, either equal or both "
      "named in modules_to_save");
}

std::string ShapeText(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t size : shape) text += Concat(text.empty() ? "[" : ", ", size);
  return text + "]";
}

Status CheckSaved(const std::string& name, const SavedTensor& tensor,
                  std::span<const TensorSpec> specs, const TensorSpec& head) {
  const TensorSpec* spec = name == kHead ? &head : nullptr;
  for (const TensorSpec& each : specs) {
    if (each.name == name) spec = &each;
  }
  if (spec == nullptr) {
    return BadAdapter(ErrorCode::kUnsupported,
                      Concat("tensor ", Quoted(name), " does not belong to a GPT-2"));
  }
  std::vector<std::uint64_t> expected = {spec->rows, spec->cols};
  if (spec->is_conv1d()) std::swap(expected[0], expected[1]);
  if (spec->is_vector()) expected.erase(expected.begin());
  if (tensor.shape == expected) return Done{};
  return BadAdapter(ErrorCode::kCorrupt,
                    Concat("tensor ", Quoted(name), " is ", ShapeText(tensor.shape), ", expected ",
                           ShapeText(expected)));
}

}  // namespace

Status MergePlan::Add(const Adapter& adapter, const Config& config,
                      std::span<const TensorSpec> specs) {
  for (const auto& [module, change] : adapter.added) {
    GPT2_TRY(CheckAdded(module, change, adapter, specs));
  }
  GPT2_TRY(CheckComplete(adapter, specs));
  if (adapter.saved.empty()) return Done{};
  if (adapter.weight != 1.0) {
    return BadAdapter(
        ErrorCode::kInvalidArgument,
        Concat("its weight is not 1, but it replaces tensor ", Quoted(adapter.saved.begin()->first),
               ", which a weight cannot scale"));
  }
  const TensorSpec head = HeadSpec(config);
  for (const auto& [name, tensor] : adapter.saved) {
    GPT2_TRY(CheckSaved(name, tensor, specs, head));
  }
  if (!config.tie_word_embeddings) return Done{};
  GPT2_ASSIGN(const bool unties_head, UntiesHead(adapter));
  unties_head_ |= unties_head;
  ties_head_ |= !unties_head && adapter.FindSaved(kEmbedding) != nullptr;
  return Done{};
}

// A tensor that one adapter saves as a whole must not be in another. LoRA of the same adapter may
// be added to it: PEFT saves a head that is also a target.
Status MergePlan::CheckShared() const {
  for (const Adapter& adapter : adapters_) {
    for (const auto& [name, tensor] : adapter.saved) {
      for (const Adapter& other : adapters_) {
        const bool is_shared =
            other.FindSaved(name) != nullptr || other.FindAdded(ModuleOf(name)) != nullptr;
        if (&other == &adapter || !is_shared) continue;
        return BadAdapter(
            ErrorCode::kInvalidArgument,
            Concat("tensor ", Quoted(name), " is replaced by one adapter and changed by another"));
      }
    }
  }
  return Done{};
}

Result<MergePlan> MergePlan::Make(std::vector<Adapter> adapters, const Config& config,
                                  std::span<const TensorSpec> specs) {
  MergePlan plan;
  plan.adapters_ = std::move(adapters);
  for (const Adapter& adapter : plan.adapters_) {
    Status added = plan.Add(adapter, config, specs);
    if (added.ok()) continue;
    if (plan.adapters_.size() == 1) return added.TakeError();
    const auto number = &adapter - plan.adapters_.data() + 1;
    return Error{added.error().code,
                 Concat("adapter ", number, added.error().message.substr(kTheAdapter.size()))};
  }
  GPT2_TRY(plan.CheckShared());
  return plan;
}

const SavedTensor* MergePlan::FindSaved(const TensorSpec& spec) const {
  // A file may contain a copy of a tied head.
  const std::string_view name = ties_head_ && spec.name == kHead ? kEmbedding : spec.name;
  for (const Adapter& adapter : adapters_) {
    if (const SavedTensor* const found = adapter.FindSaved(name)) return found;
  }
  return nullptr;
}

bool MergePlan::Adds(const TensorSpec& spec) const {
  return FindSaved(spec) != nullptr && !(ties_head_ && spec.name == kHead);
}

bool MergePlan::Changes(const TensorSpec& spec) const {
  return FindSaved(spec) != nullptr ||
         std::any_of(adapters_.begin(), adapters_.end(), [&](const Adapter& adapter) {
           return spec.is_matrix() && adapter.FindAdded(ModuleOf(spec.name)) != nullptr;
         });
}

bool MergePlan::Apply(const TensorSpec& spec, bool is_transposed, std::size_t first_row,
                      std::span<float> values) {
  const std::size_t columns = is_transposed ? spec.rows : spec.cols;
  if (const SavedTensor* const saved = FindSaved(spec)) {
    const bool is_turned = spec.is_conv1d() && !is_transposed;  // saved as [in, out]
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at =
          is_turned ? i % columns * spec.rows + first_row + i / columns : first_row * columns + i;
      values[i] = saved->values[at];
    }
  }
  if (!spec.is_matrix()) return true;
  bool is_finite = true;
  for (const Adapter& adapter : adapters_) {
    const LowRank* const change = adapter.FindAdded(ModuleOf(spec.name));
    if (change == nullptr) continue;
    const std::vector<float>& c = is_transposed ? change->a : change->b_transposed;
    const std::vector<float>& rows = is_transposed ? change->b_transposed : change->a;
    sums_.resize(columns);
    for (std::size_t at = 0; at < values.size(); at += columns) {
      AddCombination(change->scale, c.data() + first_row + at / columns,
                     is_transposed ? change->in : change->out, rows, sums_, values.data() + at);
    }
    for (const float value : values) is_finite &= std::isfinite(value);
  }
  return is_finite;
}

TensorSpec HeadSpec(Config config) {
  config.tie_word_embeddings = false;
  for (TensorSpec& spec : TensorSpecs(config)) {
    if (spec.name == kHead) return std::move(spec);
  }
  return {};
}

}  // namespace gpt2
