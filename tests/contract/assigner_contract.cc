#include "tests/contract/assigner_contract.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {
namespace {

// A graph as a dataset of so many shards, some of them open; none: all.
class Source {
 public:
  explicit Source(const MemoryGraph& graph, int32_t num_shards = 1,
                  std::vector<ShardId> open = {}) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, num_shards, 4), folder_.File("d")));
    Dataset::Options options;
    options.shards = std::move(open);
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d"), options));
  }

  absl::StatusOr<Assignment> Assign(const AssignerKind& kind, int32_t num_shards) const {
    return kind.make(*dataset_, num_shards)->Assign(*dataset_, num_shards, NoProgress());
  }

  // Requires a sound assignment, and gives how many nodes each shard has.
  std::vector<int64_t> Loads(const AssignerKind& kind, int32_t num_shards) const {
    CAPTURE(num_shards);
    VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment, Assign(kind, num_shards));
    CHECK(assignment.num_shards == num_shards);
    std::vector<int64_t> loads(num_shards);
    REQUIRE(static_cast<int32_t>(assignment.shard_of.size()) == dataset_->book().num_node_types());
    for (int32_t t = 0; t < dataset_->book().num_node_types(); ++t) {
      const std::vector<int32_t>& shard_of = assignment.shard_of[t];
      REQUIRE(static_cast<int64_t>(shard_of.size()) == dataset_->book().num_nodes(NodeTypeId{t}));
      for (const int32_t shard : shard_of) {
        REQUIRE(shard >= 0);
        REQUIRE(shard < num_shards);
        ++loads[shard];
      }
    }
    return loads;
  }

  const Dataset& dataset() const { return *dataset_; }

 private:
  const TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
};

MemoryGraph OneTypeGraph(int64_t num_nodes, int64_t num_edges) {
  RandomGraphOptions options;
  options.num_nodes = num_nodes;
  options.num_edges = num_edges;
  return RandomGraph(options);
}

}  // namespace

void CheckEveryNodeIsAssigned(const AssignerKind& kind) {
  for (const int32_t stored : {1, 3}) {
    CAPTURE(stored);
    const Source source(TypedGraph(103, 40, 12, 7), stored);
    for (const int32_t num_shards : {1, 2, 7}) {
      source.Loads(kind, num_shards);
      const WorkEstimate work =
          kind.make(source.dataset(), num_shards)->Estimate(source.dataset(), num_shards);
      CHECK(work.memory_bytes >= 0);
      CHECK(work.disk_bytes >= 0);
    }
  }
  const Source source(OneTypeGraph(10, 20));
  CHECK_FALSE(kind.make(source.dataset(), 2)->name().empty());
}

void CheckDeterminism(const AssignerKind& kind) {
  const Source source(TypedGraph(300, 200, 20, 7));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment first, source.Assign(kind, 4));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment second, source.Assign(kind, 4));
  CHECK(first.shard_of == second.shard_of);
}

void CheckEmptyTypes(const AssignerKind& kind) {
  Source(TypedGraph(20, 0, 9, 1)).Loads(kind, 3);
  Source(TypedGraph(20, 13, 0, 1)).Loads(kind, 3);
  Source(OneTypeGraph(30, 0)).Loads(kind, 3);
}

void CheckRefusals(const AssignerKind& kind) {
  const MemoryGraph graph = TypedGraph(5, 3, 2, 1);
  const Source source(graph, 2);
  source.Loads(kind, 10);
  for (const int32_t num_shards : {-1, 0, 11, 1 << 30}) {
    CAPTURE(num_shards);
    VICINITY_CHECK_CODE(source.Assign(kind, num_shards), absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_CODE(Source(graph, 2, {ShardId{1}}).Assign(kind, 2),
                      absl::StatusCode::kInvalidArgument);
}

void CheckBalance(const AssignerKind& kind) {
  if (kind.balance == 0) return;
  const Source source(OneTypeGraph(20000, 100000));
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    CAPTURE(num_shards);
    const std::vector<int64_t> loads = source.Loads(kind, num_shards);
    CHECK(static_cast<double>(*std::max_element(loads.begin(), loads.end())) <=
          kind.balance * 20000 / num_shards);
  }
}

}  // namespace vicinity::testing
