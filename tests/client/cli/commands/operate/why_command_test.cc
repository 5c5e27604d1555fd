#include "client/cli/commands/operate/why_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proto/common/file.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// Ten seconds, half of which the trainer waits for rows.
constexpr char kReport[] = R"(
vicinity_client_cores{trainer="0"} 8
vicinity_client_cpu_seconds_total{trainer="0"} 12
vicinity_client_received_bytes_total{trainer="0"} 1e8
vicinity_client_rpc_seconds_sum{trainer="0",method="FetchRows"} 38
vicinity_client_rpc_seconds_count{trainer="0",method="FetchRows"} 400
vicinity_loader_fetched_nodes_total{trainer="0",loader="0"} 100000
vicinity_loader_stage_batch_seconds_count{trainer="0",loader="0",stage="plan"} 100
vicinity_loader_stage_threads{trainer="0",loader="0",stage="fetch"} 4
vicinity_loader_stage_batch_seconds_count{trainer="0",loader="0",stage="fetch"} 100
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="fetch",state="busy"} 39
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="fetch",state="starved"} 1
vicinity_loader_stage_batch_seconds_count{trainer="0",loader="0",stage="train"} 100
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="train",state="busy"} 5
vicinity_loader_stage_seconds_total{trainer="0",loader="0",stage="train",state="starved"} 5
vicinity_loader_stage_batch_seconds_count{trainer="0",loader="1",stage="train"} 6
vicinity_loader_stage_seconds_total{trainer="0",loader="1",stage="train",state="busy"} 6
)";

class WhyTest {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File(name), text));
    return folder_.File(name);
  }
  static nlohmann::json Json(std::vector<std::string> args) {
    args.insert(args.end(), {"--format", "json"});
    const Answer answer = RunCommand(kWhyCommand, args);
    INFO(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  }

  const testing::TempDir folder_;
};

TEST_CASE_METHOD(WhyTest, "a report is judged as far as it goes", "[why]") {
  const std::string report = Write("trainer.prom", kReport);
  const nlohmann::json verdict = Json({report});
  CHECK(verdict["bound"] == "remote");
  CHECK(verdict["stage"] == "fetch");
  CHECK(verdict["trainer"] == "0");
  CHECK(verdict["loader"] == "0");
  CHECK(verdict["waits"] == 0.5);
  CHECK(verdict["seconds"] == 10);
  CHECK(verdict["batches"] == 100);
  CHECK(verdict["advice"][0]["speedup"].is_null());
  CHECK(Json({report, "--link-gbps", "0.1"})["bound"] == "link");
  CHECK(Json({report, "--loader", "1"})["bound"] == "device");
}

TEST_CASE_METHOD(WhyTest, "a plan tells what a cache would gain", "[why]") {
  const std::string report = Write("trainer.prom", kReport);
  const std::string plan = Write("plan.json", R"({"by_cache_size": [
      {"cache_rows": 0, "cache_bytes": 0, "remote_rows_per_batch": 1000},
      {"cache_rows": 500, "cache_bytes": 50000, "remote_rows_per_batch": 200.5}]})");
  const nlohmann::json verdict = Json({report, "--plan", plan, "--link-gbps", "0.1"});
  CHECK(
      verdict["advice"][0]["what"] ==
      "a cache of 500 rows (48.8 KiB): vicinity plan foretells 200 rows a batch in place of 1000");
  CHECK(verdict["advice"][0]["speedup"] == Approx(1.95));
  for (const char* wrong :
       {"", "[]", "{}", R"({"by_cache_size": []})", R"({"by_cache_size": [{"cache_rows": 0}]})",
        R"({"by_cache_size": [1]})"}) {
    const Answer answer = RunCommand(kWhyCommand, {report, "--plan", Write("wrong.json", wrong)});
    CHECK(answer.code != ExitCode::kOk);
    CHECK_THAT(answer.narration, Catch::Contains("vicinity plan --format json"));
  }
}

TEST_CASE_METHOD(WhyTest, "people get sentences", "[why]") {
  const Answer answer = RunCommand(kWhyCommand, {Write("trainer.prom", kReport)});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::StartsWith("The servers or the link bound it.\n\nEvidence:\n"
                                           "  - the trainer waits for data 50 % of its time"));
  CHECK_THAT(answer.out, Catch::Contains("\nWhat would help:\n  - ask the servers, too"));
}

TEST_CASE_METHOD(WhyTest, "what is wrong is named", "[why]") {
  const std::string report = Write("trainer.prom", kReport);
  const auto refused = [](const std::vector<std::string>& args) {
    const Answer answer = RunCommand(kWhyCommand, args);
    CHECK(answer.code != ExitCode::kOk);
    return answer.narration;
  };
  CHECK_THAT(refused({report, "--loader", "7"}), Catch::Contains("loader 0 of trainer 0"));
  CHECK_THAT(refused({report, "--seconds", "0"}), Catch::Contains("--seconds"));
  CHECK_THAT(refused({report, "--link-gbps", "-1"}), Catch::Contains("--link-gbps"));
  CHECK_THAT(refused({Write("server.prom", "up 1\n")}), Catch::Contains("server.prom"));
  CHECK_THAT(refused({folder_.File("none.prom")}), Catch::Contains("none.prom"));
}

}  // namespace
}  // namespace vicinity::cli
