#include "client/cli/output/latency.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace vicinity::cli {
namespace {

// As a server counts them: each bucket has the calls up to its bound.
void AddCalls(const std::string& method, const std::vector<std::pair<std::string, double>>& upto,
              proto::StatusReply* status) {
  for (const auto& [bound, calls] : upto) {
    proto::MetricStatus* const metric = status->add_metrics();
    metric->set_name("grpc_server_handling_seconds_bucket");
    const auto label = [metric](const std::string& name, const std::string& value) {
      proto::MetricLabel* const added = metric->add_labels();
      added->set_name(name);
      added->set_value(value);
    };
    label("grpc_method", method);
    label("le", bound);
    metric->set_value(calls);
  }
}

proto::StatusReply Status(double uptime) {
  proto::StatusReply status;
  status.set_uptime_seconds(uptime);
  return status;
}

TEST_CASE("percentiles lie between a histogram's bounds, by a straight line", "[latency]") {
  proto::StatusReply status = Status(10);
  AddCalls("FetchRows", {{"0.1", 50}, {"0.2", 90}, {"0.4", 100}, {"+Inf", 100}}, &status);
  const Latency latency = LatencyOf(status);
  CHECK(latency.calls == 100);
  CHECK(latency.p50 == Approx(0.1));
  CHECK(latency.p90 == Approx(0.2));
  CHECK(latency.p99 == Approx(0.2 + 0.2 * 9 / 10));
  CHECK(LatencyJson(latency)["calls"] == 100);
  CHECK(LatencyJson(latency)["p50"].get<double>() == Approx(0.1));
}

TEST_CASE("calls beyond the last bound count as it", "[latency]") {
  proto::StatusReply status = Status(10);
  AddCalls("FetchRows", {{"0.1", 0}, {"0.2", 1}, {"+Inf", 4}}, &status);
  CHECK(LatencyOf(status).p99 == Approx(0.2));
  CHECK(LatencyOf(status).p50 == Approx(0.2));
}

TEST_CASE("calls for data count together, others and single methods by name", "[latency]") {
  proto::StatusReply status = Status(10);
  AddCalls("FetchRows", {{"0.1", 1}, {"+Inf", 1}}, &status);
  AddCalls("SampleNeighbors", {{"0.1", 0}, {"0.3", 3}, {"+Inf", 3}}, &status);
  AddCalls("Changes", {{"0.1", 0}, {"60", 1000}, {"+Inf", 1000}}, &status);
  CHECK(LatencyOf(status).calls == 4);
  CHECK(LatencyOf(status, "FetchRows").calls == 1);
  CHECK(LatencyOf(status, "Changes").calls == 1000);
  CHECK(LatencyOf(status, "Walk").calls == 0);
}

TEST_CASE("between two looks only what is new counts, of a new process all", "[latency]") {
  proto::StatusReply before = Status(10);
  AddCalls("FetchRows", {{"0.1", 1000}, {"0.2", 1000}, {"+Inf", 1000}}, &before);
  proto::StatusReply after = Status(11);
  AddCalls("FetchRows", {{"0.1", 1000}, {"0.2", 1010}, {"+Inf", 1010}}, &after);
  CHECK(LatencyBetween(before, after).calls == 10);
  CHECK(LatencyBetween(before, after).p50 == Approx(0.15));
  after.set_uptime_seconds(1);
  CHECK(LatencyBetween(before, after).calls == 1010);
  CHECK(LatencyBetween(Status(0), after).calls == 1010);
}

TEST_CASE("no calls are no percentiles", "[latency]") {
  const Latency none = LatencyOf(Status(10));
  CHECK(none.calls == 0);
  CHECK(LatencyText(none, none.p50) == "-");
  CHECK(LatencyJson(none)["p99"].is_null());
}

}  // namespace
}  // namespace vicinity::cli
