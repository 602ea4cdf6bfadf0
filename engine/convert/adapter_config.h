// adapter_config.json of a LoRA adapter, as PEFT writes it (huggingface/peft,
// src/peft/tuners/lora/config.py, LoraConfig).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

// A number for the modules that `module` names: see ModuleEndsIn.
struct ModuleNumber {
  std::string module;
  double number = 0;
};

// The file's settings for each module. Modules are named as TensorSpec names their weights, without
// ".weight": "h.0.attn.c_attn", "lm_head".
struct AdapterConfig {
  double rank = 0;
  double alpha = 0;
  std::vector<ModuleNumber> ranks;   // the first that matches a module replaces `rank`
  std::vector<ModuleNumber> alphas;  // the first that matches a module replaces `alpha`
  bool divides_by_root = false;      // use_rslora: the scale is alpha / sqrt(rank)
  // Ends of the names of the modules that LoRA changes. Empty if the file has "all-linear" or a
  // regular expression, which is not evaluated.
  std::optional<std::vector<std::string>> targets;
  std::vector<std::string> whole_targets;  // those of them that are whole names
  std::vector<std::string> excluded;       // the same for modules that LoRA does not change
  std::vector<std::size_t> layers;         // the layers that LoRA changes; empty: all
  std::vector<std::string> saved_modules;  // ends of the names of modules that are saved as a whole
  bool keeps_tie = false;  // whether the file has a tied head and embedding only once

  std::size_t RankOf(std::string_view module) const;
  // The factor for the product B A of a module.
  double ScaleOf(std::string_view module) const;
  // Whether LoRA changes a module, according to `targets` (not empty), `excluded` and `layers`.
  bool IsTarget(std::string_view module) const;
};

// Whether the name of a module ends in `end`, compared part by part as in PEFT. If `end` begins
// with "^", whether the rest of `end` is the whole name.
bool ModuleEndsIn(std::string_view module, std::string_view end);

// Reads the text of an adapter_config.json. Fails, naming the field, if a known or unknown field
// requests something that changes the result and is not supported.
Result<AdapterConfig> ReadAdapterConfig(std::string_view text);

}  // namespace gpt2
