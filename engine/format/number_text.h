// Numbers in messages, without printf: it computes in 128 bits, which takes much code in
// WebAssembly.
#pragma once

#include <string>

namespace gpt2 {

// The shortest decimal text that reads back as `value`; whole numbers without a point. "nan", "inf"
// and "-inf" for what is not finite.
std::string NumberText(double value);

}  // namespace gpt2
