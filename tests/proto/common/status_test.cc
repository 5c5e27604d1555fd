#include "proto/common/status.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

absl::StatusOr<std::unique_ptr<int>> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("odd");
  return std::make_unique<int>(value / 2);
}

absl::StatusOr<int> Quarter(int value) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<int> half, Half(value));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<int> quarter, Half(*half));
  return *quarter;
}

absl::Status Both(const absl::Status& first, const absl::Status& second, int* reached) {
  VICINITY_RETURN_IF_ERROR(first);
  ++*reached;
  VICINITY_RETURN_IF_ERROR(second);
  ++*reached;
  return absl::OkStatus();
}

TEST_CASE("a value goes on and an error goes up", "[common]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const int quarter, Quarter(12));
  CHECK(quarter == 3);
  VICINITY_CHECK_CODE(Quarter(3), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(Quarter(6), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the first error ends a function", "[common]") {
  int reached = 0;
  VICINITY_CHECK_CODE(Both(absl::NotFoundError(""), absl::DataLossError(""), &reached),
                      absl::StatusCode::kNotFound);
  CHECK(reached == 0);
  VICINITY_CHECK_CODE(Both(absl::OkStatus(), absl::DataLossError(""), &reached),
                      absl::StatusCode::kDataLoss);
  CHECK(reached == 1);
  VICINITY_CHECK_OK(Both(absl::OkStatus(), absl::OkStatus(), &reached));
  CHECK(reached == 3);
}

TEST_CASE("At keeps the code and prefixes the place", "[common]") {
  const absl::Status status = At("shard 3", absl::NotFoundError("node 17"));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kNotFound);
  CHECK(status.message() == "shard 3: node 17");
  VICINITY_CHECK_OK(At("anywhere", absl::OkStatus()));
}

}  // namespace
}  // namespace vicinity
