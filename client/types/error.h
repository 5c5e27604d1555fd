// From the statuses inside the library to the errors its users see.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/types/result.h"

namespace vicinity {

// Same code, same text. A code that ErrorCode lacks becomes kUnknown, its name before the text.
Error ToError(const absl::Status& status);

// A value, or its status as an error.
template <typename T>
Result<T> ToResult(absl::StatusOr<T> value) {
  if (!value.ok()) return ToError(value.status());
  return *std::move(value);
}

}  // namespace vicinity
