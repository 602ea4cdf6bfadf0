#include "engine/format/sha256.h"

#include <gtest/gtest.h>

namespace gpt2 {
namespace {

std::string HashInPieces(const std::string& text, std::size_t piece) {
  Sha256 hash;
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    hash.Update(bytes.subspan(at, std::min(piece, bytes.size() - at)));
  }
  return ToHex(hash.Finish());
}

// FIPS 180-4's examples and their well-known companions.
TEST(Sha256, MatchesKnownDigests) {
  EXPECT_EQ(HashInPieces("", 1),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HashInPieces("abc", 3),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashInPieces("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 7),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HashInPieces(std::string(1'000'000, 'a'), 999),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HashingInPiecesGivesTheSameDigest) {
  for (std::size_t size = 50; size < 140; ++size) {
    const std::string text(size, 'x');
    EXPECT_EQ(HashInPieces(text, 1), HashInPieces(text, size)) << size;
  }
}

}  // namespace
}  // namespace gpt2
