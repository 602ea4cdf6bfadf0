// Numbers as text, and the other way in WebAssembly, without the C library's: its printf and strtod
// compute in 128 bits, which takes 23 kB of code there.
#pragma once

#include <string>

namespace gpt2 {

// The shortest decimal text that reads back as `value`; whole numbers without a point. "nan", "inf"
// and "-inf" for what is not finite.
std::string NumberText(double value);

}  // namespace gpt2
