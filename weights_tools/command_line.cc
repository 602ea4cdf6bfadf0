#include "weights_tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/stored_weights.h"
#include "engine/generate/options.h"
#include "engine/kernels/kernels.h"
#include "weights_tools/adapters.h"
#include "weights_tools/commands.h"
#include "weights_tools/number_arguments.h"

namespace gpt2::tools {
namespace {

// The module's limit: threadLimit in web/src/shared/protocol.ts.
constexpr double kMostThreads = 64;

// "maxNewTokens" -> "--max-new-tokens"
std::string FlagName(std::string_view name) {
  std::string flag = "--";
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      flag += '-';
      flag += static_cast<char>(c - 'A' + 'a');
    } else {
      flag += c;
    }
  }
  return flag;
}

// The value of `result`; its error is reported as wrong usage.
template <typename T>
T ValueOrWrongUsage(Result<T> result) {
  if (!result.ok()) throw CLI::ValidationError(result.error().message);
  return std::move(result.value());
}

StoredWeights FormatOf(const std::string& name) {
  return *std::find_if(std::begin(kConvertedWeights), std::end(kConvertedWeights),
                       [&](StoredWeights weights) { return StoredWeightsName(weights) == name; });
}

// An option that CLI11 passes to `read` as text: CLI11's own conversions accept "0x10", "nan" and
// "".
CLI::Option* AddText(CLI::App* command, const std::string& flag,
                     std::function<void(const std::string&)> read, const std::string& help,
                     const std::string& type) {
  const auto take = [read = std::move(read)](const CLI::results_t& words) {
    read(words.empty() ? std::string() : words[0]);
    return true;
  };
  return command->add_option(flag, take, help)->type_name(type);
}

CLI::Option* AddNumber(CLI::App* command, const std::string& flag, const NumberRange& range,
                       std::function<void(double)> set, const std::string& help) {
  const auto read = [flag, range, set = std::move(set)](const std::string& text) {
    set(ValueOrWrongUsage(ParseNumber(flag, text, range)));
  };
  return AddText(command, flag, read, help, Described(range));
}

CLI::Option* AddCount(CLI::App* command, const std::string& flag, std::size_t& count, double most,
                      const std::string& help) {
  return AddNumber(
             command, flag, {.is_whole = true, .least = 0, .most = most},
             [&count](double value) { count = static_cast<std::size_t>(value); }, help)
      ->default_str(std::to_string(count));
}

// A file or folder. The empty path would mean the current folder.
CLI::Option* AddPath(CLI::App* command, const std::string& name, std::string& path,
                     const std::string& help) {
  const auto is_path = [name](const std::string& text) {
    return text.empty() ? name + " is empty, expected a path" : std::string();
  };
  return command->add_option(name, path, help)
      ->check(CLI::Validator(is_path, "PATH"))
      ->type_name("");
}

CLI::App* AddCommand(CLI::App& app, Arguments& a, const char* name, const char* help,
                     std::function<Status()> run) {
  CLI::App* added = app.add_subcommand(name, help);
  added->callback([&a, run = std::move(run)] { a.action = run; });
  added->add_flag("--json", a.json, "Print the result as JSON");
  return added;
}

void AddModel(CLI::App* command, Arguments& a) {
  AddPath(command, "MODEL", a.model, "Model folder, or a GGUF file")->required();
}

void AddAdapters(CLI::App* command, std::vector<AdapterFolder>& adapters) {
  const auto read = [&adapters](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      adapters.push_back(ValueOrWrongUsage(ParseAdapter(text)));
    }
    return true;
  };
  command
      ->add_option("--adapter", read,
                   "Merge the LoRA adapter in the folder PATH into the model, multiplied by WEIGHT "
                   "(1 if left out); you can give it more than once")
      ->type_name("PATH[=WEIGHT]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// `default_weights`: the format to which the command converts a float model.
void AddRun(CLI::App* command, Arguments& a, const char* default_weights = "q8") {
  AddAdapters(command, a.run.adapters);
  std::vector<std::string> kernels;
  for (const KernelTable* table : KernelTables()) kernels.emplace_back(table->name);
  AddCount(command, "--threads", a.run.threads, kMostThreads,
           "Number of threads; 0 uses one per core");
  command
      ->add_option(
          "--weights", a.run.weights,
          "Convert a float model to this format while it loads; a folder in q8 or q4 keeps its "
          "format, another converted folder changes only if you give this option")
      ->check(CLI::IsMember({"q8", "q4", "f32"}))
      ->default_str(default_weights);
  command
      ->add_option("--kv", a.run.kv,
                   "Format of the KV cache; by default f32 for float weights, and q8 for others")
      ->check(CLI::IsMember({"q8", "f32"}));
  command
      ->add_option("--kernels", a.run.kernels,
                   "Implementation of the kernels; by default the fastest one")
      ->check(CLI::IsMember(kernels));
}

void AddPrompt(CLI::App* command, const std::string& text_flag, Arguments& a) {
  CLI::App* group = command->add_option_group("prompt", "The prompt, as text or as token ids");
  AddText(
      group, text_flag, [&a](const std::string& text) { a.prompt.text = text; },
      "The prompt as text", "TEXT");
  AddText(
      group, "--ids",
      [&a](const std::string& text) { a.prompt.ids = ValueOrWrongUsage(ParseIds("--ids", text)); },
      "The prompt as token ids, such as 1,2,3", "IDS");
  group->require_option(1);
}

// What each argument does. The engine leaves these texts out, because a browser would download
// them.
std::string HelpOf(std::string_view option) {
#define GPT2_NUMBER(name, field, type, hub_name, least, most, initial, help) \
  if (option == (name)) return help;
#define GPT2_FLAG(name, field, initial, help) \
  if (option == (name)) return help;
#include "generated/options.inc"
  return "";
}

void AddGenerateOptions(CLI::App* command, Arguments& a) {
  const GenerateOptions ours;
  for (const NumberOption& option : NumberOptions()) {
    if (option.name == "logprobs") continue;  // only in the web API
    char fallback[32];
    std::snprintf(fallback, sizeof fallback, "%g", option.get(ours));
    const auto set = [&a, &option](double value) {
      a.options.emplace_back([&option, value](GenerateOptions& o) { option.set(o, value); });
    };
    AddNumber(command, FlagName(option.name), {option.is_whole, option.least, option.most}, set,
              HelpOf(option.name))
        ->default_str(fallback);
  }
  for (const FlagOption& option : FlagOptions()) {
    const std::string name = FlagName(option.name);
    command->add_flag_callback(
        option.is_on ? "--no-" + name.substr(2) : name,
        [&a, &option] {
          a.options.emplace_back([&option](GenerateOptions& o) { option.set(o, !option.is_on); });
        },
        HelpOf(option.name));
  }
  const auto read_stop = [&a](const CLI::results_t& stop) {
    GenerateOptions checked;
    const Status status = SetStop(stop, checked);
    if (!status.ok()) throw CLI::ValidationError("--stop", status.error().message);
    a.options.emplace_back([stop = checked.stop](GenerateOptions& o) { o.stop = stop; });
    return true;
  };
  command
      ->add_option("--stop", read_stop,
                   "End the text before this string; you can give it more than once")
      ->type_name("TEXT")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// OUT and the options for writing it.
void AddOut(CLI::App* command, Arguments& a) {
  AddPath(command, "OUT", a.out, "Folder to write")->required();
  std::vector<std::string> names;
  for (const StoredWeights weights : kConvertedWeights) {
    names.emplace_back(StoredWeightsName(weights));
  }
  command->add_option("--weights", a.format, "Format in which the matrices are stored")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_flag("--force", a.force, "Replace the model folder at OUT");
}

void AddConvert(CLI::App& app, Arguments& a) {
  CLI::App* command = AddCommand(app, a, "convert",
                                 "Convert a model to a folder that any static host serves", [&a] {
                                   a.convert.format = FormatOf(a.format);
                                   a.convert.force = a.force;
                                   return Convert(a.model, a.out, a.convert, a.json);
                                 });
  AddPath(command, "IN", a.model, "Folder of a GPT-2 from the Hugging Face Hub, or a GGUF file")
      ->required();
  AddOut(command, a);
  AddAdapters(command, a.convert.adapters);
  AddPath(command, "--calibrate", a.convert.calibration_file,
          "UTF-8 text that calibrates q4; by default the model generates one");
  AddCount(command, "--calibration-tokens", a.convert.calibration_tokens, kMostTokens,
           "Calibrate q4 with at most this many tokens; 0 turns calibration off");
}

void AddInspect(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, a, "inspect", "Show the config, parameters and bytes of a model",
                 [&a] { return Inspect(a.model, a.adapters, a.original, a.json); });
  AddModel(command, a);
  AddAdapters(command, a.adapters);
  AddPath(command, "--original", a.original,
          "Also show the error of each tensor, compared with the original model in this folder");
}

void AddGenerate(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, a, "generate",
                 "Continue a prompt; the model's generation_config.json may set other defaults",
                 [&a] { return Generate(a.model, a.prompt, a.options, a.run, a.json); });
  AddModel(command, a);
  AddPrompt(command, "--prompt", a);
  AddGenerateOptions(command, a);
  AddRun(command, a);
}

void AddEval(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, a, "eval", "Measure the perplexity of a text, and the tokens per second",
                 [&a] { return Evaluate(a.model, a.file, a.original, a.stride, a.run, a.json); });
  AddModel(command, a);
  AddPath(command, "FILE", a.file, "UTF-8 text; <|endoftext|> separates its documents")->required();
  AddCount(command, "--stride", a.stride, kMostTokens,
           "Tokens by which each window advances; 0 means half the context");
  AddPath(command, "--original", a.original,
          "Also measure the KL divergence from the original model in this folder");
  AddRun(command, a);
}

void AddVerify(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, a, "verify", "Compare a copy of OpenAI's GPT-2 with its published results",
                 [&a] { return Verify(a.model, a.file, a.run, a.json); });
  AddModel(command, a);
  AddPath(command, "--text", a.file,
          "Also compare the perplexity of this text: the raw test split of WikiText-2");
  AddRun(command, a, "f32");
}

void AddTrace(CLI::App& app, Arguments& a) {
  CLI::App* command = AddCommand(
      app, a, "trace", "Print the residual stream after each layer, and the logits, as JSON",
      [&a] { return TraceLayers(a.model, a.prompt, a.run); });
  AddModel(command, a);
  AddPrompt(command, "--text", a);
  AddRun(command, a);
}

void AddTokenize(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, a, "tokenize", "Convert text on standard input to a JSON array of token ids",
                 [&a] { return Tokenize(a.model, a.lines, a.allow_special); });
  AddModel(command, a);
  command->add_flag("--lines", a.lines,
                    "Read one JSON string per line, and write one array per line");
  command->add_flag("--allow-special", a.allow_special,
                    "Read <|endoftext|> as the token, not as text");
}

void AddDetokenize(CLI::App& app, Arguments& a) {
  CLI::App* command = AddCommand(app, a, "detokenize",
                                 "Convert a JSON array of token ids on standard input to text",
                                 [&a] { return Detokenize(a.model, a.lines, a.json); });
  AddModel(command, a);
  command->add_flag("--lines", a.lines,
                    "Read one JSON array per line, and write one JSON string per line");
}

void AddRandom(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, a, "random", "Make a model folder of random weights, for benchmarks", [&a] {
        return MakeRandomModel(a.file, a.out, FormatOf(a.format), a.seed, a.echo, a.force, a.json);
      });
  AddPath(command, "CONFIG", a.file, "config.json with the shape of the model")->required();
  AddOut(command, a);
  AddText(
      command, "--seed",
      [&a](const std::string& text) { a.seed = ValueOrWrongUsage(ParseSeed("--seed", text)); },
      "The same seed gives the same weights", "a whole number")
      ->default_str("0");
  command->add_flag("--echo", a.echo,
                    "Make a model that repeats itself, to measure lookup decoding");
}

}  // namespace

void AddCommands(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(1);
  AddConvert(app, arguments);
  AddInspect(app, arguments);
  AddGenerate(app, arguments);
  AddEval(app, arguments);
  AddVerify(app, arguments);
  AddTrace(app, arguments);
  AddTokenize(app, arguments);
  AddDetokenize(app, arguments);
  AddRandom(app, arguments);
}

}  // namespace gpt2::tools
