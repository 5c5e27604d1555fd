// Numbers in arrays: what the readers find, and how it becomes what a column stores.
//
// Threads: functions of their arguments alone.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "partition/schema/schema.h"

namespace vicinity {

// A DType, or one of the types that are read but not stored. Values are little-endian.
enum class ValueType : uint8_t {
  kBool = 1,
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kUint16,
  kUint32,
  kUint64,
};
inline ValueType ToValueType(DType dtype) { return static_cast<ValueType>(dtype); }
// Whether columns can have this type; it is then static_cast<DType>(type).
inline bool IsStored(ValueType type) { return type <= ValueType::kFloat64; }
bool IsFloatingPoint(ValueType type);
int64_t ValueBytes(ValueType type);
absl::string_view ValueTypeName(ValueType type);  // "uint16"

// Converts `count` values, which need no alignment. Integers must fit; a floating-point number must
// be whole to become an integer, and in range unless it is infinite; it is rounded to the nearest,
// ties to even, and NaN stays NaN. Truth values are 0 or 1 (as input: 0 or not).
// Returns `count`, or the position of the first value that does not fit.
int64_t CastValues(ValueType from, const char* in, int64_t count, DType to, char* out);

// One value, for messages.
std::string ValueText(ValueType type, const char* value);

float HalfToFloat(uint16_t half);
uint16_t FloatToHalf(float value);  // beyond the range: infinite
float Bfloat16ToFloat(uint16_t bits);
uint16_t FloatToBfloat16(float value);  // likewise

}  // namespace vicinity
