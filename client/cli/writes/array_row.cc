#include "client/cli/writes/array_row.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

double RealOf(ValueType type, const char* value) {
  double real = 0;
  CastValues(type, value, 1, DType::kFloat64, reinterpret_cast<char*>(&real));
  return real;
}

// What is read again as the same value, of whatever type the column is.
Json JsonOf(ValueType type, const char* value) {
  if (type == ValueType::kBool) return *value != 0;
  if (IsFloatingPoint(type)) {
    const double real = RealOf(type, value);
    if (std::isfinite(real)) return real;
    return std::isnan(real) ? "nan" : real > 0 ? "inf" : "-inf";  // JSON has no such numbers
  }
  int64_t integer = 0;
  if (CastValues(type, value, 1, DType::kInt64, reinterpret_cast<char*>(&integer)) == 1) {
    return integer;
  }
  uint64_t huge = 0;
  std::memcpy(&huge, value, sizeof(huge));
  return huge;
}

absl::Status Misfit(const ArrayField& field, const char* value, DType dtype) {
  return absl::InvalidArgumentError(
      absl::StrCat(ValueText(field.type, value), " does not fit ", std::string(DTypeName(dtype))));
}

}  // namespace

absl::StatusOr<int64_t> ArrayRow::Integer(size_t field) const {
  const ArrayField& from = fields_[field];
  int64_t integer = 0;
  char* const out = reinterpret_cast<char*>(&integer);
  if (CastValues(from.type, ValuesOf(from), 1, DType::kInt64, out) == 1) return integer;
  return Misfit(from, ValuesOf(from), DType::kInt64);
}

absl::StatusOr<absl::string_view> ArrayRow::Text(size_t field) const {
  return absl::InvalidArgumentError(
      absl::StrCat(ValueText(fields_[field].type, ValuesOf(fields_[field])), " is a number"));
}

absl::Status ArrayRow::Cast(const ArrayField& field, DType dtype, std::string* out) const {
  const size_t before = out->size();
  out->resize(before + static_cast<size_t>(field.num_values * DTypeBytes(dtype)));
  const int64_t fit =
      CastValues(field.type, ValuesOf(field), field.num_values, dtype, out->data() + before);
  if (fit == field.num_values) return absl::OkStatus();
  out->resize(before);
  return Misfit(field, ValuesOf(field) + fit * ValueBytes(field.type), dtype);
}

absl::Status ArrayRow::AddColumnRow(size_t field, const ColumnSpec& spec, bool is_label,
                                    std::string* out) const {
  const ArrayField& from = fields_[field];
  static constexpr int64_t kNoLabel = -1;
  const bool has_none = is_label && from.num_values == 1 && IsFloatingPoint(from.type) &&
                        std::isnan(RealOf(from.type, ValuesOf(from)));
  if (!has_none) return Cast(from, spec.dtype, out);
  ArrayField none = from;
  none.type = ValueType::kInt64;
  none.data = reinterpret_cast<const char*>(&kNoLabel);
  none.stride = 0;
  return Cast(none, spec.dtype, out);
}

absl::Status ArrayRow::AddRaggedRow(size_t field, const RaggedSpec& spec, std::string* out) const {
  return Cast(fields_[field], spec.dtype, out);
}

int64_t ArrayRow::num_bytes() const {
  int64_t bytes = 0;
  for (const ArrayField& field : fields_) bytes += field.num_values * ValueBytes(field.type);
  return bytes;
}

Json ArrayRow::ToJson() const {
  Json object = Json::object();
  for (const ArrayField& field : fields_) {
    const char* value = ValuesOf(field);
    Json& json = object[field.name];
    if (field.row_shape.empty()) json = JsonOf(field.type, value);
    if (field.row_shape.empty()) continue;
    json = Json::array();
    for (int64_t i = 0; i < field.num_values; ++i, value += ValueBytes(field.type)) {
      json.push_back(JsonOf(field.type, value));
    }
  }
  return object;
}

}  // namespace vicinity::cli
