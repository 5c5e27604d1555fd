// All ways to a shard keep one contract, and give the same answers to the byte.
#include "client/shards/shard_access.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/replicas/cluster_servers.h"
#include "client/replicas/hedge_policy.h"
#include "client/replicas/jitter.h"
#include "client/replicas/real_timer.h"
#include "client/replicas/replica_call.h"
#include "client/replicas/replicated_shard.h"
#include "client/replicas/retry_budget.h"
#include "client/rpc/remote_shard.h"
#include "client/shards/mapped_shard.h"
#include "client/shards/traffic.h"
#include "client/types/graph_values.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "partition/schema/edge_conditions.h"
#include "proto/bulk.pb.h"
#include "proto/cluster/host_port.h"
#include "proto/common/ids.h"
#include "server/handlers/limits.h"
#include "server/server.h"
#include "server/server_options.h"
#include "tests/contract/shard_access_contract.h"
#include "tests/testing/graphs/graph_overlay.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int32_t kNumShards = 2;
constexpr char kRanking[] = "likely";

enum class Kind {
  kMapped,
  kRemote,
  kRemoteInPieces,
  kBulkTcp,
  kBulkUnix,
  kBulkInPieces,
  kReplicated,
};
constexpr Kind kAllButMapped[] = {Kind::kRemote,   Kind::kRemoteInPieces, Kind::kBulkTcp,
                                  Kind::kBulkUnix, Kind::kBulkInPieces,   Kind::kReplicated};

// Two servers of the same dataset and shards, and each shard by every way to it. One of the servers
// allows so little in a request or message that most is asked and answered in pieces.
class Ways {
 public:
  explicit Ways(testing::MemoryGraph graph = testing::TypedGraph(150, 90, 40, 5))
      : graph_(std::move(graph)),
        placement_(testing::Shuffled(graph_, kNumShards, 3)),
        directory_(folder_.File("graph")),
        jitter_(1),
        budget_(10),
        hedging_(/*enabled=*/true) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement_, directory_));
    Rank();
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(directory_));
    Serve();
    Connect();
  }

  testing::ShardsUnderTest Of(Kind kind) const {
    testing::ShardsUnderTest under_test{&graph_, &placement_, {}};
    for (const std::unique_ptr<ShardAccess>& shard : shards_[static_cast<int>(kind)]) {
      under_test.shards.push_back(shard.get());
    }
    return under_test;
  }
  const RankedNodes& ranked() const { return ranked_; }
  int num_bulk(Kind kind) const {
    return cluster_->connection(static_cast<int>(kind) - 1)->num_bulk();
  }

 private:
  // Of all users, for shard 0; of every other type no node.
  void Rank() {
    for (int64_t node = 0; node < graph_.num_nodes({0}); ++node) {
      ranked_.nodes.push_back(node * 7 % graph_.num_nodes({0}));
      ranked_.probabilities.push_back(1.0f / static_cast<float>(node + 1));
    }
    proto::Ranking description;
    description.set_name(kRanking);
    description.add_homes()->add_shards(0);
    std::vector<RankedNodes> by_type(graph_.nodes.size());
    by_type[0] = ranked_;
    VICINITY_REQUIRE_OK(WriteRanking(directory_, description, {by_type}));
  }

  void Serve() {
    for (const bool narrow : {false, true}) {
      ServerOptions options;
      options.data = directory_;
      options.bulk.local = true;
      options.bulk.tcp = HostPort{"127.0.0.1", 0};
      if (narrow) {
        options.limits.max_ids = 16;
        options.limits.max_sampled = 40;
        options.limits.max_chunk_bytes = 64;
      }
      VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Server> server, Server::Start(options));
      servers_.push_back(std::move(server));
    }
  }

  void Connect() {
    tools_.replicas = {&timer_, &jitter_, &traffic_};
    tools_.budget = &budget_;
    tools_.hedging = &hedging_;
    std::vector<ServerToReach> endpoints;
    // By Kind, from kRemote on: which server, and how.
    for (const auto& [server, transport, over] :
         {std::tuple(0, Transport::kGrpc, proto::BULK_SOCKET_ANY),
          std::tuple(1, Transport::kGrpc, proto::BULK_SOCKET_ANY),
          std::tuple(0, Transport::kBulk, proto::BULK_SOCKET_TCP),
          std::tuple(0, Transport::kBulk, proto::BULK_SOCKET_UNIX),
          std::tuple(1, Transport::kBulk, proto::BULK_SOCKET_ANY)}) {
      endpoints.push_back({{absl::StrCat("s", endpoints.size()),
                            servers_[server]->address().ToString(),
                            {{0}, {1}}},
                           {}});
      ConnectionOptions& options = endpoints.back().options;
      options.connect_timeout = std::chrono::seconds(60);
      options.call_timeout = std::chrono::seconds(60);
      options.transport = transport;
      options.bulk_over = over;
    }
    tools_.policy.attempt_timeout = std::chrono::seconds(61);
    tools_.policy.call_budget = std::chrono::seconds(120);
    cluster_ = std::make_unique<ClusterServers>(std::move(endpoints), tools_.replicas);
    VICINITY_REQUIRE_OK(cluster_->ChooseDataset({}));
    shards_.resize(static_cast<int>(Kind::kReplicated) + 1);
    for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
      shards_[0].push_back(MakeMappedShard(*dataset_, *shard, &traffic_));
      std::vector<ShardReplica> replicas;
      for (int s = 0; s < cluster_->size(); ++s) {
        shards_[1 + s].push_back(Remote(shard->id(), s));
        replicas.push_back({cluster_->replica(s), Remote(shard->id(), s)});
      }
      shards_.back().push_back(MakeReplicatedShard(shard->id(), std::move(replicas), 4, tools_));
    }
  }

  std::unique_ptr<ShardAccess> Remote(ShardId shard, int server) {
    return MakeRemoteShard(shard, dataset_->fingerprint(), cluster_->connection(server),
                           dataset_->schema(), dataset_->book());
  }

  const testing::MemoryGraph graph_;
  const testing::Placement placement_;
  const testing::TempDir folder_;
  const std::string directory_;
  RankedNodes ranked_;
  std::unique_ptr<Dataset> dataset_;
  std::vector<std::unique_ptr<Server>> servers_;
  TrafficCounters traffic_;
  RealTimer timer_;
  Jitter jitter_;
  RetryBudget budget_;
  HedgePolicy hedging_;
  CallTools tools_;
  std::unique_ptr<ClusterServers> cluster_;
  std::vector<std::vector<std::unique_ptr<ShardAccess>>> shards_;  // by Kind
};

testing::ShardsUnderTest AnyKind(const Ways& ways) {
  const Kind kind = GENERATE(Kind::kMapped, Kind::kRemote, Kind::kRemoteInPieces, Kind::kBulkTcp,
                             Kind::kBulkUnix, Kind::kBulkInPieces, Kind::kReplicated);
  UNSCOPED_INFO("kind " << static_cast<int>(kind));
  return ways.Of(kind);
}

TEST_CASE("every way to a shard keeps the contract", "[shard_access]") {
  const Ways ways;
  const testing::ShardsUnderTest under_test = AnyKind(ways);
  SECTION("rows of nodes") { testing::CheckNodeRows(under_test); }
  SECTION("rows of edges") { testing::CheckEdgeRows(under_test); }
  SECTION("ragged rows and names") { testing::CheckRagged(under_test); }
  SECTION("rows that meet a condition") { testing::CheckFind(under_test); }
  SECTION("keys") { testing::CheckKeys(under_test); }
  SECTION("degrees") { testing::CheckDegrees(under_test); }
  SECTION("edge ids") { testing::CheckEdgeIds(under_test); }
  SECTION("walks") { testing::CheckWalks(under_test); }
  SECTION("hops") { testing::CheckHops(under_test); }
  SECTION("rankings") { testing::CheckRankings(under_test, kRanking, ways.ranked()); }
  SECTION("requests for nothing") { testing::CheckEmptyRequests(under_test); }
  SECTION("refusals") { testing::CheckRefusals(under_test); }
  SECTION("cancelling") { testing::CheckCancelling(under_test); }
}

TEST_CASE("calls go by the transport that was asked for", "[shard_access]") {
  const Ways ways;
  CHECK(ways.num_bulk(Kind::kRemote) == 0);
  CHECK(ways.num_bulk(Kind::kBulkTcp) == 4);
  CHECK(ways.num_bulk(Kind::kBulkUnix) == 4);
}

TEST_CASE("hops are the same to the byte by every way to a shard", "[shard_access]") {
  const Ways ways;
  const std::vector<Neighbors> mapped = testing::SampleEveryWay(ways.Of(Kind::kMapped));
  for (const Kind kind : kAllButMapped) {
    CAPTURE(static_cast<int>(kind));
    CHECK(testing::Difference(mapped, testing::SampleEveryWay(ways.Of(kind))) == "");
  }
}

testing::MemoryGraph TimedGraph(bool time_order = false) {
  testing::RandomGraphOptions options;
  options.num_nodes = 90;
  options.num_edges = 2000;
  options.weights = true;
  options.times = true;
  options.time_order = time_order;
  return testing::RandomGraph(options);
}

// That what a mapped shard gives is right, tests/sampler/filtered_lists_test.cc says.
TEST_CASE("hops by time and with conditions are the same to the byte by every way to a shard",
          "[shard_access]") {
  const testing::MemoryGraph graph = TimedGraph(GENERATE(false, true));
  const Ways ways(graph);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto where,
                                ResolveByEdgeType(graph.schema, "weight < 0.5 or time = 2"));
  std::vector<DrawSpec> rules(4);
  rules[0].time_column = 1;
  rules[1].time_column = 1;
  rules[1].last = true;
  rules[2].where = where[0];
  rules[3].where = where[0];
  rules[3].time_column = 1;
  const std::vector<Neighbors> mapped = testing::SampleByRules(ways.Of(Kind::kMapped), rules);
  CHECK(std::any_of(mapped.begin(), mapped.end(), [](const Neighbors& each) {
    return std::count(each.counts.begin(), each.counts.end(), 0) > 3 && each.sources.size() > 100;
  }));
  for (const Kind kind : kAllButMapped) {
    CAPTURE(static_cast<int>(kind));
    CHECK(testing::Difference(mapped, testing::SampleByRules(ways.Of(kind), rules)) == "");
  }
}

// ... and that is right of batches of a mapped graph tests/sampler/local_sampler_test.cc.
TEST_CASE("hops by LABOR are the same to the byte by every way to a shard", "[shard_access]") {
  const testing::MemoryGraph graph = TimedGraph();
  const Ways ways(graph);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto where,
                                ResolveByEdgeType(graph.schema, "weight < 0.5 or time = 2"));
  std::vector<DrawSpec> rules(4);
  for (DrawSpec& rule : rules) rule.labor = true;
  rules[1].time_column = 1;
  rules[2].where = where[0];
  rules[2].layer_dependency = true;
  rules[3].batch_dependency = 3;
  const std::vector<Neighbors> mapped = testing::SampleByRules(ways.Of(Kind::kMapped), rules);
  for (const Kind kind : kAllButMapped) {
    CAPTURE(static_cast<int>(kind));
    CHECK(testing::Difference(mapped, testing::SampleByRules(ways.Of(kind), rules)) == "");
  }
}

// The graph after writes: other rows and names, edges that now end elsewhere, and new ones.
testing::MemoryGraph Rewritten(testing::MemoryGraph graph) {
  for (size_t i = 0; i < graph.nodes[0].columns[0].size(); i += 97) ++graph.nodes[0].columns[0][i];
  for (size_t i = 0; i < graph.nodes[1].columns[1].size(); i += 61) ++graph.nodes[1].columns[1][i];
  for (size_t i = 0; i < graph.nodes[1].names.size(); i += 4) graph.nodes[1].names[i] += " (new)";
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    testing::MemoryEdges& edges = graph.edges[e];
    const auto num_targets =
        graph.num_nodes({graph.schema.edge_types[e].target_type}) / 2;  // half stay as they are
    const size_t num_edges = edges.sources.size();
    for (size_t i = 0; i < num_edges; i += 5) {
      if (edges.targets[i] < num_targets) edges.targets[i] = (edges.targets[i] + 1) % num_targets;
      if (i % 3 != 0) continue;
      edges.sources.push_back(edges.sources[i]);
      edges.targets.push_back(static_cast<int64_t>(i) % num_targets);
      if (edges.columns.empty()) continue;
      const float weight = static_cast<float>(i % 20);
      edges.columns[0].append(reinterpret_cast<const char*>(&weight), sizeof(weight));
    }
  }
  return graph;
}

// A mapped dataset as it was before, and what has changed of each of its shards.
class Overlaid {
 public:
  Overlaid()
      : before_(testing::TypedGraph(150, 90, 40, 5)),
        now_(Rewritten(before_)),
        placement_(testing::Shuffled(before_, kNumShards, 3)) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(before_, placement_, folder_.File("graph")));
    Dataset::Options options;
    options.verify_at_touch = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph"), options));
    for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
      overlays_.push_back(
          std::make_unique<testing::GraphOverlay>(before_, now_, placement_, shard->id()));
      shards_.push_back(MakeMappedShard(*dataset_, *shard, &traffic_, overlays_.back().get()));
      REQUIRE(overlays_.back()->num_lists() > 10);
      REQUIRE(overlays_.back()->num_rows() > 10);
    }
  }

  testing::ShardsUnderTest Now() const {
    testing::ShardsUnderTest under_test{&now_, &placement_, {}};
    for (const auto& shard : shards_) under_test.shards.push_back(shard.get());
    return under_test;
  }

 private:
  const testing::MemoryGraph before_;
  const testing::MemoryGraph now_;
  const testing::Placement placement_;
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  TrafficCounters traffic_;
  std::vector<std::unique_ptr<testing::GraphOverlay>> overlays_;
  std::vector<std::unique_ptr<ShardAccess>> shards_;
};

TEST_CASE("a mapped shard with changes keeps the contract of the graph as it is now",
          "[shard_access]") {
  const Overlaid overlaid;
  SECTION("rows of nodes") { testing::CheckNodeRows(overlaid.Now()); }
  SECTION("rows of edges") { testing::CheckEdgeRows(overlaid.Now()); }
  SECTION("ragged rows and names") { testing::CheckRagged(overlaid.Now()); }
  SECTION("rows that meet a condition") { testing::CheckFind(overlaid.Now()); }
  SECTION("keys") { testing::CheckKeys(overlaid.Now()); }
  SECTION("degrees") { testing::CheckDegrees(overlaid.Now()); }
  SECTION("edge ids") { testing::CheckEdgeIds(overlaid.Now()); }
  SECTION("hops") { testing::CheckHops(overlaid.Now()); }
  SECTION("requests for nothing") { testing::CheckEmptyRequests(overlaid.Now()); }
  SECTION("refusals") { testing::CheckRefusals(overlaid.Now()); }
}

TEST_CASE("changed lists are drawn from as if the files had been written anew", "[shard_access]") {
  const Overlaid overlaid;
  testing::MemoryGraph now = *overlaid.Now().graph;
  now.nodes[1].names =
      testing::TypedGraph(150, 90, 40, 5).nodes[1].names;  // which keys are made of
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(now, *overlaid.Now().placement, folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("graph")));
  TrafficCounters traffic;
  std::vector<std::unique_ptr<ShardAccess>> shards;
  testing::ShardsUnderTest anew{&now, overlaid.Now().placement, {}};
  for (const std::unique_ptr<Shard>& shard : dataset->shards()) {
    shards.push_back(MakeMappedShard(*dataset, *shard, &traffic));
    anew.shards.push_back(shards.back().get());
  }
  // But for where the edges' rows are, which differs.
  const auto without_positions = [](std::vector<Neighbors> answers) {
    for (Neighbors& answer : answers) answer.edge_positions.clear();
    return answers;
  };
  CHECK(testing::Difference(without_positions(testing::SampleEveryWay(overlaid.Now())),
                            without_positions(testing::SampleEveryWay(anew))) == "");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto where, ResolveByEdgeType(now.schema, "weight < 9"));
  std::vector<DrawSpec> rules(1);
  rules[0].where = where[0];
  const std::vector<Neighbors> filtered =
      without_positions(testing::SampleByRules(overlaid.Now(), rules));
  CHECK(testing::Difference(filtered, without_positions(testing::SampleByRules(anew, rules))) ==
        "");
  CHECK(testing::Difference(filtered, without_positions(testing::SampleByRules(anew, {{}}))) != "");
  rules.resize(2);
  for (DrawSpec& rule : rules) rule.labor = true;
  CHECK(testing::Difference(without_positions(testing::SampleByRules(overlaid.Now(), rules)),
                            without_positions(testing::SampleByRules(anew, rules))) == "");
}

}  // namespace
}  // namespace vicinity
