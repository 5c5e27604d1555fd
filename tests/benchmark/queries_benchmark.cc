// What one call of a query of two hops takes over four shards behind a server on the loopback
// device, with rows of 512 bytes of the second hop: neighbours that are drawn from all edges, from
// the tenth that meets a condition on the edges, which the server looks at, and from those that
// meet one on the nodes they come from, whose lists and columns come here. And what one call of
// each further step takes: a walk, the nodes that walks visit most, PageRank, a subgraph of nodes
// and their neighbours. An R-MAT graph. Then epochs of answers with rows of seeds and both hops:
// how many a second a loader gives, and how many rows come over the wire for each, with caches of
// several sizes. At last how long it takes to find the nodes of another graph, of as many shards,
// that meet a condition: a tenth, one in a thousand, and one.
//
// Baseline of both conditions: the query without. Of epochs: the same answers by runs of the query,
// as many at a time as the loader's, epochs in turns. Of nodes that are found by an index: the same
// condition on a column with the same values and no index. Calls are RPCs, of which a step has one
// a shard and round.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/generate_command.h"
#include "client/cli/commands/index_command.h"
#include "client/cli/commands/partition_command.h"
#include "client/cli/tool.h"
#include "client/graph.h"
#include "client/prepared_query.h"
#include "client/query/query.h"
#include "client/query_loader.h"
#include "client/types/graph_values.h"
#include "client/types/loader_values.h"
#include "client/types/result.h"
#include "partition/schema/schema.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "server/handlers/limits.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/graphs/small_graphs.h"
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

// Nodes in any order with two columns, `indexed` and `plain`, that have the same values, each of
// the numbers from 0 once. On four shards, kept for the next run.
std::string NodesToFind(const BenchOptions& options) {
  const int64_t num_nodes = options.size == "full" ? int64_t{1} << 24 : int64_t{1} << 22;
  const std::string shards = absl::StrCat(options.data, "/queries-nodes-", num_nodes, "-4");
  if (std::filesystem::exists(shards)) return shards;
  std::filesystem::create_directories(options.data);
  testing::RandomGraphOptions shape;
  shape.num_nodes = num_nodes;
  shape.num_edges = 0;
  shape.feature_width = 0;
  shape.num_classes = 0;
  testing::MemoryGraph graph = testing::RandomGraph(shape);
  std::vector<int32_t> numbers(num_nodes);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::mt19937_64 random(7);
  std::shuffle(numbers.begin(), numbers.end(), random);
  for (const char* const name : {"indexed", "plain"}) {
    graph.schema.node_types[0].columns.push_back({name, DType::kInt32, {}});
    graph.nodes[0].columns.emplace_back(reinterpret_cast<const char*>(numbers.data()),
                                        numbers.size() * sizeof(int32_t));
  }
  // Under another name until it is whole.
  const std::string partial = shards + "-partial";
  std::filesystem::remove_all(partial);
  Check(WriteGraph(graph, testing::Shuffled(graph, 4, 1), partial));
  RunCommand(cli::kIndexCommand, {"index", partial, "--nodes", "node:indexed"});
  std::filesystem::rename(partial, shards);
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

// A dataset of four shards and a server of it, in a process of its own. It is made before this
// process uses gRPC, which no fork may copy.
class Served {
 public:
  explicit Served(std::string directory)
      : directory_(std::move(directory)),
        server_(StartVicinity(directory_, Limits().max_chunk_bytes)) {}

  std::unique_ptr<Graph> Open() const {
    return OpenServed(directory_, server_->port(), folder_.File("cluster.textproto"));
  }

 private:
  const std::string directory_;
  const std::unique_ptr<OtherProcess> server_;
  const testing::TempDir folder_;
};

class QueriesBenchmark {
 public:
  QueriesBenchmark(const BenchOptions& options, const Served& served, BenchReport* report)
      : graph_(served.Open()),
        num_queries_(options.size == "full" ? 5000 : 1000),
        report_(*report) {}

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

  const std::unique_ptr<Graph> graph_;
  const int num_queries_;  // of one seed
  BenchReport& report_;
};

struct Asked {
  QueryInputs inputs;
  DrawId draw;
};

// What an epoch took.
struct EpochTaken {
  double batches_per_second = 0;
  double rows = 0;  // over the wire, a batch
};

// Epochs of answers for batches of the train seeds.
class AnswersBenchmark {
 public:
  AnswersBenchmark(const Served& served, BenchReport* report)
      : graph_(served.Open()),
        query_(Must(Query::Parse("src = nodes(node, $seeds, columns=[features])\n"
                                 "near = neighbors(src, link, 10, columns=[features])\n"
                                 "far = neighbors(near, link, 5, columns=[features])\n"))),
        prepared_(Must(PreparedQuery::Make(graph_.get(), query_))),
        report_(*report) {}

  void Run() {
    Compare("no cache", CachePolicy::kNone, 0);
    Compare("cache 10 %", CachePolicy::kAuto, graph_->num_nodes(0) / 10);
    Compare("cache for all", CachePolicy::kAuto, graph_->num_nodes(0));
  }

 private:
  static constexpr int kAtATime = 4;
  static constexpr int kTurns = 5;

  template <typename T>
  static T Must(Result<T> result) {
    if (!result.ok()) Fail(result.error().message());
    return *std::move(result);
  }

  void Compare(const std::string& name, CachePolicy cache, int64_t cache_rows) {
    LoaderOptions options;
    options.batch_size = 256;
    options.cache = cache;
    options.cache_rows = cache_rows;
    options.sample_threads = kAtATime;
    const auto loader = Must(QueryLoader::Create(graph_.get(), query_, options));
    std::vector<EpochTaken> loaded, run;
    for (int turn = -1; turn < kTurns; ++turn) {
      std::vector<Asked> asked;
      // Every other epoch: of one after the other the next would be made during the runs.
      const EpochTaken by_loader =
          Measure(&asked, [&] { return Load(loader.get(), 2 * (turn + 1)); });
      const EpochTaken by_runs = Measure(&asked, [&] { return RunAll(asked); });
      if (turn < 0) continue;  // the first connects, and fills the cache
      loaded.push_back(by_loader);
      run.push_back(by_runs);
    }
    const auto add = [&](const std::string& metric, double EpochTaken::*figure) {
      report_.Add({"queries", absl::StrCat("epochs of answers, ", name), metric,
                   Median(loaded, figure), Median(run, figure), std::nullopt});
    };
    add("batches/s", &EpochTaken::batches_per_second);
    add("rows/batch", &EpochTaken::rows);
  }

  static double Median(std::vector<EpochTaken> epochs, double EpochTaken::*figure) {
    std::sort(epochs.begin(), epochs.end(), [&](const EpochTaken& one, const EpochTaken& other) {
      return one.*figure < other.*figure;
    });
    return epochs[epochs.size() / 2].*figure;
  }

  // `epoch` gives what was asked for; `asked` becomes that.
  template <typename Epoch>
  EpochTaken Measure(std::vector<Asked>* asked, Epoch epoch) const {
    const int64_t rows_before = graph_->traffic().rows_remote;
    const auto start = std::chrono::steady_clock::now();
    std::vector<Asked> answered = epoch();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    *asked = std::move(answered);
    const auto num_batches = static_cast<double>(asked->size());
    return {num_batches / taken.count(),
            static_cast<double>(graph_->traffic().rows_remote - rows_before) / num_batches};
  }

  static std::vector<Asked> Load(QueryLoader* loader, int64_t epoch) {
    std::vector<Asked> asked;
    const Error started = loader->StartEpoch(epoch);
    if (!started.ok()) Fail(started.message());
    while (const std::unique_ptr<QueryBatch> batch = Must(loader->Next())) {
      asked.push_back({std::move(batch->inputs), batch->draw});
    }
    return asked;
  }

  std::vector<Asked> RunAll(const std::vector<Asked>& asked) const {
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kAtATime; ++t) {
      threads.emplace_back([&] {
        for (size_t i = next++; i < asked.size(); i = next++) {
          Must(prepared_->Run(asked[i].inputs, asked[i].draw));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return asked;
  }

  const std::unique_ptr<Graph> graph_;
  const Query query_;
  const std::unique_ptr<PreparedQuery> prepared_;
  BenchReport& report_;
};

// Finding the nodes that meet a condition, which is done when a query is made.
class FindBenchmark {
 public:
  FindBenchmark(const Served& served, BenchReport* report)
      : graph_(served.Open()), report_(*report) {}

  void Run() {
    const int64_t all = graph_->num_nodes(0);
    Compare("a tenth of the nodes", " < ", all / 10, all / 10);
    Compare("one node in a thousand", " < ", all / 1000, all / 1000);
    Compare("one node", " = ", all / 2, 1);
  }

 private:
  // In turns, since the machine has fast and slow seconds.
  void Compare(const std::string& name, const std::string& op, int64_t number, int64_t expected) {
    constexpr int kTurns = 25;
    std::vector<double> indexed, plain;
    for (int turn = -1; turn < kTurns; ++turn) {
      const double by_index = Find(absl::StrCat("indexed", op, number), expected);
      const double by_reading = Find(absl::StrCat("plain", op, number), expected);
      if (turn < 0) continue;  // the first touches files and connects
      indexed.push_back(by_index);
      plain.push_back(by_reading);
    }
    std::sort(indexed.begin(), indexed.end());
    std::sort(plain.begin(), plain.end());
    const auto add = [&](const std::string& metric, double value, double baseline) {
      report_.Add({"queries", absl::StrCat("find ", name), metric, value, baseline, std::nullopt});
    };
    add("p50 us", indexed[kTurns / 2], plain[kTurns / 2]);
    add("fastest us", indexed.front(), plain.front());
  }

  // Microseconds.
  double Find(const std::string& condition, int64_t expected) const {
    const Result<Query> query =
        Query::Parse(absl::StrCat("some = nodes(node, where=\"", condition, "\")"));
    if (!query.ok()) Fail(query.error().message());
    const auto start = std::chrono::steady_clock::now();
    const Result<std::unique_ptr<PreparedQuery>> prepared =
        PreparedQuery::Make(graph_.get(), *query);
    const auto taken = std::chrono::steady_clock::now() - start;
    if (!prepared.ok()) Fail(prepared.error().message());
    const Result<std::vector<StepCost>> costs = (*prepared)->Explain({});
    if (!costs.ok()) Fail(costs.error().message());
    if (costs->front().nodes != static_cast<double>(expected)) {
      Fail(absl::StrCat(condition, ": found ", costs->front().nodes, " nodes, not ", expected));
    }
    return std::chrono::duration<double, std::micro>(taken).count();
  }

  const std::unique_ptr<Graph> graph_;
  BenchReport& report_;
};

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  const vicinity::benchmark::BenchOptions options =
      vicinity::benchmark::ParseBenchOptions(argc, argv);
  vicinity::benchmark::UseTwoCores();
  const vicinity::benchmark::Served edges(vicinity::benchmark::FourShards(options));
  const vicinity::benchmark::Served nodes(vicinity::benchmark::NodesToFind(options));
  vicinity::benchmark::BenchReport report(options, std::cout);
  vicinity::benchmark::QueriesBenchmark(options, edges, &report).Run();
  vicinity::benchmark::AnswersBenchmark(edges, &report).Run();
  vicinity::benchmark::FindBenchmark(nodes, &report).Run();
}
