#include "client/types/result.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

namespace vicinity {
namespace {

TEST_CASE("a result is a value or an error", "[result]") {
  Result<std::string> value(std::string("rows"));
  REQUIRE(value.ok());
  CHECK(*value == "rows");
  CHECK(value->size() == 4);
  CHECK(value.error().ok());

  const Result<std::string> error(Error(ErrorCode::kNotFound, "no column x"));
  CHECK_FALSE(error.ok());
  CHECK(error.error().code() == ErrorCode::kNotFound);
  CHECK(error.error().message() == "no column x");
}

TEST_CASE("a result gives its value away", "[result]") {
  Result<std::unique_ptr<int>> made(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(made);
  CHECK(*taken == 7);
}

TEST_CASE("every code has a name of its own", "[result]") {
  CHECK(std::string(ErrorCodeName(ErrorCode::kOk)) == "OK");
  CHECK(std::string(ErrorCodeName(ErrorCode::kUnavailable)) == "UNAVAILABLE");
  CHECK(std::string(ErrorCodeName(ErrorCode::kDataLoss)) == "DATA_LOSS");
  CHECK(std::string(ErrorCodeName(static_cast<ErrorCode>(99))) == "UNKNOWN");
}

}  // namespace
}  // namespace vicinity
