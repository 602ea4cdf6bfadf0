// gpt2-weights: makes, checks and runs model folders. Exit status 1 for bad input, 2 for wrong
// usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <limits>

#include "engine/kernels/kernels.h"
#include "weights_tools/commands.h"

namespace gpt2::tools {
namespace {

constexpr int kBadInput = 1;
constexpr int kWrongUsage = 2;

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

// Arguments that several commands share; lives as long as the parser.
struct Arguments {
  std::string model, out, file, format = "q8", original;
  Prompt prompt;
  GenerateOptions options;
  RunOptions run;
  ConvertOptions convert;
  std::size_t stride = 0;
  std::uint64_t seed = 0;
  bool json = false, force = false, lines = false, allow_special = false, echo = false;

  FileFormat file_format() const {
    const auto* found = std::find(std::begin(kFileFormatNames), std::end(kFileFormatNames), format);
    return static_cast<FileFormat>(found - std::begin(kFileFormatNames));
  }
};

void AddJson(CLI::App* command, Arguments& a) {
  command->add_flag("--json", a.json, "Print the result as JSON");
}

void AddRun(CLI::App* command, Arguments& a) {
  std::vector<std::string> kernels;
  for (const KernelTable* table : KernelTables()) kernels.emplace_back(table->name);
  command->add_option("--threads", a.run.threads, "Threads; 0: one per core")
      ->check(CLI::Range(0, 64));
  command->add_option("--kv", a.run.kv, "KV cache in q8 or f32; by default as the weights")
      ->check(CLI::IsMember({"q8", "f32"}));
  command->add_option("--kernels", a.run.kernels, "Implementation to force")
      ->check(CLI::IsMember(kernels));
}

void AddPrompt(CLI::App* command, const std::string& text_flag, Arguments& a) {
  auto* group = command->add_option_group("prompt", "What to start from");
  group->add_option(text_flag, a.prompt.text, "Text");
  group->add_option("--ids", a.prompt.ids, "Token ids: 1,2,3")->delimiter(',');
  group->require_option(1);
}

void AddGenerateOptions(CLI::App* command, Arguments& a) {
  for (const NumberOption& option : NumberOptions()) {
    if (option.name == "logprobs") continue;  // a matter of the web API
    const auto read = [&a, &option](const double& value) {
      const Status status = SetNumber(option, value, a.options);
      if (!status.ok()) throw CLI::ValidationError(FlagName(option.name), status.error().message);
    };
    char fallback[32];
    std::snprintf(fallback, sizeof fallback, "%g", option.get(a.options));
    command->add_option_function<double>(FlagName(option.name), read, std::string(option.help))
        ->default_str(fallback);
  }
  for (const FlagOption& option : FlagOptions()) {
    const std::string name = FlagName(option.name);
    command->add_flag_callback(
        option.is_on ? "--no-" + name.substr(2) : name,
        [&a, &option] { option.set(a.options, !option.is_on); },
        (option.is_on ? "do not " : "") + std::string(option.help));
  }
  const auto read_stop = [&a](const std::vector<std::string>& stop) {
    const Status status = SetStop(stop, a.options);
    if (!status.ok()) throw CLI::ValidationError("--stop", status.error().message);
  };
  command
      ->add_option_function<std::vector<std::string>>(
          "--stop", read_stop, "End before this text; may be given more than once")
      ->allow_extra_args(false);
}

void AddFormat(CLI::App* command, Arguments& a) {
  std::vector<std::string> names(std::begin(kFileFormatNames), std::end(kFileFormatNames));
  command->add_option("--weights", a.format, "Format of the matrices")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_flag("--force", a.force, "Replace OUT if it is there");
}

int Run(int argc, char** argv) {
  CLI::App app("Makes, checks and runs GPT-2 model folders.", "gpt2-weights");
  app.require_subcommand(1);
  Arguments a;
  std::function<Status()> action;
  const auto command = [&](const char* name, const char* help, std::function<Status()> run) {
    CLI::App* added = app.add_subcommand(name, help);
    added->callback([&action, run = std::move(run)] { action = run; });
    return added;
  };
  const auto with_model = [&](CLI::App* added) {
    added->add_option("MODEL", a.model, "Model folder")->required();
    return added;
  };

  CLI::App* convert = command("convert", "Make the folder that a site hosts", [&a] {
    a.convert.format = a.file_format();
    a.convert.force = a.force;
    return Convert(a.model, a.out, a.convert, a.json);
  });
  convert->add_option("IN", a.model, "Hugging Face GPT-2 folder")->required();
  convert->add_option("OUT", a.out, "Folder to write")->required();
  AddFormat(convert, a);
  convert
      ->add_option("--calibrate", a.convert.calibration_file,
                   "Text for q4 to tell what matters; by default the model writes its own")
      ->check(CLI::ExistingFile);
  convert
      ->add_option("--calibration-tokens", a.convert.calibration_tokens,
                   "Tokens of it to use at most; 0: all inputs matter alike")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  AddJson(convert, a);

  CLI::App* inspect = with_model(command("inspect", "Show config, parameters, bytes and errors",
                                         [&a] { return Inspect(a.model, a.original, a.json); }));
  inspect->add_option("--original", a.original,
                      "Folder it was made from: shows the error per tensor");
  AddJson(inspect, a);

  CLI::App* generate = with_model(command("generate", "Write on after a prompt", [&a] {
    return Generate(a.model, a.prompt, a.options, a.run, a.json);
  }));
  AddPrompt(generate, "--prompt", a);
  AddGenerateOptions(generate, a);
  AddRun(generate, a);
  AddJson(generate, a);

  CLI::App* eval = with_model(command("eval", "Perplexity of a text, and tokens per second", [&a] {
    return Evaluate(a.model, a.file, a.original, a.stride, a.run, a.json);
  }));
  eval->add_option("FILE", a.file, "UTF-8 text, documents separated by <|endoftext|>")->required();
  eval->add_option("--stride", a.stride, "Tokens by which windows advance; 0: half the context");
  eval->add_option("--original", a.original,
                   "Folder it was made from: adds the KL divergence from that");
  AddRun(eval, a);
  AddJson(eval, a);

  CLI::App* trace =
      with_model(command("trace", "Residual stream and logits, layer by layer, as JSON",
                         [&a] { return TraceLayers(a.model, a.prompt, a.run); }));
  AddPrompt(trace, "--text", a);
  AddRun(trace, a);
  AddJson(trace, a);

  CLI::App* tokenize =
      with_model(command("tokenize", "Text on standard input to a JSON array of ids",
                         [&a] { return Tokenize(a.model, a.lines, a.allow_special); }));
  tokenize->add_flag("--lines", a.lines, "One JSON string a line, answered with one array a line");
  tokenize->add_flag("--allow-special", a.allow_special, "<|endoftext|> is the token, not text");
  AddJson(tokenize, a);

  CLI::App* detokenize =
      with_model(command("detokenize", "A JSON array of ids on standard input to text",
                         [&a] { return Detokenize(a.model, a.lines, a.json); }));
  detokenize->add_flag("--lines", a.lines,
                       "One JSON array a line, answered with one JSON string a line");
  AddJson(detokenize, a);

  CLI::App* random = command("random", "A folder of random weights, for benchmarks", [&a] {
    return MakeRandomModel(a.file, a.out, a.file_format(), a.seed, a.echo, a.force, a.json);
  });
  random->add_option("CONFIG", a.file, "config.json that says the shape")->required();
  random->add_option("OUT", a.out, "Folder to write")->required();
  random->add_option("--seed", a.seed, "The same seed gives the same weights")
      ->capture_default_str();
  random->add_flag("--echo", a.echo,
                   "A model that repeats itself, to measure lookup decoding with");
  AddFormat(random, a);
  AddJson(random, a);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  const Status status = action();
  if (status.ok()) return 0;
  std::fprintf(stderr, "gpt2-weights: %s\n", status.error().message.c_str());
  return kBadInput;
}

}  // namespace
}  // namespace gpt2::tools

int main(int argc, char** argv) {
  return gpt2::tools::Run(argc, argv);
}
