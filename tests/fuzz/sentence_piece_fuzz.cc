// SentencePiece files: any bytes end in an error that names the file, or in a tokenizer whose ids
// are all in its vocabulary. Tables of characters: any bytes are safe, and the normalized text
// is no longer than allowed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/languages/charsmap.h"
#include "engine/languages/sentence_piece.h"
#include "engine/text/tokenizer.h"
#include "tests/fuzz/support/any_json.h"
#include "tests/fuzz/support/fuzz.h"
#include "tests/support/protobuf_writer.h"

namespace gpt2::fuzz {
namespace {

// A trie of few units, which point at each other, and texts behind them.
std::string AnyCharsMap(FuzzedDataProvider& input) {
  if (input.ConsumeBool()) return input.ConsumeRandomLengthString(64);
  std::string units;
  const auto add = [&units](std::uint32_t unit) {
    for (int shift = 0; shift < 32; shift += 8) units += static_cast<char>(unit >> shift & 0xff);
  };
  const int count = input.ConsumeIntegralInRange<int>(1, 40);
  for (int i = 0; i < count; ++i) {
    const auto offset = input.ConsumeIntegralInRange<std::uint32_t>(0, 48);
    const bool is_value = input.ConsumeIntegralInRange<int>(0, 3) == 0;
    const std::uint32_t label = input.ConsumeBool() ? static_cast<std::uint32_t>(i) : 'a';
    const std::uint32_t leaf = input.ConsumeBool() ? 1u << 8 : 0;
    add(is_value ? 1u << 31 | offset : offset << 10 | leaf | label);
  }
  std::string size;
  for (int shift = 0; shift < 32; shift += 8) {
    size += static_cast<char>(units.size() >> shift & 0xff);
  }
  return size + units + input.ConsumeRandomLengthString(24);
}

std::string AnyFile(FuzzedDataProvider& input) {
  std::string file;
  const auto add = [&file](const std::string& text, float score, int type) {
    file += BytesField(1, BytesField(1, text) + FloatField(2, score) + NumberField(3, type));
  };
  add("<unk>", 0, 2);
  add("\xe2\x96\x81", -2, 1);
  add("a", -3, 1);
  while (input.ConsumeBool()) {
    const std::string text = input.ConsumeRandomLengthString(6);
    add(text, static_cast<float>(input.ConsumeIntegralInRange<int>(-9, 0)),
        input.ConsumeIntegralInRange<int>(1, 6));
  }
  std::string trainer, normalizer;
  if (input.ConsumeBool()) trainer += NumberField(35, input.ConsumeBool());
  if (input.ConsumeBool()) normalizer += BytesField(2, AnyCharsMap(input));
  if (input.ConsumeBool()) normalizer += NumberField(3, input.ConsumeBool());
  if (input.ConsumeBool()) normalizer += NumberField(4, input.ConsumeBool());
  return file + BytesField(2, trainer) + BytesField(3, normalizer);
}

void CheckFile(FuzzedDataProvider& input) {
  const std::string file = MaybeDamaged(input, AnyFile(input));
  const char* config = input.PickValueInArray(
      {"", R"({"do_lower_case":true})", R"({"legacy":false})", R"({"add_prefix_space":false})",
       R"({"tokenizer_class":"T5Tokenizer","extra_ids":3,"eos_token":"a"})"});
  const Result<Tokenizer> tokenizer =
      ReadSentencePiece({.tokenizer_config = config, .sentence_piece = file}, 1000);
  if (!tokenizer.ok()) {
    const std::string& message = tokenizer.error().message;
    Check(message.find("spiece.model") != std::string::npos ||
              message.find("tokenizer_config.json") != std::string::npos,
          "does not name the file");
    return;
  }
  CheckRoundTrip(tokenizer.value(), input.ConsumeRemainingBytesAsString(), TextEnds::kWith);
}

void CheckCharsMap(FuzzedDataProvider& input) {
  const auto map = CharsMap::Read(AnyCharsMap(input));
  if (!map.ok()) return;
  const std::string text = input.ConsumeRemainingBytesAsString();
  const auto made = map.value().Apply(text);
  if (!made.ok()) return;
  const std::size_t most = std::max<std::size_t>(1, map.value().longest());
  Check(made.value().size() <= text.size() * most, "a text longer than it may be");
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  if (input.ConsumeBool()) {
    CheckFile(input);
  } else {
    CheckCharsMap(input);
  }
  return 0;
}
