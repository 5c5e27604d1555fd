#include "client/shards/mapped_shard.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "client/shards/fan_out.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};

// The outcome of one call.
template <typename Call>
absl::Status Outcome(const Call& call) {
  FanOut calls;
  call(calls.Add());
  return calls.Wait();
}

TEST_CASE("rows, ranges and keys of a mapped shard are those of the files", "[mapped_shard]") {
  const RoutedGraph graph(testing::TypedGraph(60, 40, 10, 1), 2);
  ShardAccess& shard = graph.router().shard(ShardId{1});
  const NodeTable& table = graph.dataset().shard(ShardId{1})->nodes(kUser);
  const int64_t row_bytes = table.columns[0].row_bytes;
  const std::vector<uint64_t> rows = {3, 0, 3, 7};
  const std::vector<int64_t> positions = {1, 0, 3, 2};
  std::string out(4 * row_bytes, '?');
  ShardRows request;
  request.type = kUser;
  request.column = 0;
  request.row_bytes = row_bytes;
  request.rows = rows;
  request.positions = positions;
  request.out = out.data();
  VICINITY_CHECK_OK(Outcome([&](Done done) { shard.Ask(request, nullptr, done); }));
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(out.substr(positions[i] * row_bytes, row_bytes) == table.columns[0].row(rows[i]));
  }

  std::vector<uint64_t> keys(table.num_nodes() - 2);
  ShardRows range;
  range.type = kUser;
  range.column = kKeyColumn;
  range.row_bytes = 8;
  range.first = 2;
  range.count = table.num_nodes() - 2;
  range.out = reinterpret_cast<char*>(keys.data());
  VICINITY_CHECK_OK(Outcome([&](Done done) { shard.Ask(range, nullptr, done); }));
  CHECK(absl::MakeConstSpan(keys) == table.keys.subspan(2));
}

TEST_CASE("a mapped shard refuses rows that it does not have", "[mapped_shard]") {
  const RoutedGraph graph(testing::TypedGraph(60, 40, 10, 1), 2);
  ShardAccess& shard = graph.router().shard(ShardId{0});
  const int64_t num_nodes = graph.dataset().book().num_nodes(kUser, ShardId{0});
  std::string out(100, '?');
  const std::vector<uint64_t> rows = {0, static_cast<uint64_t>(num_nodes)};
  ShardRows request;
  request.type = kUser;
  request.column = kKeyColumn;
  request.row_bytes = 8;
  request.out = out.data();
  SECTION("one by one") { request.rows = rows; }
  SECTION("as a range") {
    request.first = num_nodes - 1;
    request.count = 2;
  }
  SECTION("as a range that wraps") {
    request.first = INT64_MAX;
    request.count = 2;
  }
  VICINITY_CHECK_CODE(Outcome([&](Done done) { shard.Ask(request, nullptr, done); }),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("names and the directory of a mapped shard", "[mapped_shard]") {
  const RoutedGraph graph(testing::TypedGraph(60, 40, 10, 1), 2);
  const Shard& files = *graph.dataset().shard(ShardId{1});
  ShardAccess& shard = graph.router().shard(ShardId{1});
  const std::vector<uint64_t> rows = {2, 0};
  const std::vector<int64_t> positions = {0, 1};
  std::vector<std::string> names(2);
  VICINITY_CHECK_OK(Outcome([&](Done done) {
    shard.Ask(ShardRagged{kItem, kNamesColumn, rows, positions, names.data()}, nullptr, done);
  }));
  CHECK(names[0] == files.nodes(kItem).names.row(2));
  CHECK(names[1] == files.nodes(kItem).names.row(0));

  const NodeTable& table = files.nodes(kUser);
  std::vector<uint64_t> keys(table.directory_keys.begin(), table.directory_keys.end());
  keys.push_back(keys.back() + 1);  // nobody's
  std::vector<int64_t> places;
  for (size_t i = 0; i < keys.size(); ++i) places.push_back(i);
  std::vector<int64_t> nodes(keys.size(), -7);
  VICINITY_CHECK_OK(Outcome([&](Done done) {
    shard.Ask(ShardKeys{kUser, keys, places, nodes.data()}, nullptr, done);
  }));
  for (int64_t i = 0; i < table.directory_nodes.size(); ++i) {
    CHECK(nodes[i] == table.directory_nodes[i]);
  }
  CHECK(nodes.back() == -1);
}

TEST_CASE("a ranking that is not there is not found", "[mapped_shard]") {
  RoutedGraph graph(testing::TypedGraph(60, 40, 10, 1), 2);
  graph.Rank("mine");
  RankedNodes ranked;
  ShardRanking request;
  request.name = "mine";
  request.home = {1};
  request.type = kUser;
  request.count = 5;
  request.out = &ranked;
  ShardAccess& shard = graph.router().shard(ShardId{1});
  VICINITY_CHECK_OK(Outcome([&](Done done) { shard.Ask(request, nullptr, done); }));
  CHECK(ranked.nodes.size() == 5);
  CHECK(ranked.probabilities[1] == 0.5f);
  request.name = "yours";
  VICINITY_CHECK_CODE(Outcome([&](Done done) { shard.Ask(request, nullptr, done); }),
                      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
