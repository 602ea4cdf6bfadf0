// Standard input and output, whose failures are errors like any other.
#pragma once

#include <string>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"

namespace gpt2::tools {

// Opens what the caller closed of standard input, output and error, so that no file takes its
// number and is then printed into. Using it stays an error: it is open the wrong way round.
void HoldStandardDescriptors();

Result<std::string> ReadStandardInput();

// Applies `answer` to each line of standard input, without its end, and names the line where it
// fails. Ends early, with an error, once standard output takes nothing more.
Status ForLinesOfStandardInput(FunctionRef<Status(const std::string& line)> answer);

// Fails unless `text`, which `what` names, is UTF-8, as JSON must be.
Status CheckPrintable(const char* what, const std::string& text);

// Prints `json` on a line of its own.
void PrintJson(const Json& json);

// Prints a model's text. It is unchanged, except on a terminal, where control characters are
// escaped.
void PrintModelText(const std::string& text);

// Prints what the user should know, though nothing failed, on standard error.
void PrintNotes(const std::vector<std::string>& notes);

// Hands on what was printed, and fails if any of it so far did not reach standard output.
Status FlushStandardOutput();

}  // namespace gpt2::tools
