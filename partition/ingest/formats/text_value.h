// What a field of text is, and which type a column of such fields has.
//
// Threads: functions of their arguments alone; a TextTypeFinder is for one.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/problem_list.h"
#include "partition/ingest/formats/value_cast.h"

namespace vicinity {

struct TextValue {
  enum class Kind : uint8_t {
    kMissing,         // empty, NA, N/A, null, NULL, None, NaT
    kInteger,         // within int64
    kHugeInteger,     // beyond int64
    kReal,            // with a point or an exponent, nan, inf
    kTruth,           // true, True, TRUE, false, False, FALSE
    kTime,            // ISO 8601: 2020-01-31, 2020-01-31T23:59:59Z, 2020-01-31 23:59+01:00
    kFractionalTime,  // a time with a fraction of a second that is not 0
    kOther,
  };
  Kind kind = Kind::kOther;
  int64_t integer = 0;  // kInteger; kTruth: 0 or 1; kTime: seconds since 1970 in UTC
  double real = 0;      // kReal; kInteger and kHugeInteger: the nearest
};

// Blanks around a field do not count. A time without a zone is in UTC.
TextValue ParseTextValue(absl::string_view field);

// Finds the type that stores all values of a column without a change that would go unnoticed:
//   integers               int64
//   truth values           bool
//   times                  int64, seconds since 1970 in UTC
//   other numbers          float32; float64 if float32 would change a whole number up to 2^53 among
//                          them, such as a time in seconds
// Missing values are NaN, which only the last row has; a column without any value is float32.
class TextTypeFinder {
 public:
  // `place` is called only for messages: "line 7: field 2: 'x'".
  void Add(const TextValue& value, absl::FunctionRef<std::string()> place);

  // InvalidArgument beginning with `name`, with places and a way out: what is no value, missing
  // values among integers, truth values or times, kinds that do not go together, fractions of a
  // second, integers that neither int64 nor float64 would keep.
  absl::StatusOr<ValueType> Type(absl::string_view name) const;

 private:
  static constexpr int kNumKinds = static_cast<int>(TextValue::Kind::kOther) + 1;
  bool has(TextValue::Kind kind) const { return !first_[static_cast<int>(kind)].empty(); }
  absl::Status CheckKinds(absl::string_view name) const;

  std::string first_[kNumKinds];  // the place of the first value of each kind; empty: none
  ProblemList others_;
  ProblemList missing_;
  ProblemList inexact_;           // integers that float64 may change
  bool exceeds_float32_ = false;  // a whole number that float32 would change
};

}  // namespace vicinity
