#include "engine/languages/text_decoder.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/languages/text_models.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

void ReplaceAll(std::string& text, std::string_view literal, std::string_view content) {
  std::string result;
  std::string_view rest = text;
  for (std::size_t at = 0; (at = rest.find(literal)) != std::string_view::npos;) {
    result.append(rest.substr(0, at)).append(content);
    rest.remove_prefix(at + literal.size());
  }
  text = result.append(rest);
}

class ByteLevelSpelling final : public DecoderStep {
 public:
  void Apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) token = BytesFromAlphabet(token).value_or(token);
  }
};

class WordPieces final : public DecoderStep {
 public:
  WordPieces(std::string prefix, bool cleans) : prefix_(std::move(prefix)), cleans_(cleans) {}
  void Apply(std::vector<std::string>& tokens) const override {
    bool is_first = true;
    for (std::string& token : tokens) {
      if (!is_first) {
        if (token.starts_with(prefix_)) {
          token.erase(0, prefix_.size());
        } else {
          token.insert(0, 1, ' ');
        }
      }
      is_first = false;
      if (cleans_) Clean(token);
    }
  }

 private:
  // tokenizers/src/decoders/wordpiece.rs
  static void Clean(std::string& token) {
    constexpr std::string_view kMarks[][2] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [found, written] : kMarks) ReplaceAll(token, found, written);
  }

  std::string prefix_;
  bool cleans_;
};

class Metaspaces final : public DecoderStep {
 public:
  Metaspaces(std::string replacement, bool drops_first)
      : replacement_(std::move(replacement)), drops_first_(drops_first) {}
  void Apply(std::vector<std::string>& tokens) const override {
    bool is_first = true;
    for (std::string& token : tokens) {
      ReplaceAll(token, replacement_, is_first && drops_first_ ? "" : " ");
      is_first = false;
    }
  }

 private:
  std::string replacement_;
  bool drops_first_;
};

class ByteFallback final : public DecoderStep {
 public:
  bool has_byte_tokens() const override { return true; }
  void Apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> result;
    std::string bytes;
    const auto end_bytes = [&] {
      if (bytes.empty()) return;
      std::string text;
      AppendUtf8(bytes, text);
      if (text == bytes) {
        result.push_back(std::move(text));
      } else {
        result.insert(result.end(), bytes.size(), std::string(kReplacementCharacter));
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = ByteOfTokenName(token)) {
        bytes += static_cast<char>(*byte);
      } else {
        end_bytes();
        result.push_back(std::move(token));
      }
    }
    end_bytes();
    tokens = std::move(result);
  }
};

class Fuse final : public DecoderStep {
 public:
  void Apply(std::vector<std::string>& tokens) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, all);
  }
};

class Replacing final : public DecoderStep {
 public:
  Replacing(std::string literal, std::string content)
      : literal_(std::move(literal)), content_(std::move(content)) {}
  void Apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) ReplaceAll(token, literal_, content_);
  }

 private:
  std::string literal_;
  std::string content_;
};

class Stripping final : public DecoderStep {
 public:
  Stripping(std::string content, std::size_t most_left, std::size_t most_right)
      : content_(std::move(content)), most_left_(most_left), most_right_(most_right) {}
  void Apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::string_view text = token;
      for (std::size_t i = 0; i < most_left_ && text.starts_with(content_); ++i) {
        text.remove_prefix(content_.size());
      }
      for (std::size_t i = 0; i < most_right_ && text.ends_with(content_); ++i) {
        text.remove_suffix(content_.size());
      }
      token = std::string(text);
    }
  }

 private:
  std::string content_;
  std::size_t most_left_;
  std::size_t most_right_;
};

}  // namespace

std::unique_ptr<const DecoderStep> ByteLevelDecoder() {
  return std::make_unique<ByteLevelSpelling>();
}
std::unique_ptr<const DecoderStep> WordPieceDecoder(std::string prefix, bool cleans) {
  return std::make_unique<WordPieces>(std::move(prefix), cleans);
}
std::unique_ptr<const DecoderStep> MetaspaceDecoder(std::string replacement, bool drops_first) {
  return std::make_unique<Metaspaces>(std::move(replacement), drops_first);
}
std::unique_ptr<const DecoderStep> ByteFallbackDecoder() {
  return std::make_unique<ByteFallback>();
}
std::unique_ptr<const DecoderStep> FuseDecoder() {
  return std::make_unique<Fuse>();
}
std::unique_ptr<const DecoderStep> ReplaceDecoder(std::string literal, std::string content) {
  return std::make_unique<Replacing>(std::move(literal), std::move(content));
}
std::unique_ptr<const DecoderStep> StripDecoder(std::string content, std::size_t most_left,
                                                std::size_t most_right) {
  return std::make_unique<Stripping>(std::move(content), most_left, most_right);
}

}  // namespace gpt2
