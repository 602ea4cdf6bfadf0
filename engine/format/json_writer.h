// Writes JSON as text, piece by piece, without building a document.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpt2 {

// Appends JSON to a string, with the necessary commas. The caller must close each bracket and give
// each member a key. Not thread-safe.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(&out) {}

  JsonWriter& Open(char bracket);   // '{' or '['
  JsonWriter& Close(char bracket);  // '}' or ']'
  JsonWriter& Key(std::string_view name);

  // Writes a string of any bytes. Those that are not valid UTF-8 become U+FFFD.
  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  // Writes the fewest digits that read back as the same number, or null if it is not finite.
  JsonWriter& Value(double number);
  JsonWriter& Value(bool value);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& Value(T number) {
    return Whole(static_cast<std::int64_t>(number));
  }
  JsonWriter& Null();

  template <typename T>
  JsonWriter& Member(std::string_view name, const T& value) {
    return Key(name).Value(value);
  }

 private:
  JsonWriter& Whole(std::int64_t number);
  JsonWriter& Raw(std::string_view json);

  std::string* out_;
  bool needs_comma_ = false;  // whether the next value needs one before it
};

}  // namespace gpt2
