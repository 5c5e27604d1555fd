// What the data plane is to cost, by the counters of both sides: how often payload is copied, how
// many calls a minibatch takes, how many bytes cross the wire.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "client/graph.h"
#include "client/loader.h"
#include "proto/common/grpc_status.h"
#include "proto/narrow_floats.h"
#include "proto/service.grpc.pb.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::SmallCluster;

constexpr int kNumServers = 3;

testing::MemoryGraph Memory() {
  testing::RandomGraphOptions options;
  options.num_nodes = 3000;
  options.num_edges = 30000;
  options.feature_width = 128;
  return testing::RandomGraph(options);
}

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

std::unique_ptr<Graph> Open(const SmallCluster& cluster,
                            WirePrecision precision = WirePrecision::kStored) {
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  options.connect_timeout = std::chrono::seconds(20);
  options.call_timeout = std::chrono::seconds(20);
  options.wire_precision = precision;
  return Value(Graph::Open(options));
}

// Payload that the servers moved, in both directions, and how much of it they copied.
struct Moved {
  uint64_t bytes = 0;
  uint64_t copied = 0;
};
Moved OfServers(const SmallCluster& cluster) {
  Moved sum;
  for (int i = 0; i < kNumServers; ++i) {
    const auto stub = proto::Graph::NewStub(
        grpc::CreateChannel(cluster.address(i), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    proto::StatusReply status;
    VICINITY_REQUIRE_OK(FromGrpc(stub->Status(&context, {}, &status)));
    for (const proto::MethodStatus& method : status.methods()) {
      sum.bytes += method.bytes_sent() + method.bytes_received();
      sum.copied += method.bytes_copied();
    }
  }
  return sum;
}

TEST_CASE("payload is copied once on each side, rows, ids and neighbours alike", "[wire]") {
  const SmallCluster cluster(Memory(), kNumServers, kNumServers);
  const std::unique_ptr<Graph> graph = Open(cluster);
  const std::vector<int64_t> nodes = cluster.GlobalIds(NodeTypeId{0});
  Value(graph->Fetch(0, "features", nodes));
  Value(graph->Resolve(0, Value(graph->UserIds(0, nodes))));
  Value(graph->Sample(0, nodes, SamplingSpec::Uniform(graph->schema(), {5, kAllNeighbors}), {},
                      /*want_edge_ids=*/true));
  const TrafficStats client = graph->traffic();
  CHECK(client.bytes_received > 3000 * 512);
  CHECK(client.bytes_sent > 3000 * 8);
  const auto moved = static_cast<uint64_t>(client.bytes_received + client.bytes_sent);
  CHECK(static_cast<double>(client.bytes_copied) <= 1.1 * static_cast<double>(moved));
  const Moved servers = OfServers(cluster);
  CHECK(servers.bytes == moved);
  CHECK(static_cast<double>(servers.copied) <= 1.1 * static_cast<double>(moved));
  // Neither counts less than there is: each byte has to be copied once.
  CHECK(static_cast<uint64_t>(client.bytes_copied) >= moved);
  CHECK(servers.copied >= moved);
}

TEST_CASE("a minibatch takes at most hops x shards + shards calls", "[wire]") {
  const SmallCluster cluster(Memory(), kNumServers, kNumServers);
  const std::unique_ptr<Graph> graph = Open(cluster);
  const std::vector<int64_t> fanouts = {5, 4, 3};
  LoaderOptions options;
  options.sampling = SamplingSpec::Uniform(graph->schema(), fanouts);
  options.batch_size = 64;
  options.columns = {{"node", "features"}};
  const std::unique_ptr<Loader> loader = Value(Loader::Create(graph.get(), options));
  const int64_t before = graph->traffic().calls;
  REQUIRE(loader->StartEpoch(0).ok());
  int64_t batches = 0;
  while (Value(loader->Next()) != nullptr) ++batches;
  REQUIRE(batches > 5);
  const int64_t most = static_cast<int64_t>(fanouts.size()) * kNumServers + kNumServers;
  CHECK(graph->traffic().calls - before <= batches * most);
}

TEST_CASE("no request or reply is too large for a message, however many seeds", "[wire]") {
  // In one message each: ids and trees of 10.8 MB, neighbours of 22 MB and as many bytes of edges.
  constexpr size_t kNumSeeds = 900'000;
  const SmallCluster cluster(Memory(), 1, 1);
  const std::vector<int64_t> nodes = cluster.GlobalIds(NodeTypeId{0});
  std::vector<int64_t> seeds;
  while (seeds.size() < kNumSeeds) seeds.push_back(nodes[seeds.size() % nodes.size()]);
  const std::unique_ptr<Graph> served = Open(cluster);
  GraphOptions files;
  files.directory = cluster.directory();
  const std::unique_ptr<Graph> mapped = Value(Graph::Open(files));
  SamplingSpec spec = SamplingSpec::Uniform(served->schema(), {3});
  spec.disjoint = true;
  const SampledGraph got = Value(served->Sample(0, seeds, spec, {}, /*want_edge_ids=*/true));
  const SampledGraph expected = Value(mapped->Sample(0, seeds, spec, {}, /*want_edge_ids=*/true));
  CHECK(got.num_edges() > int64_t{2'000'000});
  REQUIRE(got.num_edges() == expected.num_edges());
  CHECK((got.nodes[0].ids == expected.nodes[0].ids));
  CHECK((got.nodes[0].trees == expected.nodes[0].trees));
  CHECK((got.hops[0][0].sources == expected.hops[0][0].sources));
  CHECK((got.hops[0][0].edge_ids == expected.hops[0][0].edge_ids));
  CHECK(served->traffic().bytes_sent > int64_t{10'000'000});
}

TEST_CASE("rows may be narrowed on the wire, and only those of float32", "[wire]") {
  const SmallCluster cluster(Memory(), kNumServers, kNumServers);
  const std::vector<int64_t> nodes = cluster.GlobalIds(NodeTypeId{0});
  const std::unique_ptr<Graph> exact = Open(cluster);
  const Rows expected = Value(exact->Fetch(0, "features", nodes));
  const WirePrecision precision = GENERATE(WirePrecision::kFloat16, WirePrecision::kBfloat16);
  const std::unique_ptr<Graph> narrow = Open(cluster, precision);
  const int64_t before = narrow->traffic().bytes_received;
  const Rows rows = Value(narrow->Fetch(0, "features", nodes));
  CHECK(narrow->traffic().bytes_received - before ==
        static_cast<int64_t>(expected.bytes.size() / 2));
  CHECK(static_cast<double>(narrow->traffic().bytes_copied) <=
        1.1 * static_cast<double>(narrow->traffic().bytes_received + narrow->traffic().bytes_sent));
  REQUIRE(rows.bytes.size() == expected.bytes.size());
  int wrong = 0;
  for (size_t i = 0; i < rows.bytes.size(); i += sizeof(float)) {
    float value;
    float got;
    std::memcpy(&value, &expected.bytes[i], sizeof(value));
    std::memcpy(&got, &rows.bytes[i], sizeof(got));
    wrong += got != (precision == WirePrecision::kFloat16 ? FromFloat16(ToFloat16(value))
                                                          : FromBfloat16(ToBfloat16(value)));
  }
  CHECK(wrong == 0);
  CHECK(Value(narrow->Fetch(0, "label", nodes)).bytes ==
        Value(exact->Fetch(0, "label", nodes)).bytes);
  CHECK(Value(narrow->UserIds(0, nodes)) == Value(exact->UserIds(0, nodes)));
}

}  // namespace
}  // namespace vicinity
