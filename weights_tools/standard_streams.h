// Standard input and output, whose failures are errors like any other.
#pragma once

#include <string>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"

namespace gpt2::tools {

// Opens each standard stream that the caller closed, so that no other file gets its number and is
// printed into. Using such a stream is still an error, because it is opened in the wrong direction.
void HoldStandardDescriptors();

Result<std::string> ReadStandardInput();

// Applies `answer` to each line of standard input, without its line break. An error names the line.
// Ends early, with an error, if standard output can no longer be written.
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

// Flushes standard output. Fails if anything printed so far did not reach it.
Status FlushStandardOutput();

}  // namespace gpt2::tools
