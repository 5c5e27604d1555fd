#include "client/cli/commands/graph/row_load.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a share of rising values is one of them", "[row_load]") {
  CHECK(ShareOf({}, 0.5) == 0);
  CHECK(ShareOf({3}, 0.99) == 3);
  CHECK(ShareOf({1, 2, 3, 4}, 0.5) == 2);
  CHECK(ShareOf({1, 2, 3, 4}, 0.99) == 4);
  CHECK(ShareOf({1, 2, 3, 4}, 0) == 1);
}

TEST_CASE("every call brings its rows, and all of them are counted", "[row_load]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  auto graph = Graph::Open(options);
  REQUIRE(graph.ok());
  RowLoad load;
  load.column = cluster.dataset().schema().node_types[0].columns[0].name;
  load.rows_per_call = 5;
  load.num_threads = 3;
  load.duration = absl::Milliseconds(100);
  const auto result = LoadRows(**graph, load);
  VICINITY_REQUIRE_OK(result);
  CHECK(result->failed == 0);
  CHECK(result->calls >= 3);
  CHECK(result->rows == 5 * result->calls);
  CHECK(result->bytes ==
        result->rows * cluster.dataset().schema().node_types[0].columns[0].row_bytes());
  CHECK(result->call_seconds.size() == static_cast<size_t>(result->calls));
  CHECK(std::is_sorted(result->call_seconds.begin(), result->call_seconds.end()));

  load.column = "nothing";
  const auto none = LoadRows(**graph, load);
  VICINITY_REQUIRE_OK(none);
  CHECK(none->failed == 3);
  CHECK(none->calls == 0);
  CHECK_FALSE(none->error.empty());
}

}  // namespace
}  // namespace vicinity::cli
