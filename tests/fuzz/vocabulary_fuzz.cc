// vocab.json and merges.txt, or tokenizer.json: any bytes are safe. A tokenizer spells each token
// as the file does, and gives the same ids in portions of any size.
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

// A vocabulary of every byte and some merges, spelled in the byte alphabet, and sometimes damaged.
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

Json AnyAddedToken(FuzzedDataProvider& input, std::size_t id) {
  Json token = {{"id", id}, {"content", input.PickValueInArray({"ab", "<a>", " b ", "a", "b a"})}};
  for (const char* flag : {"special", "single_word", "lstrip", "rstrip", "normalized"}) {
    if (input.ConsumeBool()) token[flag] = input.ConsumeBool();
  }
  return token;
}

Json AnyNormalizer(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange<int>(0, 3)) {
    case 0:
      return {{"type", "Prepend"}, {"prepend", input.PickValueInArray({"", " ", "a"})}};
    case 1:
      return {{"type", "Strip"}, {"strip_left", true}, {"strip_right", input.ConsumeBool()}};
    case 2:
      return {{"type", "Replace"},
              {"pattern", {{"String", input.PickValueInArray({"a", " ", "ab"})}}},
              {"content", input.PickValueInArray({"", "b", "a a"})}};
    default:
      return AnyJson(input);
  }
}

Json AnySplitter(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange<int>(0, 2)) {
    case 0:
      return {{"type", "Digits"}, {"individual_digits", input.ConsumeBool()}};
    case 1:
      return {{"type", "Split"},
              {"pattern", {{"String", input.PickValueInArray({"a", "b", " "})}}},
              {"behavior", "Isolated"},
              {"invert", false}};
    default:
      return AnyJson(input);
  }
}

// A tokenizer.json of every byte and of any rules, sometimes damaged.
std::string AnyTokenizerJson(FuzzedDataProvider& input) {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[AlphabetFromBytes(std::string(1, static_cast<char>(byte)))] = byte;
  }
  vocab["ab"] = 256;
  Json added = Json::array(), normalizers = Json::array(), splitters = Json::array();
  while (input.ConsumeBool()) added.push_back(AnyAddedToken(input, 256 + added.size()));
  while (input.ConsumeBool()) normalizers.push_back(AnyNormalizer(input));
  while (input.ConsumeBool()) splitters.push_back(AnySplitter(input));
  splitters.push_back({{"type", "ByteLevel"},
                       {"add_prefix_space", input.ConsumeBool()},
                       {"use_regex", input.ConsumeBool()}});
  const Json json = {{"added_tokens", added},
                     {"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
                     {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", splitters}}},
                     {"post_processor", input.ConsumeBool() ? Json() : AnyJson(input)},
                     {"decoder", {{"type", "ByteLevel"}}},
                     {"model",
                      {{"type", "BPE"},
                       {"ignore_merges", input.ConsumeBool()},
                       {"vocab", vocab},
                       {"merges", {input.PickValueInArray({"a b", "a a", "ab"})}}}}};
  return MaybeDamaged(input, TextOf(json));
}

// Any text becomes tokens of the vocabulary, the same ones in portions of any size.
void CheckRules(const Tokenizer& tokenizer, const std::string& text, std::size_t portion) {
  for (const SpecialTokens special : {SpecialTokens::kAsText, SpecialTokens::kAllowed}) {
    const auto ids = tokenizer.Encode(text, special, TextEnds::kWith);
    if (!ids.ok()) continue;  // a byte without a token
    const auto in_portions = EncodeInPortions(tokenizer, text, special, TextEnds::kWith, portion);
    Check(in_portions == ids.value(), "other ids in portions");
  }
}

// A tokenizer.json, and a text for it.
void CheckTokenizerJson(FuzzedDataProvider& input) {
  const std::string file = AnyTokenizerJson(input);
  const std::size_t portion = input.ConsumeIntegralInRange<std::size_t>(1, 7);
  const Result<Tokenizer> tokenizer = ReadTokenizer({.tokenizer = file}, 300);
  if (tokenizer.ok()) {
    CheckRules(tokenizer.value(), input.ConsumeRemainingBytesAsString(), portion);
  } else {
    Check(tokenizer.error().message.find("tokenizer.json") != std::string::npos,
          "does not name the file");
  }
}

void CheckTokenizer(const Tokenizer& tokenizer, const std::string& vocab) {
  const Result<ParsedJson> json = ParseJson(vocab, "vocab.json");
  if (!json.ok()) return;  // a duplicate key, which json_fuzz.cc tests
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
  if (size > 0 && data[0] == 't') {
    FuzzedDataProvider input(data + 1, size - 1);
    CheckTokenizerJson(input);
    return 0;
  }
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
