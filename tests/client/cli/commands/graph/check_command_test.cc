#include "client/cli/commands/graph/check_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

TEST_CASE("rows are read and judged by a share of the link", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  const std::string type = cluster.dataset().schema().node_types[0].name;
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"perf",      "--cluster", cluster.cluster_file(),
                                     "--type",    type,        "--rows",
                                     "16",        "--threads", "2",
                                     "--seconds", "0.1"};
    args.insert(args.end(), more.begin(), more.end());
    return RunCommand(kCheckCommand, args);
  };
  // Any rate is enough of no share, and none of a whole link that nobody has.
  const Answer pass = run({"--share", "0", "--format", "json"});
  CAPTURE(pass.narration);
  REQUIRE(pass.code == ExitCode::kOk);
  const nlohmann::json found = nlohmann::json::parse(pass.out);
  CHECK(found["pass"] == true);
  CHECK(found["rows"].get<int64_t>() == 16 * found["calls"].get<int64_t>());
  CHECK(found["calls"].get<int64_t>() > 0);
  CHECK(found["call_seconds"]["p50"].get<double>() <= found["call_seconds"]["p99"].get<double>());
  const Answer fail = run({"--share", "1", "--link-gbps", "100000"});
  CHECK(fail.code == ExitCode::kFailure);
  CHECK_THAT(fail.out, Catch::Contains("FAIL"));

  CHECK(run({"--column", "nothing"}).code != ExitCode::kOk);
  CHECK(run({"--share", "2"}).code == ExitCode::kUsage);
  cluster.Stop(1);
  CHECK(run({"--timeout", "1"}).code == ExitCode::kNotConnected);
}

}  // namespace
}  // namespace vicinity::cli
