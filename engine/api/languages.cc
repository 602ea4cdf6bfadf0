#include "engine/api/languages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/reply.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/vocabulary_files.h"
#include "engine/languages/language_json.h"
#include "engine/text/aligned_text.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/encoding.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

struct Gpt2Languages {
  std::optional<gpt2::Tokenizer> tokenizer;
  std::vector<std::int32_t> ids;
  std::vector<std::uint32_t> places;
  std::string reply;
};

namespace gpt2 {
namespace {

Status NeedLanguage(const Gpt2Languages& owner) {
  if (owner.tokenizer) return Done{};
  return Error{ErrorCode::kInvalidArgument, "no tokenizer has been read"};
}

// The bytes of `text`, which has one character from U+0000 to U+00FF for each byte.
Result<std::string> BytesOfCharacters(std::string_view name, std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    if (character.code_point > 0xff) {
      return Error{ErrorCode::kInvalidArgument,
                   Concat(name, " has a character that does not stand for a byte")};
    }
    bytes += static_cast<char>(character.code_point);
    text.remove_prefix(character.size);
  }
  return bytes;
}

Status Read(Gpt2Languages& owner, std::string_view files_json, std::size_t vocab_size,
            JsonWriter& out) {
  GPT2_ASSIGN(const ParsedJson files, ParseJson(files_json, "the files"));
  const auto text = [&](std::string_view name) { return TextOfFile(*files, name); };
  TokenizerFiles found{.tokenizer = text("tokenizer.json"),
                       .vocab = {},
                       .merges = {},
                       .tokenizer_config = text("tokenizer_config.json"),
                       .special_tokens_map = text("special_tokens_map.json"),
                       .added_tokens = text("added_tokens.json"),
                       .vocab_txt = text("vocab.txt")};
  std::string bytes;
  for (const std::string_view name : kSentencePieceFiles) {
    if (!bytes.empty() || text(name).empty()) continue;
    GPT2_ASSIGN(bytes, BytesOfCharacters(name, text(name)));
    found.sentence_piece = bytes;
    found.sentence_piece_name = name;
  }
  // The engine has refused these files, so its own tokenizers are not tried again.
  GPT2_ASSIGN(owner.tokenizer, ReadOtherTokenizer(found, vocab_size));
  std::string tokens;
  JsonWriter list(tokens);
  list.Open('[');
  // Tokens beyond the last row of the matrix occur in no text of the model.
  const std::size_t count = std::min(owner.tokenizer->vocab_size(), vocab_size);
  for (std::size_t id = 0; id < count; ++id) {
    const auto index = static_cast<std::int32_t>(id);
    list.Value(AlphabetFromBytes(owner.tokenizer->TokenBytes(index)));
  }
  list.Close(']');
  out.Value(tokens);
  return Done{};
}

}  // namespace
}  // namespace gpt2

using gpt2::Done;
using gpt2::Encoding;
using gpt2::JsonWriter;
using gpt2::SpecialTokens;
using gpt2::Status;
using gpt2::TextEnds;

extern "C" {

Gpt2Languages* gpt2_languages_create(void) {
  return new (std::nothrow) Gpt2Languages();
}
void gpt2_languages_destroy(Gpt2Languages* languages) {
  delete languages;
}

const char* gpt2_languages_read(Gpt2Languages* languages, const char* files, size_t files_size,
                                size_t vocab_size) {
  return gpt2::AnswerFor(languages->reply, [&](JsonWriter& out) {
    languages->tokenizer.reset();
    return gpt2::Read(*languages, {files, files_size}, vocab_size, out);
  });
}

const char* gpt2_languages_encode(Gpt2Languages* languages, const char* text, size_t size,
                                  int32_t special, int32_t ends, int32_t places) {
  return gpt2::AnswerFor(languages->reply, [&](JsonWriter& out) -> Status {
    GPT2_TRY(gpt2::NeedLanguage(*languages));
    Encoding encoding(*languages->tokenizer, {text, size},
                      special != 0 ? SpecialTokens::kAllowed : SpecialTokens::kAsText,
                      ends == 2   ? TextEnds::kWith
                      : ends == 1 ? TextEnds::kBeginning
                                  : TextEnds::kWithout,
                      places != 0);
    GPT2_ASSIGN(gpt2::EncodedText all, encoding.TakeAll());
    languages->ids = std::move(all.ids);
    languages->places.clear();
    gpt2::Utf16Places({text, size}).Append(all.places, languages->places);
    out.Open('{').Member("count", languages->ids.size()).Close('}');
    return Done{};
  });
}

const int32_t* gpt2_languages_ids(const Gpt2Languages* languages) {
  return languages->ids.data();
}

const uint32_t* gpt2_languages_places(const Gpt2Languages* languages) {
  return languages->places.data();
}

const char* gpt2_languages_decode(Gpt2Languages* languages, const int32_t* ids, size_t count) {
  return gpt2::AnswerFor(languages->reply, [&](JsonWriter& out) -> Status {
    GPT2_TRY(gpt2::NeedLanguage(*languages));
    GPT2_ASSIGN(const std::string text, languages->tokenizer->Decode({ids, count}));
    out.Value(text);
    return Done{};
  });
}

}  // extern "C"
