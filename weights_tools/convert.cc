// `gpt2-weights convert`: writes a model in another format, quantized if requested.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/stored_weights.h"
#include "engine/generate/context.h"
#include "engine/generate/options.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/generate/session.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"
#include "engine/model/kv_cache.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"
#include "weights_tools/adapters.h"
#include "weights_tools/calibration.h"
#include "weights_tools/commands.h"
#include "weights_tools/files.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/model_writer.h"
#include "weights_tools/output_folder.h"
#include "weights_tools/progress.h"
#include "weights_tools/quantizer.h"
#include "weights_tools/runner.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {

namespace {

// Limit for Gram matrices in memory, in bytes: those of GPT-2 124M take a third of it.
constexpr std::size_t kGramBudget = std::size_t{1} << 30;

// Bytes of the Gram matrices of one layer's inputs.
std::size_t LayerGramBytes(const Config& c) {
  return sizeof(float) * (3 * c.n_embd * c.n_embd + c.n_inner * c.n_inner);
}

// A text that the model writes itself, without filters: it shows what the model has learnt, which
// must be preserved. It calibrates as well as text of the training set (FORMAT.md).
Result<std::vector<std::int32_t>> WriteCalibrationText(Context& context, std::size_t tokens) {
  const Config& config = context.config();
  const std::vector<std::int32_t> start = {config.eos_token_id.value_or(0)};
  const std::size_t length = std::max<std::size_t>(1, config.n_positions - 1);
  GenerateOptions options{.max_new_tokens = length, .temperature = 1, .top_k = 0, .top_p = 1};
  options.n = kMostContinuations;  // together they take little longer than one
  options.ignore_eos = true;
  Progress progress("writing a calibration text");
  std::vector<std::int32_t> ids;
  while (ids.size() < tokens) {
    GPT2_ASSIGN(Session session, Session::Begin(context, /*tokenizer=*/nullptr, start, options));
    std::vector<std::vector<std::int32_t>> texts(options.n, start);
    std::size_t written = 0;
    while (!session.is_done() && ids.size() + written < tokens) {
      GPT2_ASSIGN(const auto written_now, session.Step());
      for (const GeneratedToken& token : written_now) {
        texts[token.continuation].push_back(token.id);
        ++written;
      }
      progress.Update(ids.size() + written, tokens);
    }
    for (const auto& text : texts) ids.insert(ids.end(), text.begin(), text.end());
    options.seed += options.n;
  }
  ids.resize(tokens);
  GPT2_TRY(context.SetSequences(1));
  return ids;
}

Result<std::vector<std::int32_t>> CalibrationIds(const LoadedModel& model, Context& context,
                                                 const ConvertOptions& options) {
  if (options.calibration_tokens == 0) return std::vector<std::int32_t>();
  if (options.calibration_file.empty()) {
    return WriteCalibrationText(context, options.calibration_tokens);
  }
  GPT2_ASSIGN(const std::string text, ReadFile(options.calibration_file));
  if (!model.tokenizer) {
    return Error{ErrorCode::kNotFound,
                 "--calibrate needs a tokenizer, and the model has none: add vocab.json and "
                 "merges.txt, or leave out --calibrate"};
  }
  GPT2_ASSIGN(auto ids, model.tokenizer->Encode(text, SpecialTokens::kAllowed));
  ids.resize(std::min(ids.size(), options.calibration_tokens));
  if (!ids.empty()) return ids;
  return Error{ErrorCode::kInvalidArgument, options.calibration_file + " is empty, expected text"};
}

// The approximate work to quantize a tensor, in multiply-adds; 0 for one that stays unchanged. With
// a Gram matrix, it includes its factorization and the correction of later weights.
std::uint64_t QuantizingWork(const TensorSpec& spec, bool is_calibrated) {
  if (!spec.is_block_matrix() || spec.cols < kGroup) return 0;
  constexpr std::uint64_t kSearching = 1000;  // scales tried for each weight
  const std::uint64_t inputs = spec.cols;
  const std::uint64_t factors = is_calibrated ? inputs * inputs * inputs / 6 : 0;
  return factors + spec.rows * inputs * (kSearching + (is_calibrated ? inputs / 2 : 0));
}

// Quantizes the floating-point matrices of `specs` to q4's format.
Status QuantizeMatrices(std::span<const TensorSpec> specs, const GramByMatrix& grams,
                        ThreadPool& pool, Weights& weights, const std::string& label) {
  std::uint64_t total = 0;
  for (const TensorSpec& spec : specs) total += QuantizingWork(spec, !grams.empty());
  Progress progress(label, total);
  for (const TensorSpec& spec : specs) {
    progress.Advance(0);
    if (!spec.is_matrix()) continue;
    const WeightFormat format = MatrixFormat(StoredWeights::kQ4, spec);
    if (format == WeightFormat::kF32) continue;
    Matrix& matrix = *Bind(spec, weights).matrix;
    if (format == WeightFormat::kQ8) {
      GPT2_ASSIGN(matrix, QuantizeToQ8(matrix));
      continue;
    }
    const auto found = grams.find(spec.name);
    const Gram none;
    GPT2_ASSIGN(matrix, QuantizeToQ4(matrix, found == grams.end() ? none : found->second, pool));
    progress.Advance(QuantizingWork(spec, !grams.empty()));
  }
  return Done{};
}

// Measures the whole model before it quantizes anything, if the Gram matrices of all layers fit the
// budget. Otherwise the inputs of later layers are measured with the earlier layers quantized.
Status QuantizeModel(LoadedModel& model, const ConvertOptions& options) {
  const Config& config = model.weights->config;
  ThreadPool pool(CoreCount());
  GPT2_ASSIGN(Context context,
              Context::Create(*model.weights, {&BestKernels(), &pool}, KvFormat::kF32));
  GPT2_ASSIGN(const std::vector<std::int32_t> ids, CalibrationIds(model, context, options));
  GPT2_TRY(CheckTokenIds(config, ids));
  const std::vector<TensorSpec> specs = TensorSpecs(config);
  const std::size_t layers = std::max<std::size_t>(1, kGramBudget / LayerGramBytes(config));
  for (std::size_t first = 0; first < config.n_layer; first += layers) {
    const std::size_t last = std::min(config.n_layer, first + layers);
    std::vector<TensorSpec> chosen;
    for (const TensorSpec& spec : specs) {
      const std::size_t layer = spec.is_block_matrix() ? spec.layer : config.n_layer - 1;
      if (layer >= first && layer < last) chosen.push_back(spec);
    }
    const std::string label = "layers " + std::to_string(first) + " to " + std::to_string(last - 1);
    GramByMatrix grams;
    if (!ids.empty()) grams = MeasureGrams(context, ids, chosen, "calibrating " + label);
    GPT2_TRY(QuantizeMatrices(chosen, grams, pool, *model.weights, "quantizing " + label));
  }
  return Done{};
}

}  // namespace

Status Convert(const std::string& in, const std::string& out, const ConvertOptions& options,
               bool json) {
  std::vector<fs::path> inputs = {in};
  if (!options.calibration_file.empty()) inputs.emplace_back(options.calibration_file);
  for (const AdapterFolder& adapter : options.adapters) inputs.emplace_back(adapter.path);
  GPT2_TRY(CheckDestination(out, inputs, options.force));
  if (json) GPT2_TRY(CheckPrintable("OUT", out));
  const bool is_q8 = options.format == StoredWeights::kQ8;
  GPT2_ASSIGN(LoadedModel model, LoadModel(in, is_q8 ? WeightFormat::kQ8 : WeightFormat::kF32,
                                           std::nullopt, options.adapters));
  PrintNotes(model.warnings);
  const std::optional<StoredWeights> stored = model.config.weights;
  if (stored && InfoOf(*stored).has_codes()) {
    return Error{ErrorCode::kInvalidArgument, in + " is already converted to " +
                                                  std::string(StoredWeightsName(*stored)) +
                                                  ": convert the original model instead"};
  }
  if (!options.calibration_file.empty() && options.format != StoredWeights::kQ4) {
    return Error{ErrorCode::kInvalidArgument, "--calibrate works only with --weights q4, found " +
                                                  std::string(StoredWeightsName(options.format)) +
                                                  ": leave it out"};
  }
  if (options.format == StoredWeights::kQ4) GPT2_TRY(QuantizeModel(model, options));
  const std::set<std::string> present = PresentTensors(model);
  GPT2_ASSIGN(const WriteReport report,
              WriteModel(out, {.weights = model.weights.get(),
                               .only = &present,
                               .format = options.format,
                               .config = model.config_json,
                               .other_heads = model.config.other_heads,
                               .vocabulary = model.vocabulary ? &*model.vocabulary : nullptr,
                               .generation_config =
                                   model.generation_config ? &*model.generation_config : nullptr,
                               .inputs = inputs,
                               .force = options.force}));
  PrintNotes(report.leftovers);
  const Json result = {{"out", out},
                       {"parameters", model.weights->parameter_count},
                       {"bytes_in", model.file_bytes},
                       {"bytes", report.bytes},
                       {"pieces", report.pieces},
                       {"sha256", report.sha256}};
  if (json) {
    PrintJson(result);
    return Done{};
  }
  std::printf(
      "%s: %zu parameters, %llu -> %llu bytes (%.1f %%, %.2f bits per parameter) in %zu pieces\n"
      "sha256 %s\n",
      Visible(out).c_str(), model.weights->parameter_count,
      static_cast<unsigned long long>(model.file_bytes),
      static_cast<unsigned long long>(report.bytes),
      100.0 * static_cast<double>(report.bytes) / static_cast<double>(model.file_bytes),
      8.0 * static_cast<double>(report.bytes) / static_cast<double>(model.weights->parameter_count),
      report.pieces, report.sha256.c_str());
  return Done{};
}

}  // namespace gpt2::tools
