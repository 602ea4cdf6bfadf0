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

// A number that holds for the modules that `module` names, as ModuleEndsIn says.
struct ModuleNumber {
  std::string module;
  double number = 0;
};

// What the file says of each module. Modules are named as TensorSpec names their weights, without
// ".weight": "h.0.attn.c_attn", "lm_head".
struct AdapterConfig {
  double rank = 0;
  double alpha = 0;
  std::vector<ModuleNumber> ranks;   // the first that fits a module comes before `rank`
  std::vector<ModuleNumber> alphas;  // and before `alpha`
  bool divides_by_root = false;      // use_rslora: the scale is alpha / sqrt(rank)
  // Ends of the names of the modules that LoRA changes. Empty if the file has "all-linear" or a
  // regular expression, which is not evaluated.
  std::optional<std::vector<std::string>> targets;
  std::vector<std::string> excluded;       // the same of modules that it does not change
  std::vector<std::size_t> layers;         // that it changes; empty: all
  std::vector<std::string> saved_modules;  // ends of the names of those that are saved whole
  bool keeps_tie = false;                  // a tied head and embedding are saved as one

  std::size_t RankOf(std::string_view module) const;
  // What the product B A of a module is multiplied by.
  double ScaleOf(std::string_view module) const;
  // Whether `targets`, which are given, `excluded` and `layers` name a module.
  bool IsTarget(std::string_view module) const;
};

// Whether the name of a module ends in `end`, which PEFT compares part by part; or, where `end`
// begins with "^", is the rest of it.
bool ModuleEndsIn(std::string_view module, std::string_view end);

// Reads the text of an adapter_config.json. Fails, naming the field, if a known or unknown field
// asks for something that changes the result and is not implemented.
Result<AdapterConfig> ReadAdapterConfig(std::string_view text);

}  // namespace gpt2
