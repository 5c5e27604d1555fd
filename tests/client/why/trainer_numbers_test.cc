#include "client/why/trainer_numbers.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/why/metric_samples.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr char kScrape[] = R"(
vicinity_client_cores{trainer="0"} 8
vicinity_client_cpu_seconds_total{trainer="0"} 12
vicinity_client_rpc_seconds_sum{trainer="0",method="FetchRows"} 6
vicinity_client_rpc_seconds_count{trainer="0",method="FetchRows"} 30
vicinity_client_retries_total{trainer="0"} 2
vicinity_client_cores{trainer="1"} 4
vicinity_loader_stage_threads{trainer="0",loader="0",stage="fetch"} 4
vicinity_loader_stage_batch_seconds_count{trainer="0",loader="0",stage="fetch"} 20
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="fetch",state="busy"} 7
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="fetch",state="starved"} 1
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="fetch",state="blocked"} 32
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="train",state="busy"} 4
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="train",state="starved"} 6
vicinity_loader_rows_total{trainer="0",loader="0",tier="remote"} 100
vicinity_loader_rows_total{trainer="0",loader="0",tier="cached"} 50
vicinity_loader_expected_rows{trainer="0",loader="0"} 5
vicinity_loader_stage_seconds_total{trainer="1",loader="1",stage="train",state="busy"} 1
)";

std::vector<TrainerNumbers> Loaders(const std::string& text) {
  const auto samples = ParseMetrics(text);
  VICINITY_REQUIRE_OK(samples);
  const auto loaders = LoadersIn(*samples);
  VICINITY_REQUIRE_OK(loaders);
  return *loaders;
}

TEST_CASE("loaders are told apart by trainer and name", "[why]") {
  const std::vector<TrainerNumbers> loaders = Loaders(kScrape);
  REQUIRE(loaders.size() == 2);
  const TrainerNumbers& first = loaders[0];
  CHECK(first.trainer == "0");
  CHECK(first.loader == "0");
  CHECK(first.cores == 8);
  CHECK(first.cpu_seconds == 12);
  CHECK(first.rpc_seconds.at("FetchRows") == 6);
  CHECK(first.rpcs.at("FetchRows") == 30);
  CHECK(first.retries == 2);
  CHECK(first.stage("fetch").threads == 4);
  CHECK(first.stage("fetch").batches == 20);
  CHECK(first.stage("fetch").busy_seconds == 7);
  CHECK(first.stage("fetch").starved_seconds == 1);
  CHECK(first.stage("fetch").blocked_seconds == 32);
  CHECK(first.stage("none").threads == 1);
  CHECK(first.seconds() == 10);
  CHECK(first.rows_remote == 100);
  CHECK(first.rows_cached == 50);
  CHECK(first.rows_local == 0);
  CHECK(first.expected_rows == 5);
  CHECK(loaders[1].trainer == "1");
  CHECK(loaders[1].loader == "1");
  CHECK(loaders[1].cores == 4);
  CHECK(loaders[1].seconds() == 1);
}

TEST_CASE("a scrape that is no trainer's says so", "[why]") {
  VICINITY_CHECK_CODE(LoadersIn({{"up", {}, 1}}).status(), absl::StatusCode::kNotFound);
}

TEST_CASE("between two readings counters are taken off, gauges stay", "[why]") {
  const TrainerNumbers before = Loaders(kScrape)[0];
  TrainerNumbers after = before;
  after.cpu_seconds += 3;
  after.rows_remote += 7;
  after.rpc_seconds["FetchRows"] += 1;
  after.rpc_seconds["Walk"] = 2;
  after.stages["fetch"].busy_seconds += 5;
  after.stages["fetch"].batches += 4;
  after.stages["train"].starved_seconds += 2;
  const TrainerNumbers between = Between(before, after);
  CHECK(between.cpu_seconds == 3);
  CHECK(between.rows_remote == 7);
  CHECK(between.rpc_seconds.at("FetchRows") == 1);
  CHECK(between.rpc_seconds.at("Walk") == 2);
  CHECK(between.rpcs.at("FetchRows") == 0);
  CHECK(between.stage("fetch").busy_seconds == 5);
  CHECK(between.stage("fetch").batches == 4);
  CHECK(between.stage("fetch").threads == 4);
  CHECK(between.seconds() == 2);
  CHECK(between.cores == 8);
  CHECK(between.expected_rows == 5);
  // A loader of the same name that began anew.
  TrainerNumbers anew = before;
  anew.stages["train"].starved_seconds = 1;
  CHECK(Between(before, anew).seconds() == anew.seconds());
}

}  // namespace
}  // namespace vicinity
