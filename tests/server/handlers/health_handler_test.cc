#include "server/handlers/health_handler.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "proto/health.pb.h"
#include "server/handlers/server_state.h"
#include "server/health/serving_states.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

TEST_CASE("a check says how a service is, and that another is not known", "[health_handler]") {
  ServingStates states;
  states.Set("", true);
  states.Set("live", false);
  ServerState state;
  HealthCheckRequest request;
  VICINITY_CHECK_CODE(CheckHealth(state, request).status(), absl::StatusCode::kNotFound);
  state.serving = &states;
  VICINITY_ASSERT_OK_AND_ASSIGN(HealthCheckResponse reply, CheckHealth(state, request));
  CHECK(reply.status() == HealthCheckResponse::SERVING);
  request.set_service("live");
  VICINITY_ASSERT_OK_AND_ASSIGN(reply, CheckHealth(state, request));
  CHECK(reply.status() == HealthCheckResponse::NOT_SERVING);
  request.set_service(std::string(1000, '\n'));
  const absl::Status unknown = CheckHealth(state, request).status();
  VICINITY_CHECK_CODE(unknown, absl::StatusCode::kNotFound);
  CHECK(unknown.message().size() < 500);
}

}  // namespace
}  // namespace vicinity
