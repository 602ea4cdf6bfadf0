// vocab.json and merges.txt: any bytes are safe, and a tokenizer that comes out of them spells each
// token as the file does.
#include <map>
#include <string>

#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/byte_alphabet.h"
#include "tests/fuzz/support/any_json.h"

namespace gpt2::fuzz {
namespace {

struct Files {
  std::string vocab;
  std::string merges;
};

// A vocabulary of every byte and some merges, spelled in the byte alphabet; perhaps with something
// out of order in it.
Files AnyFiles(FuzzedDataProvider& input) {
  Json vocab = Json::object();
  Files files;
  if (input.ConsumeBool()) files.merges = "#version: 0.2\n";
  std::vector<std::string> parts;
  const auto bytes = input.PickValueInArray({1, 6, 7, 8, 16, 256});
  for (int byte = 0; byte < bytes; ++byte) {
    parts.push_back(AlphabetFromBytes(std::string(1, static_cast<char>(byte + 'a'))));
    vocab[parts.back()] = byte;
  }
  while (input.remaining_bytes() > 0 && parts.size() < 300) {
    const auto pick = [&] {
      return parts[input.ConsumeIntegralInRange<std::size_t>(0, parts.size() - 1)];
    };
    const std::string left = pick(), right = pick();
    files.merges += left + " " + right + (input.ConsumeBool() ? "\n" : "\r\n");
    if (!vocab.contains(left + right)) {
      vocab[left + right] = parts.size();
      parts.push_back(left + right);
    }
    switch (input.ConsumeIntegralInRange<int>(0, 63)) {
      case 0:
        vocab[input.ConsumeRandomLengthString(12)] = AnyJson(input);
        break;
      case 1:
        vocab[pick()] = input.ConsumeIntegralInRange<int>(-1, 1 << 25);
        break;
      case 2:
        vocab["<|endoftext|>"] = parts.size();
        parts.push_back("<|endoftext|>");
        break;
      case 3:
        files.merges += input.ConsumeRandomLengthString(12);
        break;
      default:
        break;
    }
  }
  files.vocab = MaybeDamaged(input, TextOf(vocab));
  return files;
}

void CheckTokenizer(const Tokenizer& tokenizer, const std::string& vocab) {
  const Result<ParsedJson> json = ParseJson(vocab, "vocab.json");
  if (!json.ok()) return;  // a key that stands twice: json_fuzz.cc compares such things
  std::size_t largest = 0;
  std::string text;
  for (const auto& [token, id_json] : json.value()->items()) {
    const auto id = static_cast<std::size_t>(id_json.get<std::uint64_t>());
    largest = std::max(largest, id + 1);
    const std::string_view bytes = tokenizer.TokenBytes(static_cast<std::int32_t>(id));
    const std::string spelled = AlphabetFromBytes(bytes);
    Check(spelled == token || bytes == token, "a token is spelled otherwise than in vocab.json");
    if (text.size() < 200) text += bytes;
  }
  Check(tokenizer.vocab_size() == largest, "vocab_size is not one more than the largest id");
  for (const SpecialTokens special : {SpecialTokens::kAsText, SpecialTokens::kAllowed}) {
    const auto ids = tokenizer.Encode(text, special);
    if (!ids.ok()) continue;  // a byte without a token
    const auto decoded = tokenizer.Decode(ids.value());
    Check(decoded.ok() && decoded.value() == text, "decodes to another text");
  }
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  Files files;
  std::size_t vocab_size = 300;      // config.json's
  if (size > 0 && data[0] == '{') {  // vocab.json, and after a NUL merges.txt
    const std::string_view text = AsText(data, size);
    const std::size_t end = std::min(text.find('\0'), text.size());
    files = {std::string(text.substr(0, end)), std::string(text.substr(std::min(end + 1, size)))};
  } else {
    FuzzedDataProvider input(data, size);
    vocab_size = input.PickValueInArray<std::size_t>({1, 60, 300, kMostVocabulary});
    files = AnyFiles(input);
  }
  const Result<Tokenizer> tokenizer = ReadTokenizer(files.vocab, files.merges, vocab_size);
  if (tokenizer.ok()) {
    Check(tokenizer.value().vocab_size() <= vocab_size, "an id above config.json's vocab_size");
    CheckTokenizer(tokenizer.value(), files.vocab);
  } else {
    const std::string& message = tokenizer.error().message;
    Check(message.find("vocab.json") != std::string::npos ||
              message.find("merges.txt") != std::string::npos,
          "does not name the file");
  }
  return 0;
}
