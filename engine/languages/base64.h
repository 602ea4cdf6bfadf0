// Base64 (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpt2 {

// The bytes of `text`; nothing if it is not valid Base64, padded to a multiple of four characters.
std::optional<std::string> BytesFromBase64(std::string_view text);

}  // namespace gpt2
