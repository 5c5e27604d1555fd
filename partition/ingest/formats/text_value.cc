#include "partition/ingest/formats/text_value.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "partition/ingest/formats/text_reader.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using Kind = TextValue::Kind;

constexpr absl::string_view kMissingWords[] = {"", "NA", "N/A", "null", "NULL", "None", "NaT"};
constexpr absl::string_view kTrueWords[] = {"true", "True", "TRUE"};
constexpr absl::string_view kFalseWords[] = {"false", "False", "FALSE"};
constexpr int64_t kMostExactInteger = int64_t{1} << 53;  // of a double

bool MatchesDigits(absl::string_view text, absl::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool fits = pattern[i] == '0' ? absl::ascii_isdigit(text[i]) : text[i] == pattern[i];
    if (!fits) return false;
  }
  return true;
}

// Checks the outline first: Abseil's parser alone would take years and fields of any width.
bool ParseTime(absl::string_view field, absl::Time* time) {
  constexpr absl::string_view kDate = "0000-00-00";
  constexpr absl::string_view kMinute = "00:00";
  if (!MatchesDigits(field, kDate)) return false;
  std::string format = "%Y-%m-%d";
  if (field.size() > kDate.size()) {
    const char separator = field[kDate.size()];
    const absl::string_view clock = field.substr(kDate.size() + 1);
    if ((separator != 'T' && separator != ' ') || !MatchesDigits(clock, kMinute)) return false;
    absl::StrAppend(&format, std::string(1, separator), "%H:%M");
    const absl::string_view rest = clock.substr(kMinute.size());
    if (MatchesDigits(rest, ":00")) absl::StrAppend(&format, ":%E*S");
    if (rest.find_first_of("Z+-") != absl::string_view::npos) absl::StrAppend(&format, "%Ez");
  }
  std::string error;
  return absl::ParseTime(format, field, time, &error);
}

bool IsWrittenAsInteger(absl::string_view field) {
  return field.find_first_not_of("+-0123456789") == absl::string_view::npos;
}

bool SurvivesFloat32(double value) {
  return static_cast<double>(static_cast<float>(value)) == value;
}

TextValue OfTime(absl::Time time) {
  TextValue value;
  value.integer = absl::ToUnixSeconds(time);
  value.kind = absl::FromUnixSeconds(value.integer) == time ? Kind::kTime : Kind::kFractionalTime;
  return value;
}

}  // namespace

TextValue ParseTextValue(absl::string_view field) {
  field = absl::StripAsciiWhitespace(field);
  TextValue value;
  absl::Time time;
  if (ParseInteger(field, &value.integer)) {
    value.kind = Kind::kInteger;
    value.real = static_cast<double>(value.integer);
  } else if (ParseFloatingPoint(field, &value.real)) {
    value.kind = IsWrittenAsInteger(field) ? Kind::kHugeInteger : Kind::kReal;
  } else if (absl::c_linear_search(kMissingWords, field)) {
    value.kind = Kind::kMissing;
  } else if (absl::c_linear_search(kTrueWords, field)) {
    value.kind = Kind::kTruth;
    value.integer = 1;
  } else if (absl::c_linear_search(kFalseWords, field)) {
    value.kind = Kind::kTruth;
  } else if (ParseTime(field, &time)) {
    value = OfTime(time);
  }
  return value;
}

void TextTypeFinder::Add(const TextValue& value, absl::FunctionRef<std::string()> place) {
  std::string& first = first_[static_cast<int>(value.kind)];
  if (first.empty()) first = place();
  switch (value.kind) {
    case Kind::kMissing:
      missing_.Add(place);
      break;
    case Kind::kInteger:
      if (value.integer > kMostExactInteger || value.integer < -kMostExactInteger) {
        inexact_.Add(place);
      }
      exceeds_float32_ |= !SurvivesFloat32(value.real);
      break;
    case Kind::kHugeInteger:
      inexact_.Add(place);
      break;
    case Kind::kReal:
      exceeds_float32_ |= std::fabs(value.real) <= static_cast<double>(kMostExactInteger) &&
                          value.real == std::trunc(value.real) && !SurvivesFloat32(value.real);
      break;
    case Kind::kOther:
      others_.Add(place);
      break;
    case Kind::kTruth:
    case Kind::kTime:
    case Kind::kFractionalTime:
      break;
  }
}

absl::Status TextTypeFinder::CheckKinds(absl::string_view name) const {
  VICINITY_RETURN_IF_ERROR(others_.ToStatus(absl::StrCat(
      name, ": neither numbers nor truth values nor times (strings are no column: number them)")));
  if (has(Kind::kFractionalTime)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": times are kept in whole seconds, and one has a fraction: ",
        first_[static_cast<int>(Kind::kFractionalTime)], ": give integers of a finer unit"));
  }
  const std::string& number = first_[static_cast<int>(has(Kind::kInteger)       ? Kind::kInteger
                                                      : has(Kind::kHugeInteger) ? Kind::kHugeInteger
                                                                                : Kind::kReal)];
  std::vector<std::string> kinds;
  if (!number.empty()) kinds.push_back(absl::StrCat("numbers (", number, ")"));
  for (const auto& [kind, plural] :
       {std::pair(Kind::kTruth, "truth values ("), std::pair(Kind::kTime, "times (")}) {
    if (has(kind)) kinds.push_back(absl::StrCat(plural, first_[static_cast<int>(kind)], ")"));
  }
  if (kinds.size() <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": mixes ", absl::StrJoin(kinds, " and "), ": choose `cast`"));
}

absl::StatusOr<ValueType> TextTypeFinder::Type(absl::string_view name) const {
  VICINITY_RETURN_IF_ERROR(CheckKinds(name));
  if (has(Kind::kHugeInteger) || has(Kind::kReal)) {
    VICINITY_RETURN_IF_ERROR(inexact_.ToStatus(absl::StrCat(
        name,
        ": integers that no type keeps together with the rest (if they may be rounded: cast "
        "FLOAT64)")));
    return exceeds_float32_ ? ValueType::kFloat64 : ValueType::kFloat32;
  }
  if (!has(Kind::kInteger) && !has(Kind::kTruth) && !has(Kind::kTime)) return ValueType::kFloat32;
  VICINITY_RETURN_IF_ERROR(
      missing_.ToStatus(absl::StrCat(name, ": missing values among ",
                                     has(Kind::kInteger) ? "integers"
                                     : has(Kind::kTruth) ? "truth values"
                                                         : "times",
                                     " (fill them in, or cast FLOAT64, which has NaN for them)")));
  return has(Kind::kTruth) ? ValueType::kBool : ValueType::kInt64;
}

}  // namespace vicinity
