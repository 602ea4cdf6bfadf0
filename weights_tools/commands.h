// Implements the `gpt2-weights` commands after their arguments are read. Each prints its result on
// standard output, as JSON if requested, and returns an error instead of printing it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/generate/options.h"
#include "weights_tools/adapters.h"
#include "weights_tools/model_writer.h"

namespace gpt2::tools {

// How a model is run.
struct RunOptions {
  std::size_t threads = 0;              // 0: one per core
  std::optional<std::string> weights;   // "q8", "q4" or "f32": the format for matrices of floats
  std::optional<std::string> kv;        // "q8" or "f32"; by default as the weights
  std::optional<std::string> kernels;   // a name from KernelTables(); by default the fastest
  std::vector<AdapterFolder> adapters;  // to be merged into the model
};

// A prompt as text or as ids, whichever is set.
struct Prompt {
  std::optional<std::string> text;
  std::vector<std::int32_t> ids;
};

// Sets an option of a generation as the caller asked; the others are the model's defaults.
using SetOption = std::function<void(GenerateOptions&)>;

// How a model is converted.
struct ConvertOptions {
  StoredWeights format = StoredWeights::kQ8;
  std::string calibration_file;  // UTF-8 text for q4; "": the model writes its own
  std::size_t calibration_tokens =
      1 << 13;  // at most this many of its tokens; 0: all inputs have the same weight
  std::vector<AdapterFolder> adapters;  // to be merged into the model first
  bool force = false;                   // replace an existing model folder
};

Status Convert(const std::string& in, const std::string& out, const ConvertOptions& options,
               bool json);
Status Inspect(const std::string& model, const std::vector<AdapterFolder>& adapters,
               const std::string& original, bool json);
Status Generate(const std::string& model, const Prompt& prompt,
                const std::vector<SetOption>& wanted, const RunOptions& run, bool json);
// `original` may be empty; otherwise KL divergence is measured from this model.
Status Evaluate(const std::string& model, const std::string& file, const std::string& original,
                std::size_t stride, const RunOptions& run, bool json);
// `text_file` may be empty; otherwise it is a text with a published perplexity.
Status Verify(const std::string& model, const std::string& text_file, const RunOptions& run,
              bool json);
Status TraceLayers(const std::string& model, const Prompt& prompt, const RunOptions& run);
Status Tokenize(const std::string& model, bool lines, bool allow_special);
Status Detokenize(const std::string& model, bool lines, bool json);
// With `echo` the model, whose head must be tied, repeats the last token.
Status MakeRandomModel(const std::string& config, const std::string& out, StoredWeights format,
                       std::uint64_t seed, bool echo, bool force, bool json);

}  // namespace gpt2::tools
