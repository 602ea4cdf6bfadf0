// Files in chunks through a streaming converter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/convert/converter.h"
#include "engine/format/config_json.h"
#include "engine/format/weight_reader.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {

struct Streamed {
  std::string file;
  ConvertedFolder folder;  // of ConvertWhole
  std::optional<Error> error;
};

// What `taker`, a Converter or a TorchStream, makes of `file`, up to an error.
template <typename Taker>
Streamed Stream(Taker& taker, std::string_view file, std::size_t chunk) {
  Streamed made;
  while (!file.empty()) {
    const std::string_view text = file.substr(0, chunk);
    file.remove_prefix(text.size());
    std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    while (true) {
      const auto out = taker.Take(bytes);
      if (!out.ok()) {
        made.error = out.error();
        return made;
      }
      if (out.value().empty()) break;
      made.file.append(reinterpret_cast<const char*>(out.value().data()), out.value().size());
    }
    Check(bytes.empty(), "bytes are left over");
  }
  return made;
}

// The same to the end of the conversion.
inline Streamed ConvertWhole(Converter& converter, std::string_view file, std::size_t chunk) {
  Streamed made = Stream(converter, file, chunk);
  const Status finished = converter.Finish();
  if (finished.ok()) {
    Check(!made.error, "the error does not stay");
    made.folder = *converter.folder();
    Check(made.folder.weight_bytes == made.file.size(), "another size than was said");
  } else {
    Check(!made.error || made.error->message == finished.error().message,
          "the error does not stay");
    made.error = finished.error();
  }
  return made;
}

// The config of a converted model, which the engine loads.
inline Config CheckLoads(const Streamed& converted) {
  const auto config = ReadConfigJson(converted.folder.config);
  Check(config.ok(), "the config is refused");
  WeightReader reader(config.value());
  const Status fed = reader.Feed(std::as_bytes(std::span(converted.file)));
  Check(fed.ok(), fed.ok() ? "" : fed.error().message);
  Check(reader.Finish().ok(), "what was converted is not whole");
  return config.value().config;
}

// The same error or the same file, whatever the chunks.
inline void CheckSame(const Streamed& whole, const Streamed& cut) {
  Check(whole.error.has_value() == cut.error.has_value(), "chunks make an error, or hide one");
  Check(whole.error || whole.file == cut.file, "chunks change what comes out");
}

}  // namespace gpt2::fuzz
