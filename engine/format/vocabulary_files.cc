#include "engine/format/vocabulary_files.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/format/json.h"
#include "engine/text/byte_alphabet.h"

namespace gpt2 {
namespace {

constexpr std::uint64_t kMostTokens = 1 << 24;

// Collects {"token": id, ...} while the parser runs: a document tree of 50,257 keys would be built
// only to be thrown away. Stops at the first thing that is not a vocabulary, and says what.
class VocabularyHandler final : public nlohmann::json_sax<Json> {
 public:
  bool key(std::string& token) override {
    token_ = token;
    return true;
  }
  bool number_unsigned(std::uint64_t id) override {
    if (!is_open_ || id >= kMostTokens) return Refuse("the id " + std::to_string(id));
    const auto index = static_cast<std::size_t>(id);
    if (index >= tokens_.size()) {
      tokens_.resize(index + 1);
      is_taken_.resize(index + 1);
    }
    if (is_taken_[index]) return Refuse("a second token with id " + std::to_string(id));
    is_taken_[index] = true;
    tokens_[index] = std::move(token_);
    return true;
  }
  bool start_object(std::size_t) override {
    if (is_open_) return Refuse("an object inside the object");
    return is_open_ = true;
  }
  bool end_object() override { return true; }

  bool null() override { return Refuse("null"); }
  bool boolean(bool) override { return Refuse("true or false"); }
  bool number_integer(std::int64_t id) override { return Refuse("the id " + std::to_string(id)); }
  bool number_float(double, const std::string& text) override { return Refuse("the id " + text); }
  bool string(std::string& text) override { return Refuse("the text \"" + text + "\""); }
  bool binary(Json::binary_t&) override { return Refuse("binary data"); }
  bool start_array(std::size_t) override { return Refuse("an array"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Refuse("no JSON at byte " + std::to_string(at));
  }

  Result<std::vector<std::string>> Take() {
    if (found_.empty()) return std::move(tokens_);
    return Error{ErrorCode::kCorrupt,
                 "vocab.json: expected an object that maps each token to its own id below " +
                     std::to_string(kMostTokens) + ", found " + found_ +
                     (token_.empty() ? "" : " at the token \"" + token_ + "\"")};
  }

 private:
  bool Refuse(std::string found) {
    found_ = std::move(found);
    return false;
  }

  std::vector<std::string> tokens_;
  std::vector<bool> is_taken_;
  std::string token_;
  std::string found_;
  bool is_open_ = false;
};

Result<std::vector<std::string>> ReadTokens(std::string_view vocab_json) {
  VocabularyHandler handler;
  Json::sax_parse(vocab_json.begin(), vocab_json.end(), &handler);
  return handler.Take();
}

// The two halves of each merge, in order of rank.
Result<std::vector<std::pair<std::string, std::string>>> ReadMerges(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> merges;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line.starts_with("#version"))) continue;
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string_view::npos) {
      return Error{ErrorCode::kCorrupt, "merges.txt line " + std::to_string(line_number) + ": \"" +
                                            std::string(line.substr(0, 80)) +
                                            "\", expected two tokens and one space"};
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

}  // namespace

Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt) {
  GPT2_ASSIGN(std::vector<std::string> tokens, ReadTokens(vocab_json));
  GPT2_ASSIGN(auto merges, ReadMerges(merges_txt));
  return Tokenizer::Create(tokens, merges);
}

}  // namespace gpt2
