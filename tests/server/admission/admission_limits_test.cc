#include "server/admission/admission_limits.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("the limits that come by default hold", "[admission_limits]") {
  VICINITY_CHECK_OK(AdmissionLimits().Validate());
}

TEST_CASE("calls worked on at once follow from the cores unless they are said",
          "[admission_limits]") {
  AdmissionLimits limits;
  CHECK(limits.EffectiveRunning() >= 16);
  limits.max_running = 3;
  CHECK(limits.EffectiveRunning() == 3);
}

TEST_CASE("limits that make no sense are refused by name", "[admission_limits]") {
  using Change = std::function<void(AdmissionLimits*)>;
  const auto [name, change] = GENERATE(table<std::string, Change>({
      {"max_calls", [](AdmissionLimits* limits) { limits->max_calls = 0; }},
      {"max_client_calls", [](AdmissionLimits* limits) { limits->max_client_calls = 0; }},
      {"max_running", [](AdmissionLimits* limits) { limits->max_running = -1; }},
      {"max_reply_bytes", [](AdmissionLimits* limits) { limits->max_reply_bytes = -1; }},
      {"max_client_reply_bytes",
       [](AdmissionLimits* limits) { limits->max_client_reply_bytes = 0; }},
      {"max_client_request_rate",
       [](AdmissionLimits* limits) { limits->max_client_request_rate = -1; }},
      {"max_client_byte_rate",
       [](AdmissionLimits* limits) { limits->max_client_byte_rate = std::nan(""); }},
      {"max_queue_delay", [](AdmissionLimits* limits) { limits->max_queue_delay = {}; }},
      {"max_overload_delay", [](AdmissionLimits* limits) { limits->max_overload_delay = {}; }},
      {"stall_time", [](AdmissionLimits* limits) { limits->stall_time = {}; }},
      {"overload_time", [](AdmissionLimits* limits) { limits->overload_time = {}; }},
      {"write_timeout", [](AdmissionLimits* limits) { limits->write_timeout = {}; }},
  }));
  AdmissionLimits limits;
  change(&limits);
  const absl::Status status = limits.Validate();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::StartsWith(name));
}

}  // namespace
}  // namespace vicinity
