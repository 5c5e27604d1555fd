// How conditions are written:
//
//   condition   = all { "or" all }
//   all         = one { "and" one }
//   one         = "not" one | "(" condition ")" | comparison
//   comparison  = column ( "<" | "<=" | "=" | "==" | "!=" | ">=" | ">" ) number
//               | column [ "not" ] "in" "(" number { "," number } ")"
//               | column                                     its value is not 0
//   column      = letters, digits and _ . - : behind a letter or _, or anything within `...`
//   number      = 42, -1, 0.5, 1e-3, true (1), false (0)
//
// Words may be in capitals.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/schema/condition.h"

namespace vicinity {

inline constexpr size_t kMostConditionBytes = size_t{64} << 10;

// InvalidArgument saying at which character something else was expected, and what; or which limit
// of partition/schema/condition.h it exceeds.
absl::StatusOr<Condition> ParseCondition(absl::string_view text);

}  // namespace vicinity
