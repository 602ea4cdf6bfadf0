#include "tests/fuzz/support/any_json.h"

#include <limits>

namespace gpt2::fuzz {

Json AnyJson(FuzzedDataProvider& input, int depth) {
  switch (input.ConsumeIntegralInRange<int>(0, depth < 3 ? 10 : 8)) {
    case 0:
      return nullptr;
    case 1:
      return input.ConsumeBool();
    case 2:
      return input.ConsumeIntegral<std::int8_t>();
    case 3:
      return input.ConsumeIntegral<std::int64_t>();
    case 4:
      return input.ConsumeIntegral<std::uint64_t>();
    case 5:
      return input.ConsumeFloatingPointInRange<double>(-2, 2);
    case 6:
      return input.ConsumeFloatingPoint<double>();
    case 7:
      return input.PickValueInArray<double>(
          {0.0, -0.0, 0.5, 1e-300, 1e300, 0x1p53, 0x1p63, std::numeric_limits<double>::max(),
           static_cast<double>(std::numeric_limits<float>::min()), 1e-45});
    case 8:
      return input.ConsumeRandomLengthString(16);
    case 9: {
      Json array = Json::array();
      while (input.remaining_bytes() > 0 && array.size() < 8 && input.ConsumeBool()) {
        array.push_back(AnyJson(input, depth + 1));
      }
      return array;
    }
    default: {
      Json object = Json::object();
      while (input.remaining_bytes() > 0 && object.size() < 4 && input.ConsumeBool()) {
        const std::string key = input.ConsumeRandomLengthString(8);
        object[key] = AnyJson(input, depth + 1);
      }
      return object;
    }
  }
}

std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace gpt2::fuzz
