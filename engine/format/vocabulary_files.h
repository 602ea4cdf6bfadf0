// The tokenizer of a GPT-2 folder, from whichever files it has.
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

// The names that a SentencePiece file may have: the first that is there counts.
inline constexpr const char* kSentencePieceFiles[] = {"spiece.model", "tokenizer.model"};

// The texts of a folder's files, "" where it lacks one.
struct TokenizerFiles {
  std::string_view tokenizer;  // tokenizer.json, which says everything: the others are not read
  std::string_view vocab;      // vocab.json
  std::string_view merges;     // merges.txt
  std::string_view tokenizer_config;     // tokenizer_config.json
  std::string_view special_tokens_map;   // special_tokens_map.json
  std::string_view added_tokens;         // added_tokens.json
  std::string_view vocab_txt = {};       // vocab.txt, of BERT: only engine/languages reads it
  std::string_view sentence_piece = {};  // spiece.model: only engine/languages reads it, too
  std::string_view sentence_piece_name = kSentencePieceFiles[0];
  // Of another tokenizer, in place of all these: a JSON array of what each token writes, by id,
  // spelled in the byte alphabet. Its text becomes tokens elsewhere.
  std::string_view tokens = {};

  bool HasTokenizer() const {
    return !tokenizer.empty() || !vocab.empty() || !merges.empty() || !tokens.empty();
  }
};

// Builds the tokenizer. An error names the file and the field.
Result<Tokenizer> ReadTokenizer(const TokenizerFiles& files, std::size_t vocab_size);

// Builds one of which only the bytes of each token are known: see TokenizerFiles::tokens.
Result<Tokenizer> ReadTokenTable(std::string_view tokens, std::size_t vocab_size);

// `tokenizer`, or its error with the name of the file.
Result<Tokenizer> InFile(std::string_view file, Result<Tokenizer> tokenizer);

// Collects the tokens of `file` and their ids.
class VocabularyIds {
 public:
  VocabularyIds(std::string_view file, std::size_t vocab_size)
      : file_(file), vocab_size_(vocab_size) {}

  Status Add(const std::string& token, const Json& value);

  // Tokens by id, "" where an id has none.
  Result<std::vector<std::string>> Take();

 private:
  std::string_view file_;
  std::size_t vocab_size_;
  std::size_t size_ = 0;  // one more than the largest id
  std::vector<std::pair<std::size_t, std::string>> entries_;
};

// Builds the tokenizer. `vocab_json` maps each token to its id, `merges_txt` lists one merge a
// line, both in GPT-2's byte-to-character alphabet; neither may be empty. Ids are below
// `vocab_size`, the config's; if the vocabulary has fewer tokens, the matrix was padded. Also fails
// if two tokens have one id. The ids may not have more gaps than tokens between them, so that the
// tables are as small as the files. `rules` are those that WriteTokenizer wrote beside them, null
// for GPT-2's own.
Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt,
                                std::size_t vocab_size, const Json* rules = nullptr);

}  // namespace gpt2
