#include "partition/cut/hash_assigner.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/contract/assigner_contract.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// The shard of each key of the first type.
std::map<uint64_t, int32_t> ShardsByKey(const Dataset& dataset, int32_t num_shards) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment,
                                HashAssigner().Assign(dataset, num_shards, NoProgress()));
  std::map<uint64_t, int32_t> shards;
  int64_t node = 0;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (const uint64_t key : shard->nodes(NodeTypeId{0}).keys) {
      shards[key] = assignment.shard_of[0][node++];
    }
  }
  return shards;
}

TEST_CASE("a hash assigner keeps the contract of all", "[partition]") {
  testing::AssignerKind kind;
  kind.make = [](const Dataset&, int32_t) { return std::make_unique<HashAssigner>(); };
  kind.balance = 1.08;
  testing::CheckAssigner(kind);
}

TEST_CASE("a node's hash shard depends on its key alone, not on the cut it comes from",
          "[partition]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::TypedGraph(500, 3, 2, 1);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, folder.File("one")));
  VICINITY_REQUIRE_OK(
      testing::WriteGraph(graph, testing::Shuffled(graph, 3, 1), folder.File("three")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> one,
                                Dataset::Open(folder.File("one")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> three,
                                Dataset::Open(folder.File("three")));
  CHECK(ShardsByKey(*one, 5) == ShardsByKey(*three, 5));
}

TEST_CASE("hash shards are even", "[partition]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.num_nodes = 80000;
  options.num_edges = 10;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph(options), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const int32_t num_shards = GENERATE(1, 2, 7, 8);
  std::vector<double> loads(num_shards);
  for (const auto& [key, shard] : ShardsByKey(*dataset, num_shards)) ++loads.at(shard);
  const double mean = 80000.0 / num_shards;
  double chi_square = 0;
  for (const double load : loads) chi_square += (load - mean) * (load - mean) / mean;
  CHECK(chi_square < 25);  // 7 degrees of freedom: chance below 0.001
}

}  // namespace
}  // namespace vicinity
