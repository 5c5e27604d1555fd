#include "client/types/error.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity {
namespace {

TEST_CASE("a status keeps code and text as an error", "[error]") {
  CHECK(ToError(absl::OkStatus()).ok());
  const Error error = ToError(absl::UnavailableError("shard 2"));
  CHECK(error.code() == ErrorCode::kUnavailable);
  CHECK(error.message() == "shard 2");
  CHECK(ToError(absl::UnauthenticatedError("")).code() == ErrorCode::kUnauthenticated);
}

TEST_CASE("codes that users do not know become unknown, with their name", "[error]") {
  const Error error = ToError(absl::UnimplementedError("again"));
  CHECK(error.code() == ErrorCode::kUnknown);
  CHECK_THAT(error.message(), Catch::Contains("UNIMPLEMENTED") && Catch::Contains("again"));
}

TEST_CASE("a value passes through", "[error]") {
  CHECK(*ToResult(absl::StatusOr<int>(3)) == 3);
  CHECK(ToResult(absl::StatusOr<int>(absl::DataLossError("torn"))).error().code() ==
        ErrorCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
