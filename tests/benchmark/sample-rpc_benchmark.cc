// How fast one hop of neighbours comes from a server, and what it costs client and server together:
// both on two cores, over the loopback device.
//
// Baseline: the textbook service with `repeated` fields around the same sampler, same chunks and
// flags. Limit: the sampler alone on the mapped shard, on one core.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/piece_run.h"
#include "client/shards/shard_access.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "sampler/one_hop.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/baselines/plain_service.h"
#include "tests/benchmark/bench_graph.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/transfer_turns.h"
#include "tests/benchmark/vicinity_link.h"

namespace vicinity::benchmark {
namespace {

constexpr int kInFlight = 4;  // calls
constexpr int kCallsInRound = 16;
constexpr int64_t kChunkBytes = 256 << 10;

std::vector<uint64_t> Targets(const Dataset& dataset, size_t count) {
  std::mt19937_64 random(7);
  std::vector<uint64_t> targets(count);
  const auto num_nodes = static_cast<uint64_t>(dataset.book().num_nodes(NodeTypeId{0}));
  for (uint64_t& target : targets) target = random() % num_nodes;
  return targets;
}

double VicinityRound(ShardAccess* shard, int64_t fanout, const std::vector<uint64_t>& targets) {
  ShardHop hop;
  hop.relations = {{EdgeTypeId{0}, {fanout}, targets}};
  std::vector<Neighbors> answers(kCallsInRound);
  FanOut round;
  RunPieces(
      kCallsInRound, kInFlight,
      [&](int64_t call, Done done) {
        ShardHop asked = hop;
        asked.out = absl::MakeSpan(&answers[call], 1);
        shard->Ask(asked, nullptr, std::move(done));
      },
      round.Add());
  Check(round.Wait());
  double edges = 0;
  for (const Neighbors& answer : answers) edges += static_cast<double>(answer.sources.size());
  return edges;
}

double PlainRound(const PlainClient& client, int64_t fanout, const std::vector<uint64_t>& targets) {
  std::atomic<int> next{0};
  std::atomic<int64_t> edges{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kInFlight; ++t) {
    threads.emplace_back([&] {
      while (next.fetch_add(1) < kCallsInRound) {
        Neighbors answer;
        if (!client.Sample(fanout, targets, &answer)) std::exit(1);
        edges += static_cast<int64_t>(answer.sources.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(edges.load());
}

TransferCost SamplerAlone(const Dataset& dataset, int64_t fanout,
                          const std::vector<uint64_t>& targets) {
  const Shard& shard = *dataset.shards()[0];
  OneHopOptions options;
  options.fanout = fanout;
  options.stream = 1;
  double edges = 0;
  const double seconds = FastestSeconds(5, [&] {
    Neighbors neighbors;
    Check(SampleOneHop(shard.edges(EdgeTypeId{0}), shard.nodes(NodeTypeId{0}).keys, targets,
                       options, &neighbors));
    edges = static_cast<double>(neighbors.sources.size());
  });
  return {edges / seconds * 1e-9, seconds / edges * 1e9};
}

void Report(BenchReport* report, const std::string& variant, const TransferCost& cost,
            const TransferCost& baseline, const TransferCost& limit) {
  report->Add({"sample-rpc", variant, "edges/s", cost.giga_per_second * 1e9,
               baseline.giga_per_second * 1e9, limit.giga_per_second * 1e9});
  report->Add({"sample-rpc", variant, "core-ns/edge", cost.core_seconds_per_giga,
               baseline.core_seconds_per_giga, limit.core_seconds_per_giga});
}

void Run(const BenchOptions& options) {
  UseTwoCores();
  const double seconds = options.size == "full" ? 5 : 1.5;
  const std::unique_ptr<Dataset> dataset = OpenRmat(options);
  // Both are forked before this process uses gRPC.
  const auto plain = StartPlain(dataset->directory(), kChunkBytes);
  const auto server = StartVicinity(dataset->directory(), kChunkBytes);
  const PlainClient client(grpc::CreateChannel(absl::StrCat("127.0.0.1:", plain->port()),
                                               grpc::InsecureChannelCredentials()));
  VicinityLink by_grpc(server->port(), *dataset, proto::PRECISION_STORED);
  VicinityLink by_tcp(server->port(), *dataset, proto::PRECISION_STORED, {}, kByBulkTcp);
  VicinityLink by_unix(server->port(), *dataset, proto::PRECISION_STORED, {}, kByBulkUnix);
  BenchReport report(options, std::cout);
  for (const int64_t fanout : {5, 15, 50}) {
    const std::vector<uint64_t> targets = Targets(*dataset, 500'000 / fanout);
    TransferTurns turns(seconds);
    turns.Add("plain service", [&](double turn) {
      return MeasureTransfer(*plain, turn, [&] { return PlainRound(client, fanout, targets); });
    });
    for (VicinityLink* const link : {&by_grpc, &by_tcp, &by_unix}) {
      turns.Add(link == &by_grpc  ? "vicinity"
                : link == &by_tcp ? "bulk channel, TCP"
                                  : "bulk channel, Unix socket",
                [&, link](double turn) {
                  return MeasureTransfer(
                      *server, turn, [&] { return VicinityRound(link->shard(), fanout, targets); });
                });
    }
    turns.Add("sampler alone", [&](double) { return SamplerAlone(*dataset, fanout, targets); });
    const TransferTurns::Costs costs = turns.Measure();
    // Behind the plain service and before the sampler alone.
    for (size_t i = 1; i + 1 < costs.size(); ++i) {
      const std::string variant =
          absl::StrCat("fanout ", fanout, i == 1 ? "" : ", ", i == 1 ? "" : costs[i].first);
      Report(&report, variant, costs[i].second, costs[0].second, costs.back().second);
    }
  }
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
