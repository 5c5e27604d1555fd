#include "partition/cut/partitioner.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

std::vector<std::vector<float>> RandomScores(const Assignment& assignment) {
  std::mt19937 random(17);  // NOLINT: the same every time
  std::vector<std::vector<float>> scores;
  for (const std::vector<int32_t>& shard_of : assignment.shard_of) {
    std::vector<float>& of_type = scores.emplace_back();
    // Few distinct values, so that ties happen.
    for (size_t i = 0; i < shard_of.size(); ++i)
      of_type.push_back(static_cast<float>(random() % 7));
  }
  return scores;
}

testing::MemoryGraph AnyGraph(int which) {
  testing::RandomGraphOptions options;
  options.num_nodes = 90;
  options.num_edges = 900;
  options.weights = true;
  options.times = which == 4;
  options.time_order = which == 4;
  if (which == 1) options.id_kind = IdKind::kInt64;
  if (which == 2 || which == 4) options.id_kind = IdKind::kString;
  return which == 3 ? testing::TypedGraph(70, 50, 0, 5) : testing::RandomGraph(options);
}

TEST_CASE("a cut holds what its source holds, node by node and edge by edge", "[partition]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = AnyGraph(GENERATE(0, 1, 2, 3, 4));
  const int32_t source_shards = GENERATE(1, 3);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, source_shards, 11),
                                          folder.File("source")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> source,
                                Dataset::Open(folder.File("source")));
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    CAPTURE(num_shards, source_shards);
    const std::string path = folder.File("cut" + std::to_string(num_shards));
    VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment,
                                  HashAssigner().Assign(*source, num_shards, NoProgress()));
    const NodeOrder order = OrderNodes(assignment, RandomScores(assignment));
    VICINITY_REQUIRE_OK(WritePartition(*source, assignment, order, path, "a test", NoProgress()));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> cut, Dataset::Open(path));
    CHECK(cut->book().num_shards() == num_shards);
    CHECK(cut->manifest().provenance() == "a test");
    CHECK(cut->manifest().name() == source->manifest().name());
    CHECK(cut->manifest().audit().SerializeAsString() ==
          source->manifest().audit().SerializeAsString());
    CHECK(testing::Difference(graph, *cut).empty());
    // Each node lies where the assignment and the order said.
    for (int32_t t = 0; t < cut->book().num_node_types(); ++t) {
      const NodeTypeId type{t};
      for (int64_t node = 0; node < cut->book().num_nodes(type); ++node) {
        const int64_t old_id = order.order[t][node];
        CHECK(cut->book().OwnerOf(type, GlobalNode{node}).value == assignment.shard_of[t][old_id]);
        const auto key = [&type](const Dataset& dataset, int64_t id) {
          const Shard* shard = dataset.shard(dataset.book().OwnerOf(type, GlobalNode{id}));
          return shard->nodes(type).keys[dataset.book().RowOf(type, GlobalNode{id}).value];
        };
        CHECK(key(*cut, node) == key(*source, old_id));
      }
    }
  }
}

TEST_CASE("inside a shard nodes come by falling score, equal ones in the source's order",
          "[partition]") {
  Assignment assignment;
  assignment.num_shards = 3;  // the last one stays empty
  assignment.shard_of = {{1, 0, 1, 0, 1, 0, 1}, {}};
  const std::vector<std::vector<float>> scores = {{1, 5, 3, 7, 3, 5, 9}, {}};
  const NodeOrder ordered = OrderNodes(assignment, scores);
  REQUIRE(ordered.order.size() == 2);
  CHECK(ordered.order[0] == std::vector<int64_t>{3, 1, 5, 6, 2, 4, 0});
  CHECK(ordered.order[1].empty());
  CHECK(OrderNodes(assignment, {}).order[0] == std::vector<int64_t>{1, 3, 5, 0, 2, 4, 6});
}

TEST_CASE("assignments and orders that do not fit are refused and leave nothing", "[partition]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.num_nodes = 6;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph(options), folder.File("source")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> source,
                                Dataset::Open(folder.File("source")));
  Assignment assignment;
  assignment.num_shards = 2;
  assignment.shard_of = {{0, 1, 0, 1, 0, 1}};
  NodeOrder order = OrderNodes(assignment, {});
  SECTION("too few nodes assigned") { assignment.shard_of[0].pop_back(); }
  SECTION("another number of types") { assignment.shard_of.push_back({}); }
  SECTION("no such shard") { assignment.shard_of[0][3] = 2; }
  SECTION("negative shard") { assignment.shard_of[0][3] = -1; }
  SECTION("no shards") { assignment.num_shards = 0; }
  SECTION("too short an order") { order.order[0].pop_back(); }
  SECTION("an order of no types") { order.order.clear(); }
  SECTION("a node twice") { order.order[0][1] = order.order[0][0]; }
  SECTION("an unknown node") { order.order[0][1] = 6; }
  SECTION("a negative node") { order.order[0][1] = -1; }
  SECTION("a node of another shard") { std::swap(order.order[0][0], order.order[0][5]); }
  VICINITY_CHECK_CODE(
      WritePartition(*source, assignment, order, folder.File("cut"), "", NoProgress()),
      absl::StatusCode::kInvalidArgument);
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++entries;
  }
  CHECK(entries == 1);
}

TEST_CASE("a cut does not overwrite anything", "[partition]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph(options), folder.File("source")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> source,
                                Dataset::Open(folder.File("source")));
  const Assignment assignment = MakeAssignment(*source, 1);
  VICINITY_CHECK_CODE(WritePartition(*source, assignment, OrderNodes(assignment, {}),
                                     folder.File("source"), "", NoProgress()),
                      absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace vicinity
