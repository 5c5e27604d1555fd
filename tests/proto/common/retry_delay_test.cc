#include "proto/common/retry_delay.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a delay goes with its status", "[retry_delay]") {
  const absl::Status busy = absl::ResourceExhaustedError("busy");
  CHECK_FALSE(RetryDelayOf(busy).has_value());
  const absl::Status told = WithRetryDelay(busy, milliseconds(250));
  CHECK(told.code() == busy.code());
  CHECK(told.message() == busy.message());
  CHECK(RetryDelayOf(told) == milliseconds(250));
  CHECK_FALSE(RetryDelayOf(WithRetryDelay(absl::OkStatus(), milliseconds(1))).has_value());
}

TEST_CASE("what is no delay is none", "[retry_delay]") {
  for (const char* text : {"", "soon", "-1", "86400001", "99999999999999999999"}) {
    CAPTURE(text);
    absl::Status status = absl::ResourceExhaustedError("busy");
    status.SetPayload(kRetryDelayTrailer, absl::Cord(text));
    CHECK_FALSE(RetryDelayOf(status).has_value());
  }
}

}  // namespace
}  // namespace vicinity
