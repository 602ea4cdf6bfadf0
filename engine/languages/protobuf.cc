#include "engine/languages/protobuf.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/concat.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"

namespace gpt2 {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view message) : message_(message) {}
  bool is_done() const { return at_ == message_.size(); }

  Error Bad(std::string_view what) const {
    return Error{ErrorCode::kCorrupt, Concat("byte ", at_, " of a message: ", what)};
  }

  // Seven bits a byte, the lowest first.
  Result<std::uint64_t> Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (is_done()) return Bad("the message ends within a number");
      const auto byte = static_cast<unsigned char>(message_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return Bad("a number is longer than 10 bytes");
  }

  Result<std::string_view> Bytes(std::uint64_t size) {
    const std::size_t left = message_.size() - at_;
    if (size > left) {
      return Bad(Concat("a field is ", size, " bytes, but ", left, " are left"));
    }
    const auto count = static_cast<std::size_t>(size);
    at_ += count;
    return message_.substr(at_ - count, count);
  }

  Result<std::uint64_t> Fixed(std::size_t size) {
    GPT2_ASSIGN(const std::string_view bytes, Bytes(size));
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }

 private:
  std::string_view message_;
  std::size_t at_ = 0;
};

}  // namespace

Status ForFields(std::string_view message, FunctionRef<Status(const ProtoField& field)> take) {
  constexpr std::uint64_t kMostNumber = (1u << 29) - 1;
  using Type = ProtoField::Type;
  for (Reader reader(message); !reader.is_done();) {
    GPT2_ASSIGN(const std::uint64_t tag, reader.Varint());
    const std::uint64_t number = tag >> 3;
    if (number == 0 || number > kMostNumber) {
      return reader.Bad(Concat("a field has the number ", number, ", expected 1 to ", kMostNumber));
    }
    ProtoField field{.number = static_cast<std::uint32_t>(number), .bytes = {}};
    switch (tag & 7) {
      case 0: {
        GPT2_ASSIGN(field.value, reader.Varint());
        break;
      }
      case 1: {
        field.type = Type::kFixed64;
        GPT2_ASSIGN(field.value, reader.Fixed(8));
        break;
      }
      case 2: {
        field.type = Type::kBytes;
        GPT2_ASSIGN(const std::uint64_t size, reader.Varint());
        GPT2_ASSIGN(field.bytes, reader.Bytes(size));
        break;
      }
      case 5: {
        field.type = Type::kFixed32;
        GPT2_ASSIGN(field.value, reader.Fixed(4));
        break;
      }
      default:
        return reader.Bad(
            Concat("field ", number, " has the wire type ", tag & 7, ", expected 0, 1, 2 or 5"));
    }
    GPT2_TRY(take(field));
  }
  return Done{};
}

}  // namespace gpt2
