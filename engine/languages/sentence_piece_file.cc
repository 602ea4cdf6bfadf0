#include "engine/languages/sentence_piece_file.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/languages/protobuf.h"
#include "engine/languages/text_models.h"
#include "engine/text/quoted.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

Error Damage(std::string_view what) {
  return Error{ErrorCode::kCorrupt, std::string(what)};
}

Status NeedType(const ProtoField& field, ProtoField::Type type, std::string_view name) {
  if (field.type == type) return Done{};
  return Damage(Concat("\"", name, "\" has an unexpected wire type"));
}

Status ReadBytes(const ProtoField& field, std::string_view name, std::string_view& text) {
  GPT2_TRY(NeedType(field, ProtoField::Type::kBytes, name));
  text = field.bytes;
  return Done{};
}

Status ReadBool(const ProtoField& field, std::string_view name, bool& flag) {
  GPT2_TRY(NeedType(field, ProtoField::Type::kNumber, name));
  flag = field.value != 0;
  return Done{};
}

// Fails if `field` is not `expected`.
Status NeedBool(const ProtoField& field, std::string_view name, bool expected) {
  bool flag = expected;
  GPT2_TRY(ReadBool(field, name, flag));
  if (flag == expected) return Done{};
  return Error{ErrorCode::kUnsupported, Concat("\"", name, "\" is ", flag ? "true" : "false",
                                               ", expected ", expected ? "true" : "false")};
}

Status ReadPiece(std::string_view message, std::size_t id, SentencePieceFile::Piece& piece) {
  const auto read = [&](const ProtoField& field) -> Status {
    switch (field.number) {
      case 1: {
        std::string_view text;
        GPT2_TRY(ReadBytes(field, "piece", text));
        piece.text = text;
        break;
      }
      case 2:
        GPT2_TRY(NeedType(field, ProtoField::Type::kFixed32, "score"));
        piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
        break;
      case 3:
        GPT2_TRY(NeedType(field, ProtoField::Type::kNumber, "type"));
        if (field.value < 1 || field.value > 6) {
          return Error{ErrorCode::kUnsupported, Concat("the piece ", id, " has the type ",
                                                       field.value, ", expected 1 to 6")};
        }
        piece.type = static_cast<SentencePieceFile::Type>(field.value);
        break;
      default:
        break;
    }
    return Done{};
  };
  GPT2_TRY(ForFields(message, read));
  std::string valid;
  AppendUtf8(piece.text, valid);
  if (piece.text.empty() || piece.text.size() > kMostTokenBytes || valid != piece.text) {
    return Error{ErrorCode::kUnsupported,
                 Concat("the piece ", id, " is ", Quoted(valid), ", expected UTF-8 of 1 to ",
                        kMostTokenBytes, " bytes")};
  }
  if (!std::isfinite(piece.score)) {
    return Damage(Concat("the score of the piece ", Quoted(piece.text), " is not finite"));
  }
  return Done{};
}

Status ReadTrainerSpec(std::string_view message, SentencePieceFile& file) {
  return ForFields(message, [&](const ProtoField& field) -> Status {
    switch (field.number) {
      case 3: {
        GPT2_TRY(NeedType(field, ProtoField::Type::kNumber, "model_type"));
        constexpr std::string_view kTypes[] = {"?", "UNIGRAM", "BPE", "WORD", "CHAR"};
        if (field.value == 1) return Done{};
        return Error{ErrorCode::kUnsupported,
                     Concat("\"model_type\" is ", kTypes[field.value > 4 ? 0 : field.value], " (",
                            field.value,
                            "), expected UNIGRAM: save the tokenizer as "
                            "tokenizer.json with transformers' AutoTokenizer")};
      }
      case 24:
        return NeedBool(field, "treat_whitespace_as_suffix", false);
      case 35:
        return ReadBool(field, "byte_fallback", file.falls_back_to_bytes);
      case 40:
        GPT2_TRY(NeedType(field, ProtoField::Type::kNumber, "unk_id"));
        if (field.value >= kMostVocabulary) {
          return Damage(Concat("\"unk_id\" is ", field.value, ", expected the id of a piece"));
        }
        file.unknown = static_cast<std::int32_t>(field.value);
        return Done{};
      default:
        return Done{};
    }
  });
}

Status ReadNormalizerSpec(std::string_view message, SentencePieceFile& file) {
  return ForFields(message, [&](const ProtoField& field) -> Status {
    switch (field.number) {
      case 2:
        return ReadBytes(field, "precompiled_charsmap", file.charsmap);
      case 3:
        return ReadBool(field, "add_dummy_prefix", file.adds_space);
      case 4:
        return ReadBool(field, "remove_extra_whitespaces", file.removes_spaces);
      case 5:
        return NeedBool(field, "escape_whitespaces", true);
      default:
        return Done{};
    }
  });
}

// Checks the rules for decoded text.
Status CheckDenormalizer(std::string_view message) {
  return ForFields(message, [&](const ProtoField& field) -> Status {
    if (field.number != 2) return Done{};
    std::string_view charsmap;
    GPT2_TRY(ReadBytes(field, "precompiled_charsmap", charsmap));
    if (charsmap.empty()) return Done{};
    return Error{ErrorCode::kUnsupported,
                 "\"denormalizer_spec\" has a \"precompiled_charsmap\", expected none"};
  });
}

Status CheckPieces(const SentencePieceFile& file) {
  if (file.pieces.empty()) return Damage("it has no pieces");
  std::unordered_set<std::string_view> texts;
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const SentencePieceFile::Piece& piece = file.pieces[id];
    if (!texts.insert(piece.text).second) {
      return Damage(Concat("there are two pieces ", Quoted(piece.text)));
    }
    const bool is_unknown = piece.type == SentencePieceFile::Type::kUnknown;
    if (is_unknown == (id == static_cast<std::size_t>(file.unknown))) continue;
    return Damage(Concat("\"unk_id\" is ", file.unknown, ", but the piece ", id, " is ",
                         is_unknown ? "the unknown one" : "not the unknown one"));
  }
  if (static_cast<std::size_t>(file.unknown) < file.pieces.size()) return Done{};
  return Damage(Concat("\"unk_id\" is ", file.unknown, ", expected the id of one of ",
                       file.pieces.size(), " pieces"));
}

}  // namespace

Result<SentencePieceFile> ReadSentencePieceFile(std::string_view bytes, std::size_t vocab_size) {
  SentencePieceFile file;
  const auto read = [&](const ProtoField& field) -> Status {
    if (field.number < 1 || field.number > 5) return Done{};
    if (field.number == 4) return Done{};  // texts to test it with
    std::string_view message;
    GPT2_TRY(ReadBytes(field, "ModelProto", message));
    if (field.number == 2) return ReadTrainerSpec(message, file);
    if (field.number == 3) return ReadNormalizerSpec(message, file);
    if (field.number == 5) return CheckDenormalizer(message);
    if (file.pieces.size() == vocab_size) {
      return Error{ErrorCode::kUnsupported,
                   Concat("it has more pieces than config.json's \"vocab_size\", ", vocab_size)};
    }
    const std::size_t id = file.pieces.size();
    return ReadPiece(message, id, file.pieces.emplace_back());
  };
  GPT2_TRY(ForFields(bytes, read));
  GPT2_TRY(CheckPieces(file));
  return file;
}

}  // namespace gpt2
