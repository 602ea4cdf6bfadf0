// Writes a "precompiled_charsmap" of SentencePiece, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpt2 {

// `rules`: the replacement of each text, of at least one byte. Each node of the trie has its own
// 256 places: for the child of each byte, or for its value at 0.
inline std::string WriteCharsMap(const std::vector<std::pair<std::string, std::string>>& rules) {
  struct Node {
    std::map<unsigned char, std::size_t> children;
    int value = -1;
  };
  std::vector<Node> nodes(1);
  std::string texts;
  for (const auto& [from, to] : rules) {
    std::size_t node = 0;
    for (const char c : from) {
      const auto [child, is_new] =
          nodes[node].children.emplace(static_cast<unsigned char>(c), nodes.size());
      const std::size_t next = child->second;
      if (is_new) nodes.emplace_back();
      node = next;
    }
    nodes[node].value = static_cast<int>(texts.size());
    texts += to + '\0';
  }
  // The root is at 0, and its places begin at 256; so do those of node i at 256 * (i + 1).
  std::vector<std::uint32_t> units(256 * (nodes.size() + 1));
  std::vector<std::size_t> place_of(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t base = 256 * (i + 1);
    units[place_of[i]] |= static_cast<std::uint32_t>(place_of[i] ^ base) << 10;
    if (nodes[i].value >= 0) {
      units[place_of[i]] |= 1u << 8;
      units[base] = 1u << 31 | static_cast<std::uint32_t>(nodes[i].value);
    }
    for (const auto& [byte, child] : nodes[i].children) {
      place_of[child] = base + byte;
      units[base + byte] = byte;
    }
  }
  std::string bytes;
  const auto add = [&bytes](std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  };
  add(static_cast<std::uint32_t>(4 * units.size()));
  for (const std::uint32_t unit : units) add(unit);
  return bytes + texts;
}

}  // namespace gpt2
