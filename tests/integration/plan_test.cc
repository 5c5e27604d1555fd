// `vicinity plan` on generated graphs: what it says a batch will fetch is what other batches fetch.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/expected_remote.h"
#include "client/cli/generate_command.h"
#include "client/cli/home_plan.h"
#include "client/cli/measured_remote.h"
#include "client/cli/partition_command.h"
#include "client/cli/plan_command.h"
#include "partition/cut/assigner.h"
#include "partition/dataset.h"
#include "partition/progress.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

nlohmann::json MustRun(const Command& command, std::vector<std::string> args) {
  args.insert(args.end(), {"--format", "json"});
  const Answer answer = RunCommand(command, args);
  INFO(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  return nlohmann::json::parse(answer.out);
}

// Graphs of 2^13 nodes.
std::vector<std::string> Generator(const std::string& graph) {
  if (graph == "r-mat") {
    return {"rmat",    "--scale",           "13",      "--symmetric",
            "--dedup", "--drop-self-loops", "--train", "0.1"};
  }
  return {"block-model", "--num-nodes", "8192", "--feature-width", "1", "--num-communities", "64"};
}

TEST_CASE("planned rows are measured rows to 3 percent", "[plan]") {
  const std::string graph = GENERATE("r-mat", "block model");
  const std::string batch_size = GENERATE("8", "64");
  const testing::TempDir folder;
  std::vector<std::string> generate = Generator(graph);
  generate.insert(generate.end(), {"--output", folder.File("whole")});
  MustRun(kGenerateCommand, generate);
  MustRun(kPartitionCommand, {"--input", folder.File("whole"), "--output", folder.File("shards"),
                              "--shards", "4", "--assigner", "hash"});
  const nlohmann::json plan = MustRun(
      kPlanCommand,
      {folder.File("shards"), "--fanouts", "5,3", "--batch-size", batch_size, "--row-bytes", "64"});

  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("shards")));
  VipFlags flags;
  flags.fanouts = {5, 3};
  flags.batch_size = std::stoll(batch_size);
  const Assignment assignment = AssignmentOf(dataset->book());
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan homes, PlanHomes(*dataset, assignment, flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores, ScoresOf(*dataset, homes, NoProgress()));
  std::vector<int64_t> cache_rows;
  for (const nlohmann::json& size : plan["by_cache_size"]) cache_rows.push_back(size["cache_rows"]);
  MeasureOptions others;
  others.run_seed = 77;
  others.precision = 0.004;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const MeasuredRemote measured,
      MeasureRemote(*dataset, scores, homes, assignment, {}, cache_rows, others, NoProgress()));
  for (size_t i = 0; i < cache_rows.size(); ++i) {
    const nlohmann::json& size = plan["by_cache_size"][i];
    CAPTURE(graph, batch_size, cache_rows[i], size["vip_rows_per_batch"], measured.rows[i]);
    CHECK(size["remote_rows_per_batch"].get<double>() ==
          Approx(measured.rows[i]).epsilon(0.03).margin(0.05));
  }
}

}  // namespace
}  // namespace vicinity::cli
