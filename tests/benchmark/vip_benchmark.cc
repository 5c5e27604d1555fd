// How fast inclusion probabilities of 8 homes are computed, 3 hops, on all cores.
//
// Baseline: one hop of the published recurrence, edge by edge in doubles with a logarithm each,
// over a sixteenth of the nodes, compiled with the same flags, on as many threads. Limit: the same
// number of 32-byte rows read at random, in the order of the graph's edges, and added up.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/vip/huge_array.h"
#include "cache/vip/threads.h"
#include "cache/vip/vip.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/benchmark/bench_graph.h"
#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {
namespace {

constexpr NodeTypeId kNode{0};
constexpr int kHomes = 8;
constexpr int64_t kBatchSize = 1024;
const std::vector<int64_t> kFanouts = {15, 10, 5};

// A tenth of the nodes are seeds, of the home in whose eighth of the graph they are.
std::vector<HomeSeeds> DrawSeeds(const Dataset& dataset) {
  const int64_t num_nodes = dataset.book().num_nodes(kNode);
  std::mt19937_64 random(3);
  std::vector<HomeSeeds> homes(kHomes, HomeSeeds{kNode, {}});
  for (int64_t node = 0; node < num_nodes; ++node) {
    if (random() % 10 == 0) homes[node * kHomes / num_nodes].nodes.push_back(node);
  }
  return homes;
}

// Runs work(begin, end) on ranges of `num_items`.
template <typename Work>
void OnThreads(int num_threads, int64_t num_items, const Work& work) {
  RunThreads(num_threads, [&](int thread) {
    work(num_items * thread / num_threads, num_items * (thread + 1) / num_threads);
  });
}

double TextbookRate(const EdgeTable& edges, int num_threads) {
  constexpr int64_t kEvery = 16;
  const int64_t num_nodes = edges.num_targets();
  std::vector<double> before(num_nodes * kHomes, 1e-3);
  std::vector<double> after(before.size());
  int64_t num_edges = 0;
  for (int64_t u = 0; u < num_nodes; u += kEvery) num_edges += edges.degree(u);
  const double seconds = FastestSeconds(2, [&] {
    OnThreads(num_threads, num_nodes / kEvery, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin * kEvery; u < end * kEvery; u += kEvery) {
        double missed[kHomes] = {};
        for (int64_t i = edges.begin(u); i < edges.begin(u + 1); ++i) {
          const int64_t v = edges.sources[i];
          const double chance = std::min(1.0, 10.0 / static_cast<double>(edges.degree(v)));
          for (int home = 0; home < kHomes; ++home) {
            missed[home] += std::log1p(-chance * before[v * kHomes + home]);
          }
        }
        for (int home = 0; home < kHomes; ++home) {
          after[u * kHomes + home] = -std::expm1(missed[home]);
        }
      }
    });
  });
  return static_cast<double>(num_edges) / seconds;
}

double GatherRate(const EdgeTable& edges, int num_threads) {
  constexpr int64_t kAhead = 24;
  auto made = HugeArray::Create(edges.num_targets() * kHomes);
  if (!made.ok()) {
    std::cerr << made.status() << '\n';
    std::exit(1);
  }
  float* const rows = made->data();
  std::fill(rows, rows + made->size(), 1.0f);
  const uint32_t* const ids = edges.sources.narrow();
  const int64_t num_ids = edges.sources.size();
  std::vector<float> sums(64 * num_threads);
  const double seconds = FastestSeconds(3, [&] {
    RunThreads(num_threads, [&](int thread) {
      float sum[kHomes] = {};
      const int64_t end = num_ids * (thread + 1) / num_threads;
      for (int64_t i = num_ids * thread / num_threads; i < end; ++i) {
        if (i + kAhead < num_ids) __builtin_prefetch(rows + int64_t{ids[i + kAhead]} * kHomes);
        const float* const row = rows + int64_t{ids[i]} * kHomes;
        for (int home = 0; home < kHomes; ++home) sum[home] += row[home];
      }
      std::copy(sum, sum + kHomes, &sums[64 * thread]);
    });
  });
  if (sums[0] == 1) std::cerr << "";  // the reads must not be optimised away
  return static_cast<double>(num_ids) / seconds;
}

void Run(const BenchOptions& options) {
  const std::unique_ptr<Dataset> dataset = OpenRmat(options);
  const EdgeTable& edges = dataset->shards()[0]->edges(EdgeTypeId{0});
  const std::vector<HomeSeeds> homes = DrawSeeds(*dataset);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const double limit = GatherRate(edges, cores);  // warms the page cache too
  const double textbook = TextbookRate(edges, cores);

  VipOptions vip;
  vip.sampling = SamplingSpec::Uniform(dataset->schema(), kFanouts);
  vip.batch_size = kBatchSize;
  vip.num_threads = cores;
  const double seconds = FastestSeconds(3, [&] {
    auto scores = ComputeVip(*dataset, homes, vip, NoProgress());
    if (!scores.ok()) {
      std::cerr << scores.status() << '\n';
      std::exit(1);
    }
  });
  const double edge_hops = static_cast<double>(edges.num_edges()) * 3;
  BenchReport report(options, std::cout);
  const std::string name = absl::StrCat("8 homes, 3 hops, ", cores, " threads");
  report.Add({"vip", name, "edge-hops/s", edge_hops / seconds, textbook, limit});
  report.Add({"vip", name, "s", seconds, edge_hops / textbook, edge_hops / limit});
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
