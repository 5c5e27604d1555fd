#include "partition/ingest/formats/value_cast.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

struct Bool {
  uint8_t byte;
};
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

template <typename To, typename From>
To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Every type widens without loss to one of int64_t, uint64_t and double.
template <typename T>
auto Widen(T value) {
  if constexpr (std::is_same_v<T, Bool>) {
    return int64_t{value.byte != 0};
  } else if constexpr (std::is_same_v<T, Half>) {
    return double{HalfToFloat(value.bits)};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return double{Bfloat16ToFloat(value.bits)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return double{value};
  } else if constexpr (std::is_unsigned_v<T>) {
    return uint64_t{value};
  } else {
    return int64_t{value};
  }
}

// To float with the last bit telling that something was cut off, so that rounding the result
// once more, to 16 bits, rounds the double correctly (Boldo, Melquiond 2008).
float RoundToOdd(double value) {
  float rounded = static_cast<float>(value);
  if (std::isnan(value) || double{rounded} == value) return rounded;
  if (std::fabs(double{rounded}) > std::fabs(value)) rounded = std::nextafter(rounded, 0.0F);
  return BitCast<float>(BitCast<uint32_t>(rounded) | 1U);
}

bool BecameInfinite(double before, float after) { return std::isinf(after) && !std::isinf(before); }

template <typename To, typename Wide>
bool NarrowToInteger(Wide wide, To* to) {
  if constexpr (std::is_same_v<Wide, double>) {
    // Both bounds are exact as doubles, and NaN fails the comparison.
    const double low = static_cast<double>(std::numeric_limits<To>::min());
    const double high = std::ldexp(1.0, std::numeric_limits<To>::digits);
    if (!(wide >= low && wide < high) || wide != std::trunc(wide)) return false;
  } else if constexpr (std::is_same_v<Wide, uint64_t>) {
    if (wide > static_cast<uint64_t>(std::numeric_limits<To>::max())) return false;
  } else {
    if (wide < int64_t{std::numeric_limits<To>::min()} ||
        wide > int64_t{std::numeric_limits<To>::max()}) {
      return false;
    }
  }
  *to = static_cast<To>(wide);
  return true;
}

template <typename To, typename Wide>
bool Narrow(Wide wide, To* to) {
  if constexpr (std::is_same_v<To, Bool>) {
    if (!(wide == 0 || wide == 1)) return false;
    to->byte = wide != 0;
    return true;
  } else if constexpr (std::is_same_v<To, double>) {
    *to = static_cast<double>(wide);
    return true;
  } else if constexpr (std::is_same_v<To, float>) {
    *to = static_cast<float>(wide);
    return !BecameInfinite(static_cast<double>(wide), *to);
  } else if constexpr (std::is_same_v<To, Half>) {
    const double value = static_cast<double>(wide);
    to->bits = FloatToHalf(RoundToOdd(value));
    return !BecameInfinite(value, HalfToFloat(to->bits));
  } else if constexpr (std::is_same_v<To, Bfloat16>) {
    const double value = static_cast<double>(wide);
    to->bits = FloatToBfloat16(RoundToOdd(value));
    return !BecameInfinite(value, Bfloat16ToFloat(to->bits));
  } else {
    return NarrowToInteger(wide, to);
  }
}

template <typename From, typename To>
int64_t CastLoop(const char* in, int64_t count, char* out) {
  // The same bytes keep their meaning, NaN payloads included; truth values are tidied.
  if constexpr (std::is_same_v<From, To> && !std::is_same_v<From, Bool>) {
    if (count > 0) std::memcpy(out, in, static_cast<size_t>(count) * sizeof(From));
    return count;
  }
  for (int64_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, in + i * int64_t{sizeof(From)}, sizeof(From));
    To to;
    if (!Narrow(Widen(from), &to)) return i;
    std::memcpy(out + i * int64_t{sizeof(To)}, &to, sizeof(To));
  }
  return count;
}

// Calls `visit` with a value of the C++ type that stands for `type`.
template <typename Visit>
auto WithType(ValueType type, Visit visit) {
  switch (type) {
    case ValueType::kBool:
      return visit(Bool());
    case ValueType::kInt8:
      return visit(int8_t());
    case ValueType::kUint8:
      return visit(uint8_t());
    case ValueType::kInt16:
      return visit(int16_t());
    case ValueType::kInt32:
      return visit(int32_t());
    case ValueType::kInt64:
      return visit(int64_t());
    case ValueType::kFloat16:
      return visit(Half());
    case ValueType::kBfloat16:
      return visit(Bfloat16());
    case ValueType::kFloat32:
      return visit(float());
    case ValueType::kFloat64:
      return visit(double());
    case ValueType::kUint16:
      return visit(uint16_t());
    case ValueType::kUint32:
      return visit(uint32_t());
    case ValueType::kUint64:
      break;
  }
  return visit(uint64_t());
}

}  // namespace

bool IsFloatingPoint(ValueType type) {
  return type >= ValueType::kFloat16 && type <= ValueType::kFloat64;
}

int64_t ValueBytes(ValueType type) {
  return WithType(type, [](auto value) { return int64_t{sizeof(value)}; });
}

absl::string_view ValueTypeName(ValueType type) {
  switch (type) {
    case ValueType::kUint16:
      return "uint16";
    case ValueType::kUint32:
      return "uint32";
    case ValueType::kUint64:
      return "uint64";
    default:
      break;
  }
  const std::string_view name = DTypeName(static_cast<DType>(type));
  return {name.data(), name.size()};
}

int64_t CastValues(ValueType from, const char* in, int64_t count, DType to, char* out) {
  return WithType(from, [&](auto source) {
    return WithType(ToValueType(to), [&](auto target) -> int64_t {
      using From = decltype(source);
      using To = decltype(target);
      // Never a stored type; instantiating the loops would be waste.
      if constexpr (std::is_same_v<To, uint16_t> || std::is_same_v<To, uint32_t> ||
                    std::is_same_v<To, uint64_t>) {
        return 0;
      } else {
        return CastLoop<From, To>(in, count, out);
      }
    });
  });
}

std::string ValueText(ValueType type, const char* value) {
  return WithType(type, [value](auto kind) {
    std::memcpy(&kind, value, sizeof(kind));
    return absl::StrCat(Widen(kind));
  });
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31;
  const uint32_t exponent = half >> 10 & 0x1F;
  const uint32_t fraction = half & 0x3FF;
  if (exponent == 0) {  // zero or subnormal: the fraction counts units of 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return BitCast<float>(BitCast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 0x1F) return BitCast<float>(sign | 0x7F800000U | fraction << 13);
  return BitCast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = BitCast<uint32_t>(value);
  const uint32_t sign = bits >> 31 << 15;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {  // NaN stays quiet and keeps what fits of its payload
    return static_cast<uint16_t>(sign | 0x7E00U | (magnitude >> 13 & 0x3FF));
  }
  if (magnitude >= 0x477FF000U) return static_cast<uint16_t>(sign | 0x7C00U);  // rounds to 2^16
  if (magnitude < 0x38800000U) {  // below 2^-14: adding 0.5 rounds to units of 2^-24
    const float shifted = BitCast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (BitCast<uint32_t>(shifted) - 0x3F000000U));
  }
  const uint32_t tie_to_even = magnitude >> 13 & 1;
  const uint32_t rounded = magnitude + 0xFFF + tie_to_even;
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

float Bfloat16ToFloat(uint16_t bits) { return BitCast<float>(uint32_t{bits} << 16); }

uint16_t FloatToBfloat16(float value) {
  const uint32_t bits = BitCast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace vicinity
