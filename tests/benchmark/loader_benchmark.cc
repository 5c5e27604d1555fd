// What a loader's pipeline costs beside the sampling that it is for: minibatches of an R-MAT graph
// whose files are mapped, without columns, so that nothing else is to be done.
//
// Baseline: the same batches by the engine alone (MinibatchSampler in a bare loop), on as many
// threads as the loader samples with.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/graph.h"
#include "client/loader.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"
#include "tests/benchmark/bench_graph.h"
#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {
namespace {

constexpr NodeTypeId kNode{0};
constexpr EdgeTypeId kLink{0};
constexpr int kRepeats = 5;

[[noreturn]] void Fail(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(1);
}

// Nodes that have neighbours, at random, once each.
std::vector<int64_t> DrawSeeds(const Dataset& dataset, int64_t count) {
  const EdgeTable& edges = dataset.shards()[0]->edges(kLink);
  std::vector<int64_t> nodes;
  for (int64_t node = 0; node < edges.num_targets(); ++node) {
    if (edges.degree(node) > 0) nodes.push_back(node);
  }
  std::shuffle(nodes.begin(), nodes.end(), std::mt19937_64(5));
  nodes.resize(std::min<size_t>(nodes.size(), count));
  return nodes;
}

class LoaderBench {
 public:
  LoaderBench(const BenchOptions& options, const Dataset& dataset)
      : dataset_(dataset),
        spec_(SamplingSpec::Uniform(dataset.schema(), {15, 10, 5})),
        full_(options.size == "full"),
        report_(options, std::cout) {
    GraphOptions mapped;
    mapped.directory = dataset.directory();
    Result<std::unique_ptr<Graph>> graph = Graph::Open(mapped);
    if (!graph.ok()) Fail(graph.error().message());
    graph_ = std::move(graph.value());
  }

  void Run() {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    for (const int64_t batch_size : {1024, 64}) {
      seeds_ = DrawSeeds(dataset_, batch_size == 1024 && full_ ? 65'536 : 16'384);
      Measure(batch_size, 1);
      if (cores > 1) Measure(batch_size, cores);
    }
  }

 private:
  int64_t num_batches(int64_t batch_size) const {
    return (static_cast<int64_t>(seeds_.size()) + batch_size - 1) / batch_size;
  }

  int64_t EdgesOfThread(int64_t batch_size, int thread, int num_threads) {
    MinibatchSampler sampler(dataset_.schema(), dataset_.book());
    int64_t edges = 0;
    for (int64_t b = thread; b < num_batches(batch_size); b += num_threads) {
      LocalNeighborSource source(dataset_, {0, 0, static_cast<uint64_t>(b)});
      const auto seeds = absl::MakeConstSpan(seeds_).subspan(b * batch_size, batch_size);
      const auto graph = sampler.Sample(spec_, kNode, seeds, /*want_edge_ids=*/false, &source);
      if (!graph.ok()) Fail(std::string(graph.status().message()));
      edges += graph->num_edges();
    }
    return edges;
  }

  int64_t EngineEdges(int64_t batch_size, int num_threads) {
    std::vector<int64_t> edges(num_threads);
    std::vector<std::thread> threads;
    for (int t = 0; t < num_threads; ++t) {
      threads.emplace_back([&, t] { edges[t] = EdgesOfThread(batch_size, t, num_threads); });
    }
    int64_t all = 0;
    for (int t = 0; t < num_threads; ++t) {
      threads[t].join();
      all += edges[t];
    }
    return all;
  }

  std::unique_ptr<Loader> MakeLoader(int64_t batch_size, int num_threads) {
    LoaderOptions options;
    options.seeds = GlobalIds{seeds_};
    options.sampling = spec_;
    options.batch_size = batch_size;
    options.shuffle = false;
    options.sample_threads = num_threads;
    Result<std::unique_ptr<Loader>> loader = Loader::Create(graph_.get(), options);
    if (!loader.ok()) Fail(loader.error().message());
    return std::move(loader.value());
  }

  static int64_t EdgesOfEpoch(Loader* loader, int64_t epoch) {
    if (const Error error = loader->StartEpoch(epoch); !error.ok()) Fail(error.message());
    int64_t edges = 0;
    while (true) {
      const auto batch = loader->Next();
      if (!batch.ok()) Fail(batch.error().message());
      if (batch.value() == nullptr) return edges;
      edges += batch.value()->graph.num_edges();
    }
  }

  // In turns, each the best of its own, from the first batch asked for to the last one dropped.
  void Measure(int64_t batch_size, int threads) {
    int64_t edges = 0;
    double engine = 1e9;
    double loading = 1e9;
    for (int turn = 0; turn < kRepeats; ++turn) {
      engine =
          std::min(engine, FastestSeconds(1, [&] { edges = EngineEdges(batch_size, threads); }));
      // A loader of its own: of one that goes on, the epoch behind would be made meanwhile.
      const std::unique_ptr<Loader> loader = MakeLoader(batch_size, threads);
      loading = std::min(loading, FastestSeconds(1, [&] {
                           if (EdgesOfEpoch(loader.get(), 0) != edges) Fail("other batches");
                         }));
    }
    report_.Add({"loader",
                 absl::StrCat("batch ", batch_size, ", sampling threads: ", threads),
                 "edges/s",
                 static_cast<double>(edges) / loading,
                 static_cast<double>(edges) / engine,
                 {}});
  }

  const Dataset& dataset_;
  const SamplingSpec spec_;
  const bool full_;
  std::vector<int64_t> seeds_;
  std::unique_ptr<Graph> graph_;
  BenchReport report_;
};

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  using namespace vicinity::benchmark;  // NOLINT
  const BenchOptions options = ParseBenchOptions(argc, argv);
  const auto dataset = OpenRmat(options, /*weights=*/true);
  LoaderBench(options, *dataset).Run();
}
