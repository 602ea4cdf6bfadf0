// Numbers in messages, without printf: it computes in 128 bits, which takes much code in
// WebAssembly.
#pragma once

#include <string>

namespace gpt2 {

// The shortest decimal text that reads back as `value`; whole numbers without a point. "nan", "inf"
// and "-inf" for what is not finite.
std::string NumberText(double value);

// The shortest decimal text that reads back as `value`, which is finite. When it is written with an
// exponent is for each platform to say: 1e-05 natively, 0.00001 in WebAssembly.
std::string ShortestDigits(double value);

}  // namespace gpt2
