#include "client/train/expected_traffic.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "partition/ranking.h"
#include "proto/manifest.pb.h"
#include "tests/integration/small_cluster.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// The first ten nodes of 100 and the last ten, of another shard, in turn, with falling
// probabilities from 1 on in steps of 0.01, as the ranking of home {0}.
void Rank(const std::string& directory) {
  RankedNodes ranked;
  for (int i = 0; i < 20; ++i) {
    ranked.nodes.push_back(i % 2 == 0 ? i / 2 : 90 + i / 2);
    ranked.probabilities.push_back(1.0f - 0.01f * static_cast<float>(i));
  }
  proto::Ranking description;
  description.set_name("default");
  description.add_homes()->add_shards(0);
  VICINITY_REQUIRE_OK(WriteRanking(directory, description, {{ranked}}));
}

class RankedCluster {
 public:
  std::unique_ptr<Graph> Open(const std::vector<int32_t>& local_shards) const {
    GraphOptions where;
    where.cluster_file = cluster_.cluster_file();
    where.local_shards = local_shards;
    Result<std::unique_ptr<Graph>> graph = Graph::Open(where);
    REQUIRE(graph.ok());
    REQUIRE((*graph)->OwnerOf(0, 9) == 0);
    REQUIRE((*graph)->OwnerOf(0, 90) == 1);
    return *std::move(graph);
  }

  static TrafficQuestion Ask(int64_t cache_rows) {
    TrafficQuestion question;
    question.ranking = "default";
    question.home = {0};
    question.types = {0};
    question.cache_rows = cache_rows;
    return question;
  }

 private:
  const testing::SmallCluster cluster_{testing::RandomGraph({}), 2, 1, Rank};
};

}  // namespace

TEST_CASE_METHOD(RankedCluster, "rows neither mapped nor cached are expected", "[expected]") {
  const std::unique_ptr<Graph> home = Open({0});
  // 0.99 + 0.97 + ... + 0.81, then without the first two.
  CHECK(ExpectedRemoteRows(*home, Ask(0)).value() == Approx(9.0));
  CHECK(ExpectedRemoteRows(*home, Ask(2)).value() == Approx(9.0 - 0.99 - 0.97));
  CHECK(ExpectedRemoteRows(*home, Ask(10)).value() == 0);
  CHECK(ExpectedRemoteRows(*home, Ask(1000)).value() == 0);
  // All of them come from the server where nothing is mapped, none where everything is.
  CHECK(ExpectedRemoteRows(*Open({}), Ask(0)).value() == Approx(18.1));
  CHECK(ExpectedRemoteRows(*Open({0, 1}), Ask(0)).value() == 0);
}

TEST_CASE_METHOD(RankedCluster, "a ranking or home that is not there is told", "[expected]") {
  const std::unique_ptr<Graph> graph = Open({0});
  TrafficQuestion question = Ask(0);
  SECTION("another ranking") { question.ranking = "mine"; }
  SECTION("another home") { question.home = {1}; }
  CHECK(ExpectedRemoteRows(*graph, question).error().code() == ErrorCode::kNotFound);
}

}  // namespace vicinity
