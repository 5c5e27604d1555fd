#include "client/cli/commands/operate/doctor_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/common/file.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a machine is looked at alone, for a dataset, or for a server of a cluster", "[cli]") {
  const Answer alone = RunCommand(kDoctorCommand, {});
  CHECK_THAT(alone.out, Catch::Contains("open files") && Catch::Contains("clock"));

  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  const Answer data = RunCommand(
      kDoctorCommand, {"--data", cluster.directory(), "--shards", "0-1", "--format=json"});
  const nlohmann::json report = nlohmann::json::parse(data.out);
  bool has_cache = false;
  for (const auto& finding : report["findings"]) {
    has_cache |= finding["what"] == "page cache" && finding["verdict"] == "good";
  }
  CHECK(has_cache);

  // It runs: its address is in use.
  const Answer server =
      RunCommand(kDoctorCommand, {"--cluster", cluster.cluster_file(), "--name", "s0"});
  CHECK_THAT(server.out, Catch::Contains("names of hosts") && Catch::Contains("is in use"));
}

TEST_CASE("faults end it with a precondition that does not hold, and who is unknown is told",
          "[cli]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      folder.File("cluster"),
      "data: 'graph' num_shards: 1 servers { name: 'alpha' listen: '127.0.0.1:1' shards: 0 }"));
  CHECK(RunCommand(kDoctorCommand, {"--cluster", folder.File("cluster"), "--name", "alpha"}).code ==
        ExitCode::kPrecondition);
  const Answer unknown =
      RunCommand(kDoctorCommand, {"--cluster", folder.File("cluster"), "--name", "alhpa"});
  CHECK(unknown.code == ExitCode::kNotFound);
  CHECK_THAT(unknown.narration, Catch::Contains("did you mean alpha?"));
  CHECK(RunCommand(kDoctorCommand, {"--name", "alpha"}).code == ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
