// From files to a trained model with the programs alone: import, partition, serve, train.
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using nlohmann::json;
using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(120);
constexpr int kNumShards = 2;
constexpr int kNumTrainers = 2;

std::unique_ptr<RunningProgram> Start(const std::vector<std::string>& command) {
  auto program = RunningProgram::Start(command);
  VICINITY_REQUIRE_OK(program);
  return *std::move(program);
}

void MustSucceed(RunningProgram* program) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, program->WaitForExit(kLimit));
  INFO(program->output());
  REQUIRE(code == 0);
}

// Cora, cut in two, behind a server a shard.
class ServedCora {
 public:
  ServedCora() {
    const std::string whole = folder_.File("whole");
    MustSucceed(Start({"client/cli/vicinity", "import", "--description",
                       "tests/data/cora.textproto", "--output", whole})
                    .get());
    MustSucceed(
        Start({"client/cli/vicinity", "partition", "--input", whole, "--output", data_, "--shards",
               absl::StrCat(kNumShards), "--fanouts", "25,10", "--batch-size", "70"})
            .get());
    std::string text = absl::StrCat("data: \"", data_, "\" num_shards: ", kNumShards, "\n");
    for (int shard = 0; shard < kNumShards; ++shard) {
      absl::StrAppend(&text, "servers { name: \"s", shard, "\" listen: \"", StartServer(shard),
                      "\" shards: ", shard, " }\n");
    }
    VICINITY_REQUIRE_OK(WriteFileAtomically(cluster_, text));
  }

  // Each trainer's JSON lines.
  std::vector<std::vector<json>> Train(const std::vector<std::vector<std::string>>& extra) const {
    std::vector<std::unique_ptr<RunningProgram>> trainers;
    for (int trainer = 0; trainer < kNumTrainers; ++trainer) {
      std::vector<std::string> command = {"client/train/vicinity_train",
                                          "--cluster",
                                          cluster_,
                                          "--trainer",
                                          absl::StrCat(trainer),
                                          "--trainers",
                                          absl::StrCat(kNumTrainers),
                                          "--rendezvous",
                                          absl::StrCat("file:", folder_.File("meet")),
                                          "--report",
                                          Report(trainer),
                                          "--fanouts",
                                          "25,10",
                                          "--eval-fanouts",
                                          "-1,-1",
                                          "--batch-size",
                                          "70",
                                          "--hidden",
                                          "64",
                                          "--lr",
                                          "0.01",
                                          "--weight-decay",
                                          "5e-4",
                                          "--epochs",
                                          "60",
                                          "--eval-every",
                                          "20",
                                          "--seed",
                                          "1",
                                          "--threads",
                                          "1"};
      command.insert(command.end(), extra[trainer].begin(), extra[trainer].end());
      trainers.push_back(Start(command));
    }
    std::vector<std::vector<json>> reports;
    for (int trainer = 0; trainer < kNumTrainers; ++trainer) {
      MustSucceed(trainers[trainer].get());
      reports.push_back(ReadReport(Report(trainer)));
    }
    return reports;
  }

 private:
  // The address it listens on.
  std::string StartServer(int shard) {
    const std::string ready = folder_.File(absl::StrCat("ready", shard));
    servers_.push_back(Start({"server/vicinityd", "--data", data_, "--shards", absl::StrCat(shard),
                              "--listen", "127.0.0.1:0", "--ready-file", ready}));
    VICINITY_REQUIRE_OK(servers_.back()->WaitForLine("ready in", kLimit));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string address, ReadFile(ready));
    return std::string(absl::StripSuffix(address, "\n"));
  }

  std::string Report(int trainer) const { return folder_.File(absl::StrCat("report", trainer)); }

  static std::vector<json> ReadReport(const std::string& path) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(path));
    std::vector<json> lines;
    for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      lines.push_back(json::parse(line));
    }
    REQUIRE(lines.size() == 62);  // start, 60 epochs, result
    return lines;
  }

  const testing::TempDir folder_;
  const std::string data_ = folder_.File("shards");
  const std::string cluster_ = folder_.File("cluster.textproto");
  std::vector<std::unique_ptr<RunningProgram>> servers_;
};

}  // namespace

TEST_CASE("two trainers reach 0.77 on cora, every row and edge from the servers", "[cora]") {
  const ServedCora cora;
  const auto reports = cora.Train({{"--cache", "none"}, {"--cache", "none"}});
  const json& result = reports[0].back();
  CHECK(result["last_test_accuracy"].get<double>() >= 0.77);
  const json& epoch = reports[0][1];
  CHECK(epoch["rows_local"] == 0);
  CHECK(epoch["rows_remote"].get<int64_t>() + epoch["rows_cached"].get<int64_t>() ==
        epoch["nodes"].get<int64_t>());
  CHECK(epoch["bytes_remote"].get<int64_t>() >= epoch["rows_remote"].get<int64_t>() * 4 * 1433);
  // What is summed over the trainers is the same on both.
  CHECK(reports[1].back()["last_test_accuracy"] == result["last_test_accuracy"]);
}

TEST_CASE("and so they do with features in half the bytes", "[cora]") {
  const ServedCora cora;
  const std::vector<std::string> narrow = {"--cache", "none", "--wire-precision",
                                           GENERATE("float16", "bfloat16")};
  const auto reports = cora.Train({narrow, narrow});
  CHECK(reports[0].back()["last_test_accuracy"].get<double>() >= 0.77);
  CHECK(reports[0][0]["options"]["wire_precision"] == narrow.back());
  const json& epoch = reports[0][1];
  const int64_t stored_bytes = epoch["rows_remote"].get<int64_t>() * 4 * 1433;
  REQUIRE(stored_bytes > 0);
  CHECK(epoch["bytes_remote"] == stored_bytes);
  CHECK(epoch["bytes_received"].get<int64_t>() >= stored_bytes / 2);
  CHECK(epoch["bytes_received"].get<int64_t>() <= stored_bytes * 6 / 10);  // neighbours among them
}

TEST_CASE("and so they do with home seeds, mapped home shards and a cache", "[cora]") {
  const ServedCora cora;
  const std::string cache = GENERATE("vip", "auto");
  const std::vector<std::string> common = {"--seed-policy", "home",         "--cache",
                                           cache,           "--cache-rows", "200"};
  std::vector<std::vector<std::string>> extra(kNumTrainers, common);
  for (int trainer = 0; trainer < kNumTrainers; ++trainer) {
    extra[trainer].insert(extra[trainer].end(), {"--local-shards", absl::StrCat(trainer)});
  }
  const auto reports = cora.Train(extra);
  CHECK(reports[0].back()["last_test_accuracy"].get<double>() >= 0.77);
  CHECK(reports[0][0]["options"]["cache"] == cache);
  CHECK(reports[0][0]["cache_rows"] == 200);
  const json& epoch = reports[0][1];
  CHECK(epoch["rows_local"].get<int64_t>() > epoch["rows_remote"].get<int64_t>());
  CHECK(epoch["rows_cached"].get<int64_t>() > 0);
  CHECK(epoch["rows_local"].get<int64_t>() + epoch["rows_cached"].get<int64_t>() +
            epoch["rows_remote"].get<int64_t>() ==
        epoch["nodes"].get<int64_t>());
}

}  // namespace vicinity
