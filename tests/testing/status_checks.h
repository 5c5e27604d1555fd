// Catch2 checks of absl::Status and absl::StatusOr that print the status when they fail.
//
//   VICINITY_CHECK_OK(store.Open(path));                    // goes on after a failure
//   VICINITY_REQUIRE_OK(store.Open(path));                  // ends the test case
//   VICINITY_CHECK_CODE(store.Open(""), absl::StatusCode::kInvalidArgument);
//   VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, LoadBook(path));
//
// Each evaluates its expression once. As with all of Catch2's checks, only the test
// case's own thread may use them: other threads hand their status back to it.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity::testing {

inline absl::Status ToStatus(absl::Status status) { return status; }

template <typename T>
absl::Status ToStatus(const absl::StatusOr<T>& value) {
  return value.status();
}

// Matches a status with one code, whatever its text: texts may change, codes are promises.
class HasCode : public Catch::MatcherBase<absl::Status> {
 public:
  explicit HasCode(absl::StatusCode code) : code_(code) {}

  bool match(const absl::Status& status) const override { return status.code() == code_; }
  std::string describe() const override { return "should be " + absl::StatusCodeToString(code_); }

 private:
  const absl::StatusCode code_;
};

inline HasCode IsOk() { return HasCode(absl::StatusCode::kOk); }

}  // namespace vicinity::testing

#define VICINITY_CHECK_OK(...) \
  CHECK_THAT(::vicinity::testing::ToStatus(__VA_ARGS__), ::vicinity::testing::IsOk())

#define VICINITY_REQUIRE_OK(...) \
  REQUIRE_THAT(::vicinity::testing::ToStatus(__VA_ARGS__), ::vicinity::testing::IsOk())

#define VICINITY_CHECK_CODE(expr, code) \
  CHECK_THAT(::vicinity::testing::ToStatus(expr), ::vicinity::testing::HasCode(code))

// Ends the test case unless the StatusOr after `lhs` holds a value, which `lhs`, a
// declaration or a variable, then receives. A declaration with a comma in it
// (structured bindings, std::pair<A, B>) needs `auto` and a second line instead.
#define VICINITY_ASSERT_OK_AND_ASSIGN(lhs, ...)                                               \
  VICINITY_INTERNAL_ASSERT_AND_ASSIGN(VICINITY_INTERNAL_CONCAT(status_or_at_, __LINE__), lhs, \
                                      __VA_ARGS__)

#define VICINITY_INTERNAL_CONCAT(a, b) VICINITY_INTERNAL_CONCAT_EXPANDED(a, b)
#define VICINITY_INTERNAL_CONCAT_EXPANDED(a, b) a##b
#define VICINITY_INTERNAL_ASSERT_AND_ASSIGN(status_or, lhs, ...) \
  auto status_or = (__VA_ARGS__);                                \
  VICINITY_REQUIRE_OK(status_or);                                \
  lhs = *std::move(status_or)
