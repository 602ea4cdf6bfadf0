// gpt2-weights: creates, checks and runs model folders. Exit status 1 for bad input and other
// failures (no memory, a full disk, a closed output), 2 for wrong usage.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "engine/base/result.h"
#include "engine/text/quoted.h"
#include "weights_tools/command_line.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int Fail(const char* message) {
  std::fprintf(stderr, "gpt2-weights: %s\n", Visible(message).c_str());
  return kFailed;
}

int Run(int argc, char** argv) {
  CLI::App app("Make, check and run GPT-2 model folders", "gpt2-weights");
  app.failure_message([](const CLI::App* all, const CLI::Error& error) {
    const auto unknown = all->remaining();
    const bool is_command = unknown.empty() || !all->get_subcommands().empty();
    const std::string what = is_command ? error.what() : "unknown command " + unknown.front();
    return Visible(what) + "\nRun with --help for more information.\n";
  });
  Arguments arguments;
  AddCommands(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kWrongUsage;
    arguments.action = [] { return Status(Done{}); };  // it was --help
  }
  Status status = arguments.action();
  if (status.ok()) status = FlushStandardOutput();
  return status.ok() ? 0 : Fail(status.error().message.c_str());
}

}  // namespace
}  // namespace gpt2::tools

int main(int argc, char** argv) {
  using gpt2::tools::Fail;
  gpt2::tools::HoldStandardDescriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the size limit then is a write error
  // The engine returns errors for invalid input. Exceptions of the standard library and the C++
  // run-time end here.
  try {
    return gpt2::tools::Run(argc, argv);
  } catch (const std::bad_alloc&) {
    return Fail("out of memory: close other programs, or use a smaller model");
  } catch (const std::system_error& error) {  // no more threads; std::filesystem errors, too
    return Fail((std::string("a system call failed: ") + error.what()).c_str());
  } catch (const std::exception& error) {
    return Fail(error.what());
  } catch (...) {
    return Fail("an unknown exception: this is a bug in the program");
  }
}
