// Parses any text. The parser accepts what nlohmann/json's own acceptor accepts, except for
// duplicate keys and deep nesting. Its result survives writing and reading.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/format/json.h"
#include "tests/fuzz/support/any_json.h"

namespace gpt2::fuzz {
namespace {

// Facts about a document, found in one pass.
class Facts final : public nlohmann::json_sax<Json> {
 public:
  bool key(std::string& name) override {
    has_duplicate |= !open_.back().insert(name).second;
    return true;
  }
  bool start_object(std::size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  std::size_t depth = 0;  // of the deepest value: 1 for []
  bool has_duplicate = false;

 private:
  bool Open() {
    open_.emplace_back();
    depth = std::max(depth, open_.size());
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  std::vector<std::set<std::string>> open_;
};

// 80 bytes of control characters, each spelled \u00xx, and the size of the text.
constexpr std::size_t kMostShown = 80 * 6 + 40;

// The whole number in `value`, if it is one, as a long double, which holds every integer of JSON.
std::optional<long double> Stated(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  // Above 2^53 a double may be a rounded number.
  if (std::fabs(number) > 0x1p53 || std::trunc(number) != number) return std::nullopt;
  return number;
}

void CheckWholeNumber(const Json& value) {
  constexpr std::int64_t kBounds[] = {
      std::numeric_limits<std::int64_t>::min(), -3, 0, 7, std::int64_t{1} << 53,
      std::numeric_limits<std::int64_t>::max()};
  const auto stated = Stated(value);
  for (const std::int64_t least : kBounds) {
    for (const std::int64_t most : kBounds) {
      const auto number = WholeNumber(value, least, most);
      const bool fits = stated && *stated >= least && *stated <= most;
      Check(number.has_value() == fits,
            fits ? "no whole number" : "a whole number from what is none");
      if (fits) Check(*number == *stated, "another whole number than was written");
    }
  }
}

// Reading member by member gives the same as reading the whole.
void CheckMembers(std::string_view text, const Json& whole) {
  std::size_t count = 0;
  const Status status = ForMembers(text, "the input", [&](std::string& key, Json& value) -> Status {
    const Json* const member = FindMember(whole, key);
    Check(member != nullptr && *member == value, "another member than the whole has");
    ++count;
    return Done{};
  });
  Check(status.ok() == whole.is_object(), "members of what has none, or none of an object");
  if (status.ok()) Check(count == whole.size(), "another count of members");
}

void CheckValue(const Json& value) {
  const std::string shown = Shown(value);
  Check(shown.size() <= kMostShown && IsUtf8(shown), "Shown: some 80 bytes of UTF-8");
  Check(shown.find('\n') == std::string::npos, "Shown: more than one line");
  CheckWholeNumber(value);
  const auto ids = ReadTokenIds(value);
  const auto is_id = [](const Json& id) {
    const auto stated = Stated(id);
    return stated && *stated >= 0 && *stated <= std::numeric_limits<std::int32_t>::max();
  };
  Check(ids.ok() == (value.is_array() && std::all_of(value.begin(), value.end(), is_id)),
        "token ids from what are none, or none from some");
  if (ids.ok()) {
    Check(value.is_array() && value.size() == ids.value().size(), "ids of another count");
    for (std::size_t i = 0; i < value.size(); ++i) {
      Check(value[i] == Json(ids.value()[i]) && ids.value()[i] >= 0, "another id than was written");
    }
  }
  if (value.is_structured()) {
    for (const Json& child : value) CheckValue(child);
  }
}

// JSON text. Its keys are so short that some repeat, and some texts are nested up to the limit.
std::string AnyJsonText(FuzzedDataProvider& input, int depth = 0) {
  const auto list = [&](char open, char close, auto item) {
    std::string text(1, open);
    for (auto count = input.ConsumeIntegralInRange<int>(0, 4); count > 0; --count) {
      text += item() + (count > 1 ? "," : "");
    }
    return text + close;
  };
  const auto value = [&] { return AnyJsonText(input, depth + 1); };
  switch (input.ConsumeIntegralInRange<int>(0, depth < 4 ? 4 : 2)) {
    case 0:
      return input.PickValueInArray({"null", "7", "-0", "-3.0", "1e3", "9007199254740992.0",
                                     "9223372036854775808", "2147483648"});
    case 1:
      return TextOf(AnyJson(input));
    case 2: {
      const auto levels = input.ConsumeIntegralInRange<std::size_t>(kMostDepth - 6, kMostDepth + 1);
      return std::string(levels, '[') + std::string(levels, ']');
    }
    case 3:
      return list('[', ']', value);
    default:
      return list('{', '}', [&] {
        return input.PickValueInArray({R"("":)", R"("a":)", R"("b":)"}) + value();
      });
  }
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  // No UTF-8 text begins with the byte 0xff: it asks the target to generate a text.
  const bool is_made = size > 0 && data[0] == 0xff;
  const std::string made = is_made ? AnyJsonText(input) : std::string();
  const std::string_view text = is_made ? std::string_view(made) : AsText(data, size);
  const Result<ParsedJson> parsed = ParseJson(text, "the input");
  Facts facts;
  const bool is_json = Json::sax_parse(text.begin(), text.end(), &facts);
  const bool is_wanted = is_json && !facts.has_duplicate && facts.depth <= kMostDepth;
  Check(parsed.ok() == is_wanted, is_wanted ? "refused" : "taken");
  if (!parsed.ok()) {
    Check(parsed.error().message.find("the input") != std::string::npos, "does not say what");
    return 0;
  }
  CheckValue(*parsed.value());
  CheckMembers(text, *parsed.value());
  const Result<ParsedJson> again = ParseJson(parsed.value()->dump(), "the input");
  Check(again.ok() && *again.value() == *parsed.value(), "not the same when read again");
  return 0;
}
