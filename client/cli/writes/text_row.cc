#include "client/cli/writes/text_row.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "partition/ingest/formats/text_reader.h"
#include "partition/ingest/formats/text_value.h"
#include "partition/ingest/formats/value_cast.h"
#include "partition/schema/ragged_row.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

constexpr char kBlanks[] = " \t";

absl::Status Wrong(absl::string_view text, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" ", what));
}

template <typename T>
absl::Status Cast(absl::string_view text, ValueType type, T value, DType dtype, std::string* out) {
  const size_t before = out->size();
  out->resize(before + DTypeBytes(dtype));
  const bool fits =
      CastValues(type, reinterpret_cast<const char*>(&value), 1, dtype, out->data() + before) == 1;
  if (fits) return absl::OkStatus();
  out->resize(before);
  return Wrong(text, absl::StrCat("does not fit ", std::string(DTypeName(dtype))));
}

absl::Status ParseValue(DType dtype, bool is_label, absl::string_view text, std::string* out) {
  const TextValue value = ParseTextValue(text);
  switch (value.kind) {
    case TextValue::Kind::kInteger:
    case TextValue::Kind::kTruth:
    case TextValue::Kind::kTime:
      return Cast(text, ValueType::kInt64, value.integer, dtype, out);
    case TextValue::Kind::kReal:
      if (is_label && std::isnan(value.real)) {
        return Cast(text, ValueType::kInt64, int64_t{-1}, dtype, out);
      }
      [[fallthrough]];
    case TextValue::Kind::kHugeInteger:
      return Cast(text, ValueType::kFloat64, value.real, dtype, out);
    case TextValue::Kind::kMissing:
      if (is_label) return Cast(text, ValueType::kInt64, int64_t{-1}, dtype, out);
      if (!IsFloatingPoint(ToValueType(dtype))) {
        return Wrong(text, absl::StrCat("is no ", std::string(DTypeName(dtype))));
      }
      return Cast(text, ValueType::kFloat64, std::numeric_limits<double>::quiet_NaN(), dtype, out);
    case TextValue::Kind::kFractionalTime:
      return Wrong(text, "has fractions of a second");
    case TextValue::Kind::kOther:
      return Wrong(text, "is no value");
  }
  return Wrong(text, "is no value");
}

std::vector<absl::string_view> PartsOf(absl::string_view text) {
  return absl::StrSplit(text, absl::ByAnyChar(kBlanks), absl::SkipEmpty());
}

absl::Status ParseSparseRow(const RaggedSpec& spec, absl::string_view text, std::string* out) {
  std::vector<std::pair<int32_t, std::string>> values;
  for (const absl::string_view part : PartsOf(text)) {
    const size_t colon = part.find(':');
    int64_t index = 0;
    if (colon == absl::string_view::npos || !ParseInteger(part.substr(0, colon), &index) ||
        index < 0 || index >= spec.num_columns) {
      return Wrong(part, absl::StrCat("is no index:value with an index below ", spec.num_columns));
    }
    values.emplace_back(static_cast<int32_t>(index), "");
    VICINITY_RETURN_IF_ERROR(
        ParseValue(spec.dtype, false, part.substr(colon + 1), &values.back().second));
  }
  std::sort(values.begin(), values.end());
  std::string row;
  for (const auto& [index, value] : values) {
    row.append(reinterpret_cast<const char*>(&index), sizeof(index));
  }
  for (const auto& [index, value] : values) row.append(value);
  const std::string fault = RaggedRowFault(spec, row);
  if (!fault.empty()) return Wrong(text, fault);
  out->append(row);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> TextRow::Integer(size_t field) const {
  int64_t value = 0;
  if (ParseInteger(fields_[field], &value)) return value;
  return Wrong(fields_[field], "is no integer");
}

absl::Status TextRow::AddColumnRow(size_t field, const ColumnSpec& spec, bool is_label,
                                   std::string* out) const {
  const int64_t wanted = spec.num_values();
  if (wanted == 1) return ParseValue(spec.dtype, is_label, fields_[field], out);
  const std::vector<absl::string_view> parts = PartsOf(fields_[field]);
  if (static_cast<int64_t>(parts.size()) != wanted) {
    return absl::InvalidArgumentError(absl::StrCat(parts.size(), " values, not ", wanted));
  }
  for (const absl::string_view part : parts) {
    VICINITY_RETURN_IF_ERROR(ParseValue(spec.dtype, false, part, out));
  }
  return absl::OkStatus();
}

absl::Status TextRow::AddRaggedRow(size_t field, const RaggedSpec& spec, std::string* out) const {
  const absl::string_view text = fields_[field];
  if (spec.is_sparse()) return ParseSparseRow(spec, text, out);
  if (spec.dtype == DType::kUint8) {
    absl::StrAppend(out, text);
    return absl::OkStatus();
  }
  for (const absl::string_view part : PartsOf(text)) {
    VICINITY_RETURN_IF_ERROR(ParseValue(spec.dtype, false, part, out));
  }
  return absl::OkStatus();
}

int64_t TextRow::num_bytes() const {
  int64_t bytes = 0;
  for (const absl::string_view field : fields_) bytes += static_cast<int64_t>(field.size());
  return bytes;
}

nlohmann::ordered_json TextRow::ToJson() const {
  auto object = nlohmann::ordered_json::object();
  for (size_t i = 0; i < fields_.size(); ++i) object[names_[i]] = std::string(fields_[i]);
  return object;
}

}  // namespace vicinity::cli
