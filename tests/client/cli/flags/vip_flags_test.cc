#include "client/cli/flags/vip_flags.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "client/planning/calibrated_scores.h"
#include "client/planning/home_plan.h"
#include "partition/schema/sampling_spec.h"

namespace vicinity::cli {
namespace {

TEST_CASE("flags say what an analysis is of", "[cli]") {
  VipRequest request;
  CalibrationOptions calibration;
  CLI::App app;
  AddVipFlags(&app, &request);
  AddLinkFlags(&app, &request);
  AddCalibrationFlag(&app, &calibration);
  // CLI11 takes them from the end.
  app.parse(std::vector<std::string>{"0,1/2,3", "--homes", "new", "--expansion", "--replace", "7",
                                     "--batch-size", "5,-1", "--fanouts", "weight", "--weighted-by",
                                     "2", "--negatives", "links", "--seed-links", "3",
                                     "--sampled-epochs"});
  CHECK(request.homes == "0,1/2,3");
  CHECK(request.expansion == Expansion::kNewNodes);
  CHECK(request.replace);
  CHECK(request.batch_size == 7);
  CHECK(request.fanouts == std::vector<int64_t>{5, -1});
  CHECK(request.weighted_by == "weight");
  CHECK(request.seed_links == "links");
  CHECK(request.negatives_per_link == 2);
  CHECK(calibration.most_epochs == 3);
}

TEST_CASE("flags say which edges there are to draw, and how", "[cli]") {
  VipRequest request;
  CLI::App app;
  AddVipFlags(&app, &request);
  std::vector<std::string> args = {"--where",
                                   "year >= 2010",
                                   "--disjoint",
                                   "--time-column",
                                   "year",
                                   "--seed-time-column",
                                   "born",
                                   "--temporal-strategy",
                                   "last",
                                   "--time-window",
                                   "5",
                                   "--time-follows",
                                   "path",
                                   "--draws",
                                   "labor",
                                   "--layer-dependency",
                                   "--batch-dependency",
                                   "4"};
  app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  CHECK(request.where == "year >= 2010");
  CHECK(request.disjoint);
  CHECK(request.time_column == "year");
  CHECK(request.seed_time_column == "born");
  CHECK(request.temporal_strategy == TemporalStrategy::kLast);
  CHECK(request.time_window == 5);
  CHECK(request.time_follows == TimeFollows::kPath);
  CHECK(request.draws == Draws::kLabor);
  CHECK(request.layer_dependency);
  CHECK(request.batch_dependency == 4);
}

TEST_CASE("negatives without links, and words that there are not, are refused", "[cli]") {
  VipRequest request;
  CLI::App app;
  AddVipFlags(&app, &request);
  AddLinkFlags(&app, &request);
  CHECK_THROWS_AS(app.parse(std::vector<std::string>{"2", "--negatives"}), CLI::ParseError);
  CHECK_THROWS_AS(app.parse(std::vector<std::string>{"some", "--expansion"}), CLI::ParseError);
  CHECK_THROWS_AS(app.parse(std::vector<std::string>{"ladies", "--draws"}), CLI::ParseError);
  CHECK_THROWS_AS(app.parse(std::vector<std::string>{"first", "--temporal-strategy"}),
                  CLI::ParseError);
}

}  // namespace
}  // namespace vicinity::cli
