#include "client/cli/output/row_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
T Read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// IEEE binary16: 1 sign, 5 exponent and 10 fraction bits.
double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

double Bfloat16ToDouble(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  return Read<float>(reinterpret_cast<const char*>(&wide));
}

// JSON has no such numbers.
Json Real(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json ValueAt(DType dtype, const char* at) {
  switch (dtype) {
    case DType::kBool:
      return Read<uint8_t>(at) != 0;
    case DType::kInt8:
      return Read<int8_t>(at);
    case DType::kUint8:
      return Read<uint8_t>(at);
    case DType::kInt16:
      return Read<int16_t>(at);
    case DType::kInt32:
      return Read<int32_t>(at);
    case DType::kInt64:
      return Read<int64_t>(at);
    case DType::kFloat16:
      return Real(HalfToDouble(Read<uint16_t>(at)));
    case DType::kBfloat16:
      return Real(Bfloat16ToDouble(Read<uint16_t>(at)));
    case DType::kFloat32:
      return Real(Read<float>(at));
    case DType::kFloat64:
      return Real(Read<double>(at));
  }
  return nullptr;
}

// The part of a row that lies at `*at`, from the shape's dimension `depth` on; moves `*at` past it.
Json PartAt(const ColumnSpec& column, size_t depth, const char** at) {
  if (depth == column.shape.size()) {
    Json value = ValueAt(column.dtype, *at);
    *at += DTypeBytes(column.dtype);
    return value;
  }
  Json list = Json::array();
  for (int64_t i = 0; i < column.shape[depth]; ++i) list.push_back(PartAt(column, depth + 1, at));
  return list;
}

std::string ValueAsText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  // Six digits: people look here, programs read the JSON.
  return value.is_number_float() ? absl::StrCat(value.get<double>()) : value.dump();
}

}  // namespace

nlohmann::ordered_json RowAsJson(const ColumnSpec& column, const char* row) {
  return PartAt(column, 0, &row);
}

std::string RowAsText(const ColumnSpec& column, const char* row) {
  constexpr int64_t kMostShown = 8;
  if (column.shape.empty()) return ValueAsText(ValueAt(column.dtype, row));
  const int64_t num_values = column.num_values();
  std::string text = "[";
  for (int64_t i = 0; i < std::min(num_values, kMostShown); ++i) {
    const Json value = ValueAt(column.dtype, row + i * DTypeBytes(column.dtype));
    absl::StrAppend(&text, i == 0 ? "" : ", ", ValueAsText(value));
  }
  if (num_values > kMostShown) absl::StrAppend(&text, ", ... ", num_values, " values");
  return absl::StrCat(text, "]");
}

}  // namespace vicinity::cli
