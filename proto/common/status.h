// Passing absl::Status up the stack: these three are all there is.
//
// Debian's Abseil has its own string_view, which does not mix with std::string_view: texts for
// statuses are absl::string_view here, and a std::string_view goes into StrCat as
// std::string(view).
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// Keeps the code, prefixes the text with where it happened: "where: text".
inline absl::Status At(absl::string_view where, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(where, ": ", status.message()));
}

}  // namespace vicinity

#define VICINITY_RETURN_IF_ERROR(expr)                                    \
  do {                                                                    \
    if (absl::Status vicinity_status_ = (expr); !vicinity_status_.ok()) { \
      return vicinity_status_;                                            \
    }                                                                     \
  } while (false)

#define VICINITY_CONCAT_INNER_(a, b) a##b
#define VICINITY_CONCAT_(a, b) VICINITY_CONCAT_INNER_(a, b)
#define VICINITY_ASSIGN_OR_RETURN_(result, lhs, expr)  \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)

// VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
#define VICINITY_ASSIGN_OR_RETURN(lhs, expr) \
  VICINITY_ASSIGN_OR_RETURN_(VICINITY_CONCAT_(vicinity_result_, __LINE__), lhs, expr)
