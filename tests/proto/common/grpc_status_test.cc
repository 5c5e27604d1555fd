#include "proto/common/grpc_status.h"

#include <catch2/catch.hpp>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("every code and text crosses gRPC and comes back", "[common]") {
  for (int code = 0; code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "shard 3: no such node 17");
    const grpc::Status sent = ToGrpc(status);
    CHECK(static_cast<int>(sent.error_code()) == code);
    CHECK(FromGrpc(sent) == status);
  }
}

TEST_CASE("the codes have the same names on both sides", "[common]") {
  CHECK(ToGrpc(absl::InvalidArgumentError("")).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(ToGrpc(absl::DataLossError("")).error_code() == grpc::StatusCode::DATA_LOSS);
  CHECK(ToGrpc(absl::UnavailableError("")).error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(ToGrpc(absl::UnauthenticatedError("")).error_code() == grpc::StatusCode::UNAUTHENTICATED);
}

TEST_CASE("an error without a text says at least what it is", "[common]") {
  const absl::Status status = FromGrpc(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""));
  CHECK(status == absl::UnimplementedError("UNIMPLEMENTED"));
  CHECK(FromGrpc(grpc::Status::OK).ok());
}

TEST_CASE("a text too long for a header is cut", "[common]") {
  const grpc::Status sent = ToGrpc(absl::InvalidArgumentError(std::string(100'000, '\x7f')));
  CHECK(sent.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(sent.error_message() == std::string(2000, '\x7f') + " ...");
}

TEST_CASE("a code that gRPC does not define is unknown", "[common]") {
  VICINITY_CHECK_CODE(FromGrpc(grpc::Status(static_cast<grpc::StatusCode>(17), "odd")),
                      absl::StatusCode::kUnknown);
  VICINITY_CHECK_CODE(FromGrpc(grpc::Status(grpc::StatusCode::DO_NOT_USE, "odd")),
                      absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace vicinity
