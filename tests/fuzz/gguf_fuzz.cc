// The converter of GGUF files. Any bytes in any chunks end in an error that names the file, or in a
// model that the engine loads. Chunks change neither.
#include <algorithm>
#include <string>
#include <string_view>

#include "engine/convert/converter.h"
#include "engine/format/vocabulary_files.h"
#include "tests/fuzz/support/stream.h"

namespace gpt2::fuzz {
namespace {

Streamed Convert(std::string_view file, StoredWeights weights, std::size_t chunk) {
  const auto converter = Converter::OfGguf(weights);
  return ConvertWhole(*converter, file, chunk);
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  const std::string_view file = AsText(data, size);
  for (const StoredWeights weights : kConvertedWeights) {
    const Streamed whole = Convert(file, weights, std::max<std::size_t>(1, size));
    const Streamed cut = Convert(file, weights, 1 + size / 7 % 61);
    CheckSame(whole, cut);
    if (whole.error) {
      const std::string& message = whole.error->message;
      const bool names_it =
          message.find("GGUF") != std::string::npos || message.find("tensor") != std::string::npos;
      Check(names_it || whole.error->code == ErrorCode::kOutOfMemory, message);
    } else {
      const Config config = CheckLoads(whole);
      // Any tokenizer is either refused or accepted.
      const auto& [vocab, merges, tokenizer_config] = whole.folder.vocabulary;
      static_cast<void>(
          ReadTokenizer({.vocab = vocab, .merges = merges, .tokenizer_config = tokenizer_config},
                        config.vocab_size));
    }
  }
  return 0;
}
