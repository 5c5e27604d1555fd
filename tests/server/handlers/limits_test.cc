#include "server/handlers/limits.h"

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "proto/limits.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("the default limits are fit to serve, and a full request fits a message", "[limits]") {
  VICINITY_CHECK_OK(Limits().Validate());
  CHECK(Limits().max_ids * 8 <= kMaxRequestBytes);
}

TEST_CASE("limits of nothing and of too much are refused", "[limits]") {
  Limits ids;
  ids.max_ids = GENERATE(int64_t{-1}, int64_t{0}, Limits::kMostIds + 1);
  VICINITY_CHECK_CODE(ids.Validate(), absl::StatusCode::kInvalidArgument);
  Limits sampled;
  sampled.max_sampled = GENERATE(int64_t{-1}, int64_t{0}, int64_t{1'000'000'001});
  VICINITY_CHECK_CODE(sampled.Validate(), absl::StatusCode::kInvalidArgument);
  Limits chunk;
  chunk.max_chunk_bytes = GENERATE(int64_t{-1}, int64_t{63}, (int64_t{2} << 20) + 1);
  VICINITY_CHECK_CODE(chunk.Validate(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
