// What one call of a query of two hops takes over four shards behind a server on the loopback
// device, with rows of 512 bytes of the second hop: neighbours that are drawn from all edges, from
// the tenth that meets a condition on the edges, which the server looks at, and from those that
// meet one on the nodes they come from, whose lists and columns come here. And what one call of
// each further step takes: a walk, the nodes that walks visit most, PageRank, a subgraph of nodes
// and their neighbours. An R-MAT graph.
//
// Baseline of both conditions: the query without. Calls are RPCs, of which a step has one a shard
// and round.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/generate_command.h"
#include "client/cli/commands/partition_command.h"
#include "client/cli/tool.h"
#include "client/graph.h"
#include "client/prepared_query.h"
#include "client/query/query.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "server/handlers/limits.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

constexpr std::pair<const char*, const char*> kFurtherSteps[] = {
    {"walks of ten steps", "way = walk(src, link, 10)"},
    {"most visited of 50 walks", "most = visited(src, link, 10, length=6, num_walks=50)"},
    {"PageRank", "top = ppr(src, link, 32)"},
    {"subgraphs of ten neighbours",
     "near = neighbors(src, link, 10)\nsub = induced([src, near], link)"}};

[[noreturn]] void Fail(const std::string& why) {
  std::cerr << "queries: " << why << '\n';
  std::exit(1);
}

void RunCommand(const cli::Command& command, const std::vector<std::string>& args) {
  std::stringstream narration;
  std::stringstream out;
  cli::ToolContext tool;
  tool.narration = &narration;
  tool.progress = NoProgress();
  if (cli::RunTool({&command, 1}, args, tool, out) != cli::ExitCode::kOk) Fail(narration.str());
}

// Four shards, kept for the next run.
std::string FourShards(const BenchOptions& options) {
  const std::string scale = options.size == "full" ? "20" : "16";
  const std::string whole = absl::StrCat(options.data, "/queries-", scale);
  const std::string shards = absl::StrCat(whole, "-4");
  if (std::filesystem::exists(shards)) return shards;
  std::filesystem::create_directories(options.data);
  RunCommand(cli::kGenerateCommand,
             {"generate", "rmat", "--scale", scale, "--symmetric", "--dedup", "--drop-self-loops",
              "--weights", "--train", "0.1", "--feature-width", "128", "--output", whole});
  RunCommand(cli::kPartitionCommand, {"partition", "--input", whole, "--output", shards, "--shards",
                                      "4", "--assigner", "hash"});
  return shards;
}

std::unique_ptr<Graph> OpenServed(const std::string& directory, int port,
                                  const std::string& cluster_file) {
  Check(WriteFileAtomically(
      cluster_file, absl::StrCat("data: '", directory, "' num_shards: 4 servers { name: 'bench' ",
                                 "listen: '127.0.0.1:", port, "' advertise: '127.0.0.1:", port,
                                 "' shards: [0, 1, 2, 3] }")));
  GraphOptions options;
  options.cluster_file = cluster_file;
  Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
  if (!graph.ok()) Fail(graph.error().message());
  return std::move(graph.value());
}

struct Taken {
  double p50 = 0;  // microseconds
  double p99 = 0;
  double calls = 0;  // RPCs a query
};

class QueriesBenchmark {
 public:
  explicit QueriesBenchmark(const BenchOptions& options)
      : directory_(FourShards(options)),
        server_(StartVicinity(directory_, Limits().max_chunk_bytes)),
        graph_(OpenServed(directory_, server_->port(), folder_.File("cluster.textproto"))),
        num_queries_(options.size == "full" ? 5000 : 1000),
        report_(options, std::cout) {}

  void Run() {
    for (const int64_t num_seeds : {1, 64}) {
      const Taken plain = Ask(TwoHops(""), num_seeds);
      Report(num_seeds, "all edges", plain, nullptr);
      Report(num_seeds, "a condition on edges", Ask(TwoHops(", where=\"weight < 0.1\""), num_seeds),
             &plain);
      Report(num_seeds, "a condition on nodes", Ask(TwoHops(", where=\"split = 1\""), num_seeds),
             &plain);
    }
    for (const int64_t num_seeds : {1, 64}) {
      for (const auto& [name, steps] : kFurtherSteps) {
        Report(num_seeds, name, Ask(steps, num_seeds), nullptr);
      }
    }
  }

 private:
  static std::string TwoHops(const std::string& condition) {
    return absl::StrCat("near = neighbors(src, link, 10", condition,
                        ")\nfar = neighbors(near, link, 5", condition, ", columns=[features])\n");
  }

  void Report(int64_t num_seeds, const std::string& name, const Taken& taken,
              const Taken* baseline) {
    const auto add = [&](const std::string& metric, double Taken::*figure) {
      report_.Add({"queries", absl::StrCat(num_seeds, " seeds, ", name), metric, taken.*figure,
                   baseline != nullptr ? std::optional<double>(baseline->*figure) : std::nullopt,
                   std::nullopt});
    };
    add("p50 us", &Taken::p50);
    add("p99 us", &Taken::p99);
    add("calls", &Taken::calls);
  }

  // One query after the other, of other seeds each; the steps go on from `src`, the seeds.
  Taken Ask(const std::string& steps, int64_t num_seeds) const {
    const Result<Query> query = Query::Parse(absl::StrCat("src = nodes(node, $seeds)\n", steps));
    if (!query.ok()) Fail(query.error().message());
    const Result<std::unique_ptr<PreparedQuery>> prepared =
        PreparedQuery::Make(graph_.get(), *query);
    if (!prepared.ok()) Fail(prepared.error().message());
    std::mt19937_64 random(7);
    std::vector<double> times;
    const int64_t calls_before = graph_->traffic().calls;
    const int num_queries = num_seeds == 1 ? num_queries_ : num_queries_ / 8;
    for (int i = 0; i < num_queries; ++i) {
      std::vector<int64_t> seeds(num_seeds);
      for (int64_t& seed : seeds) seed = static_cast<int64_t>(random() % graph_->num_nodes(0));
      const auto start = std::chrono::steady_clock::now();
      const Result<QueryAnswer> answer = (*prepared)->Run({{"seeds", seeds}}, {random(), 0, 0});
      if (!answer.ok()) Fail(answer.error().message());
      const auto taken = std::chrono::steady_clock::now() - start;
      times.push_back(std::chrono::duration<double, std::micro>(taken).count());
    }
    std::sort(times.begin(), times.end());
    Taken taken;
    taken.p50 = times[times.size() / 2];
    taken.p99 = times[times.size() * 99 / 100];
    taken.calls = static_cast<double>(graph_->traffic().calls - calls_before) /
                  static_cast<double>(times.size());
    return taken;
  }

  const std::string directory_;
  const std::unique_ptr<OtherProcess> server_;  // forked before this process uses gRPC
  const testing::TempDir folder_;
  const std::unique_ptr<Graph> graph_;
  const int num_queries_;  // of one seed
  BenchReport report_;
};

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  const vicinity::benchmark::BenchOptions options =
      vicinity::benchmark::ParseBenchOptions(argc, argv);
  vicinity::benchmark::UseTwoCores();
  vicinity::benchmark::QueriesBenchmark(options).Run();
}
