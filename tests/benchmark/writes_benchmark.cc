// What a writer takes to bring edges to one server of a live graph over the loopback device. Client
// and server share the machine's cores.
//
// Baseline: batches that are made beforehand, sent one after the other by the same client to the
// same server, in turns: what the writer adds is what is missing to them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "client/writer.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/benchmark/bench_report.h"
#include "tests/testing/hosts/testbed.h"

namespace vicinity::benchmark {
namespace {

constexpr int64_t kNumNodes = 100'000;
constexpr int kTurns = 3;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << "writes: " << status.ToString() << "\n";
  std::exit(1);
}
void Check(const Error& error) {
  if (error.ok()) return;
  std::cerr << "writes: " << error.message() << "\n";
  std::exit(1);
}

struct Load {
  const char* name;
  int64_t edges;  // of a call
  int64_t calls;  // of each thread and turn
  int threads;
};

std::vector<int64_t> NodesFrom(uint64_t first, int64_t count) {
  std::vector<int64_t> nodes;
  for (int64_t i = 0; i < count; ++i) {
    nodes.push_back(static_cast<int64_t>((first + i) * 7919 % kNumNodes));
  }
  return nodes;
}

// The edges of a call.
GraphChanges EdgesOf(uint64_t first, int64_t count) {
  GraphChanges changes;
  changes.new_edges = {{"links", NodesFrom(first, count), NodesFrom(first * 31 + 5, count)}};
  return changes;
}

class WritesBenchmark {
 public:
  WritesBenchmark(BenchReport* report, int servers) : report_(*report) {
    testing::TestbedOptions options;
    options.graph.num_nodes = kNumNodes;
    options.num_servers = servers;
    options.replicas = servers;
    options.live = true;
    auto testbed = testing::Testbed::Start(options);
    Check(testbed.status());
    testbed_ = *std::move(testbed);
    GraphOptions where;
    where.cluster_file = testbed_->cluster_file();
    auto graph = Graph::Open(where);
    Check(graph.error());
    graph_ = *std::move(graph);
  }

  void Measure(const Load& load, Durability durability) {
    WriterOptions options;
    options.durability = durability;
    auto writer = Writer::Create(graph_.get(), options);
    Check(writer.error());
    double ours = std::numeric_limits<double>::infinity();
    double theirs = ours;
    for (int turn = 0; turn < kTurns; ++turn) {
      ours = std::min(ours, RunWriter(load, writer->get()));
      theirs = std::min(theirs, RunBaseline(load, durability));
    }
    const double edges = static_cast<double>(load.edges * load.calls * load.threads);
    report_.Add({"writes",
                 absl::StrCat(load.name, durability == Durability::kSync ? ", sync" : ", buffered"),
                 "edges/s",
                 edges / ours,
                 edges / theirs,
                 {}});
  }

  void MeasureReplicated(const Load& load) {
    double replicated = std::numeric_limits<double>::infinity();
    double sync = replicated;
    for (int turn = 0; turn < kTurns; ++turn) {
      replicated = std::min(replicated, RunBaseline(load, Durability::kReplicated));
      sync = std::min(sync, RunBaseline(load, Durability::kSync));
    }
    const double edges = static_cast<double>(load.edges * load.calls * load.threads);
    report_.Add({"writes",
                 absl::StrCat(load.name, ", replicated"),
                 "edges/s",
                 edges / replicated,
                 edges / sync,
                 {}});
  }

 private:
  // Seconds of so many threads.
  static double Time(int threads, const std::function<void(int)>& work) {
    return FastestSeconds(1, [&] {
      std::vector<std::thread> running;
      for (int t = 0; t < threads; ++t) running.emplace_back(work, t);
      for (std::thread& thread : running) thread.join();
    });
  }

  static double RunWriter(const Load& load, Writer* writer) {
    std::vector<std::vector<GraphChanges>> changes(load.threads);
    for (int t = 0; t < load.threads; ++t) {
      for (int64_t i = 0; i < load.calls; ++i) {
        changes[t].push_back(EdgesOf(t * 1'000'003 + i * load.edges, load.edges));
      }
    }
    return Time(load.threads, [&](int t) {
      Written written;
      for (const GraphChanges& each : changes[t]) Check(writer->Write(each, &written));
    });
  }

  // A session of its own for each thread.
  double RunBaseline(const Load& load, Durability durability) {
    std::vector<std::vector<proto::WriteBatch>> batches(load.threads);
    for (int t = 0; t < load.threads; ++t) {
      for (int64_t i = 0; i < load.calls; ++i) {
        proto::NewEdges* const edges = batches[t].emplace_back().add_new_edges();
        const GraphChanges changes = EdgesOf(t * 1'000'003 + i * load.edges, load.edges);
        for (const int64_t node : changes.new_edges[0].sources) edges->add_sources(node);
        for (const int64_t node : changes.new_edges[0].targets) edges->add_targets(node);
      }
    }
    const int run = num_runs_++;
    return Time(load.threads, [&](int t) {
      proto::WriteSession session;
      session.set_id(absl::StrCat("baseline ", run, " ", t));
      for (const proto::WriteBatch& batch : batches[t]) {
        session.set_sequence(session.sequence() + 1);
        AppliedBatch applied;
        FanOut calls;
        graph_->impl()
            .router()
            .shard(ShardId{0})
            .Ask(ShardWrite{&session, &batch, durability, &applied}, nullptr, calls.Add());
        Check(calls.Wait());
      }
    });
  }

  BenchReport& report_;
  std::unique_ptr<testing::Testbed> testbed_;
  std::unique_ptr<Graph> graph_;
  int num_runs_ = 0;
};

int Main(int argc, char** argv) {
  const BenchOptions options = ParseBenchOptions(argc, argv);
  const int64_t times = options.size == "full" ? 5 : 1;
  BenchReport report(options, std::cout);
  WritesBenchmark benchmark(&report, 1);
  for (const Durability durability : {Durability::kSync, Durability::kBuffered}) {
    benchmark.Measure({"65,536 edges a call", 65'536, 10 * times, 1}, durability);
    benchmark.Measure({"1,000 edges a call", 1'000, 200 * times, 1}, durability);
    benchmark.Measure({"1 edge a call", 1, 500 * times, 1}, durability);
    benchmark.Measure({"1 edge a call, 8 threads", 1, 200 * times, 8}, durability);
  }
  WritesBenchmark two(&report, 2);
  two.MeasureReplicated({"65,536 edges a call", 65'536, 10 * times, 1});
  two.MeasureReplicated({"1,000 edges a call", 1'000, 200 * times, 1});
  two.MeasureReplicated({"1 edge a call", 1, 500 * times, 1});
  two.MeasureReplicated({"1 edge a call, 8 threads", 1, 200 * times, 8});
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
