// Reads the tokenizer of a GPT-2 folder from whichever files it has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// The possible names of a SentencePiece file. The first that exists is used.
inline constexpr const char* kSentencePieceFiles[] = {"spiece.model", "tokenizer.model"};

// The texts of a folder's files; "" for a missing one.
struct TokenizerFiles {
  std::string_view tokenizer;         // tokenizer.json, which is complete: the others are not read
  std::string_view vocab;             // vocab.json
  std::string_view merges;            // merges.txt
  std::string_view tokenizer_config;  // tokenizer_config.json
  std::string_view special_tokens_map;   // special_tokens_map.json
  std::string_view added_tokens;         // added_tokens.json
  std::string_view vocab_txt = {};       // vocab.txt, of BERT: only engine/languages reads it
  std::string_view sentence_piece = {};  // spiece.model: only engine/languages reads it, too
  std::string_view sentence_piece_name = kSentencePieceFiles[0];
  // Replaces all other files: a JSON array of each token's bytes, by id, in the byte alphabet.
  // Texts are tokenized elsewhere.
  std::string_view tokens = {};

  bool HasTokenizer() const {
    return !tokenizer.empty() || !vocab.empty() || !merges.empty() || !tokens.empty();
  }
};

// Builds the tokenizer. An error names the file and the field.
Result<Tokenizer> ReadTokenizer(const TokenizerFiles& files, std::size_t vocab_size);

// Builds a tokenizer that only decodes: see TokenizerFiles::tokens.
Result<Tokenizer> ReadTokenTable(std::string_view tokens, std::size_t vocab_size);

// `tokenizer`, or its error prefixed with the name of the file.
Result<Tokenizer> InFile(std::string_view file, Result<Tokenizer> tokenizer);

// Collects the tokens of `file` and their ids.
class VocabularyIds {
 public:
  VocabularyIds(std::string_view file, std::size_t vocab_size)
      : file_(file), vocab_size_(vocab_size) {}

  Status Add(const std::string& token, const Json& value);

  // Tokens by id; "" for an id without one.
  Result<std::vector<std::string>> Take();

 private:
  std::string_view file_;
  std::size_t vocab_size_;
  std::size_t size_ = 0;  // one more than the largest id
  std::vector<std::pair<std::size_t, std::string>> entries_;
};

// Builds the tokenizer. `vocab_json` maps each token to its id, and `merges_txt` lists one merge
// per line, both in GPT-2's byte-to-character alphabet; neither may be empty. Ids are below
// `vocab_size`, the config's; a vocabulary with fewer tokens means that the matrix was padded.
// Fails if two tokens have the same id, or if there are more unused ids than tokens: the tables
// stay as small as the files. `rules` come from WriteTokenizer, null for GPT-2's own.
Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt,
                                std::size_t vocab_size, const Json* rules = nullptr);

}  // namespace gpt2
