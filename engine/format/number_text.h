// Numbers in messages, without printf: its 128-bit arithmetic takes much code in WebAssembly.
#pragma once

#include <string>

namespace gpt2 {

// The shortest decimal text that reads back as `value`; whole numbers without a decimal point.
// "nan", "inf" and "-inf" for non-finite values.
std::string NumberText(double value);

// The shortest decimal text that reads back as `value`, which is finite. The platform decides when
// to use an exponent: 1e-05 natively, 0.00001 in WebAssembly.
std::string ShortestDigits(double value);

}  // namespace gpt2
