// The converter of GGUF files. Any bytes in any chunks end in an error that names the file, or in a
// model that the engine loads. Chunks change neither.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/convert/converter.h"
#include "engine/format/vocabulary_files.h"
#include "engine/format/weight_reader.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {
namespace {

struct Converted {
  std::string file;
  ConvertedFolder folder;
  std::optional<Error> error;
};

Converted Convert(std::string_view file, StoredWeights weights, std::size_t chunk) {
  const auto converter = Converter::OfGguf(weights);
  Converted converted;
  while (!file.empty() && !converted.error) {
    const std::string_view text = file.substr(0, chunk);
    file.remove_prefix(text.size());
    std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    while (true) {
      const auto out = converter->Take(bytes);
      if (!out.ok()) converted.error = out.error();
      if (!out.ok() || out.value().empty()) break;
      converted.file.append(reinterpret_cast<const char*>(out.value().data()), out.value().size());
    }
    Check(converted.error || bytes.empty(), "bytes are left over");
  }
  const Status finished = converter->Finish();
  if (!finished.ok()) {
    Check(!converted.error || converted.error->message == finished.error().message,
          "the error does not stay");
    converted.error = finished.error();
  } else {
    converted.folder = *converter->folder();
  }
  return converted;
}

void CheckLoads(const Converted& converted) {
  Check(converted.folder.weight_bytes == converted.file.size(), "another size than was said");
  const auto config = ReadConfigJson(converted.folder.config);
  Check(config.ok(), "the config is refused");
  WeightReader reader(config.value(), WeightFormat::kF32);
  const Status fed = reader.Feed(std::as_bytes(std::span(converted.file)));
  Check(fed.ok(), fed.ok() ? "" : fed.error().message);
  Check(reader.Finish().ok(), "what was converted is not whole");
  // Any tokenizer is either refused or accepted.
  const GgufVocabulary& files = converted.folder.vocabulary;
  static_cast<void>(ReadTokenizer(
      {.vocab = files.vocab, .merges = files.merges, .tokenizer_config = files.tokenizer_config},
      config.value().config.vocab_size));
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  const std::string_view file = AsText(data, size);
  for (const StoredWeights weights : kConvertedWeights) {
    const Converted whole = Convert(file, weights, std::max<std::size_t>(1, size));
    const Converted cut = Convert(file, weights, 1 + size / 7 % 61);
    Check(whole.error.has_value() == cut.error.has_value(), "chunks make an error, or hide one");
    if (whole.error) {
      const std::string& message = whole.error->message;
      const bool names_it =
          message.find("GGUF") != std::string::npos || message.find("tensor") != std::string::npos;
      Check(names_it || whole.error->code == ErrorCode::kOutOfMemory, message);
    } else {
      Check(whole.file == cut.file, "chunks change what comes out");
      CheckLoads(whole);
    }
  }
  return 0;
}
