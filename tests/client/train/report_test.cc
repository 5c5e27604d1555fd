#include "client/train/report.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

EpochRecord Evaluated(int64_t epoch, double validation, double test) {
  EpochRecord record;
  record.epoch = epoch;
  record.seconds = 2;
  record.validation_accuracy = validation;
  record.test_accuracy = test;
  return record;
}

}  // namespace

TEST_CASE("the best epoch is the first of the best validation accuracy", "[report]") {
  EpochRecord without;
  without.epoch = 4;
  without.seconds = 2;
  const ResultRecord result = Summarize(
      {Evaluated(1, 0.5, 0.9), Evaluated(2, 0.7, 0.6), Evaluated(3, 0.7, 0.8), without}, {});
  CHECK(result.best_epoch == 2);
  CHECK(result.best_validation_accuracy == 0.7);
  CHECK(result.test_accuracy_at_best == 0.6);
  CHECK(result.last_test_accuracy == 0.8);
  CHECK(result.train_seconds == 8);
  CHECK(Summarize({without}, {}).best_epoch == 0);
  CHECK(!Summarize({without}, {}).last_test_accuracy);
}

TEST_CASE("everything is in the file, one JSON object a line", "[report]") {
  const testing::TempDir dir;
  TrainOptions options;
  options.report = dir.File("report.jsonl");
  std::ostringstream out;
  {
    const auto reporter = Reporter::Open(options, &out);
    REQUIRE(reporter.ok());
    StartRecord start;
    start.dataset = "cora";
    reporter.value()->Start(start);
    EpochRecord epoch = Evaluated(1, 0.25, 0.75);
    epoch.rows_remote = 12;
    reporter.value()->Epoch(epoch);
    StageTime stage;
    stage.stage = "fetch";
    stage.busy_seconds = 1.5;
    stage.rows = 34567;
    REQUIRE(reporter.value()->Finish(Summarize({epoch}, {stage})).ok());
  }
  std::ifstream file(options.report);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["kind"] == "start");
  CHECK(lines[0]["dataset"] == "cora");
  CHECK(lines[0]["options"]["model"] == "sage");
  CHECK(lines[1]["kind"] == "epoch");
  CHECK(lines[1]["rows_remote"] == 12);
  CHECK(lines[1]["test_accuracy"] == 0.75);
  CHECK(lines[2]["kind"] == "result");
  CHECK(lines[2]["stages"][0]["stage"] == "fetch");
  CHECK(lines[2]["stages"][0]["busy_seconds"] == 1.5);
  CHECK(lines[2]["stages"][0]["rows"] == 34567);
  CHECK(out.str().find("34.6 k") != std::string::npos);
  CHECK(lines[2]["test_accuracy_at_best"] == 0.75);
  CHECK(out.str().find("0.7500") != std::string::npos);
}

TEST_CASE("a report that cannot be written is refused before training", "[report]") {
  const testing::TempDir dir;
  TrainOptions options;
  options.report = dir.File("missing/report.jsonl");
  CHECK(Reporter::Open(options, nullptr).error().code() == ErrorCode::kInvalidArgument);
}

}  // namespace vicinity
