// The commands of `gpt2-weights` and their options.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weights_tools/commands.h"

namespace gpt2::tools {

// The parsed arguments; several commands share most of them.
struct Arguments {
  std::string model, out, file, format = "q8", original;
  Prompt prompt;
  std::vector<SetOption> options;
  RunOptions run;
  ConvertOptions convert;
  std::vector<AdapterFolder> adapters;  // of inspect
  std::size_t stride = 0;
  std::uint64_t seed = 0;
  bool json = false, force = false, lines = false, allow_special = false, echo = false;
  std::function<Status()> action;  // the requested command; set by parsing
};

// Adds all commands to `app`. Parsing fills `arguments`, which must live as long as `app`.
void AddCommands(CLI::App& app, Arguments& arguments);

}  // namespace gpt2::tools
