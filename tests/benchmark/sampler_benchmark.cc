// How fast minibatches are drawn from a mapped graph, on one core and on all.
//
// Baseline: the same minibatches by a plain textbook sampler (std::unordered_map, std::mt19937_64),
// compiled with the same flags. Limit: the machine's memory, by a bare loop that reads random cache
// lines, each asked for well ahead, from as much private memory on huge pages as the lists take.
// What has to come from memory for a batch: two lines for each target (its offsets, its key) and
// each line that some of its drawn neighbours lie in (by weight: and of their table entries). All
// else, the table that numbers nodes among it, can lie in caches.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "sampler/huge_allocator.h"
#include "sampler/local_sampler.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"
#include "tests/benchmark/bench_graph.h"
#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {
namespace {

constexpr NodeTypeId kNode{0};
constexpr EdgeTypeId kLink{0};
constexpr int64_t kBatchSize = 1024;
const std::vector<int64_t> kFanouts = {15, 10, 5};

// Batches of distinct nodes that have neighbours, at random.
std::vector<std::vector<int64_t>> DrawSeeds(const Dataset& dataset, int num_batches) {
  const EdgeTable& edges = dataset.shards()[0]->edges(kLink);
  const int64_t num_nodes = dataset.book().num_nodes(kNode);
  std::mt19937_64 random(5);
  std::vector<std::vector<int64_t>> batches(num_batches);
  for (std::vector<int64_t>& batch : batches) {
    while (static_cast<int64_t>(batch.size()) < kBatchSize) {
      const int64_t node = static_cast<int64_t>(random() % num_nodes);
      if (edges.degree(node) > 0) batch.push_back(node);
    }
  }
  return batches;
}

constexpr int64_t kLineBytes = 64;

struct Work {
  int64_t edges = 0;
  int64_t bytes = 0;  // of memory that the thread took; right where there is one thread
};

// Of this process, not counting mapped files.
int64_t PrivateBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kibibytes = 0;
    if (word == "RssAnon:" && status >> kibibytes) return kibibytes << 10;
  }
  return 0;
}

Work SampleBatches(const Dataset& dataset, const SamplingSpec& spec,
                   const std::vector<std::vector<int64_t>>& batches, size_t first, size_t step) {
  const int64_t bytes_before = PrivateBytes();
  MinibatchSampler sampler(dataset.schema(), dataset.book());
  Work work;
  for (size_t b = first; b < batches.size(); b += step) {
    LocalNeighborSource source(dataset, {.run_seed = 1, .epoch = 0, .batch = b});
    auto graph = sampler.Sample(spec, kNode, batches[b], /*want_edge_ids=*/false, &source);
    if (!graph.ok()) {
      std::cerr << graph.status() << '\n';
      std::exit(1);
    }
    if (b + step >= batches.size()) work.bytes = PrivateBytes() - bytes_before;
    work.edges += graph->num_edges();
  }
  return work;
}

Work SampleOnThreads(const Dataset& dataset, const SamplingSpec& spec,
                     const std::vector<std::vector<int64_t>>& batches, int num_threads) {
  std::vector<Work> parts(num_threads);
  std::vector<std::thread> threads;
  for (int t = 0; t < num_threads; ++t) {
    threads.emplace_back(
        [&, t] { parts[t] = SampleBatches(dataset, spec, batches, t, num_threads); });
  }
  Work work;
  for (int t = 0; t < num_threads; ++t) {
    threads[t].join();
    work.edges += parts[t].edges;
    work.bytes += parts[t].bytes;
  }
  return work;
}

// What a textbook does: one map from node to position, a generator, Floyd's algorithm.
int64_t TextbookBatch(const EdgeTable& edges, const std::vector<int64_t>& seeds,
                      std::mt19937_64* random) {
  std::unordered_map<int64_t, int32_t> position;
  std::vector<int64_t> nodes;
  const auto number = [&](int64_t node) {
    const auto [it, is_new] = position.emplace(node, static_cast<int32_t>(nodes.size()));
    if (is_new) nodes.push_back(node);
    return it->second;
  };
  for (const int64_t seed : seeds) number(seed);
  int64_t num_edges = 0;
  for (const int64_t fanout : kFanouts) {
    std::vector<int64_t> offsets = {0};
    std::vector<int32_t> sources;
    const size_t num_targets = nodes.size();
    for (size_t i = 0; i < num_targets; ++i) {
      const int64_t begin = static_cast<int64_t>(edges.offsets[nodes[i]]);
      const int64_t degree = edges.degree(nodes[i]);
      std::vector<int64_t> chosen;
      for (int64_t j = std::max<int64_t>(0, degree - fanout); j < degree; ++j) {
        int64_t at = j;
        if (degree > fanout) {
          at = static_cast<int64_t>(std::uniform_int_distribution<int64_t>(0, j)(*random));
          if (std::find(chosen.begin(), chosen.end(), at) != chosen.end()) at = j;
        }
        chosen.push_back(at);
      }
      for (const int64_t at : chosen) sources.push_back(number(edges.sources[begin + at]));
      offsets.push_back(static_cast<int64_t>(sources.size()));
    }
    num_edges += static_cast<int64_t>(sources.size());
  }
  return num_edges;
}

double TextbookRate(const Dataset& dataset, const std::vector<std::vector<int64_t>>& batches) {
  const EdgeTable& edges = dataset.shards()[0]->edges(kLink);
  int64_t num_edges = 0;
  const double seconds = FastestSeconds(2, [&] {
    std::mt19937_64 random(1);
    num_edges = 0;
    for (const std::vector<int64_t>& batch : batches) {
      num_edges += TextbookBatch(edges, batch, &random);
    }
  });
  return static_cast<double>(num_edges) / seconds;
}

// Lines that elements of `element_bytes` at the positions of each target lie in, a target's own
// counted once.
int64_t LinesOf(const Block& block, int64_t element_bytes) {
  int64_t lines = 0;
  std::vector<int64_t> of_target;
  for (int64_t target = 0; target < block.num_targets(); ++target) {
    of_target.clear();
    for (int64_t i = block.offsets[target]; i < block.offsets[target + 1]; ++i) {
      of_target.push_back(block.edge_positions[i] * element_bytes / kLineBytes);
    }
    std::sort(of_target.begin(), of_target.end());
    lines += std::unique(of_target.begin(), of_target.end()) - of_target.begin();
  }
  return lines;
}

// What memory has to give for these batches.
int64_t LinesFor(const Dataset& dataset, const SamplingSpec& spec,
                 const std::vector<std::vector<int64_t>>& batches) {
  const bool narrow = dataset.shards()[0]->edges(kLink).sources.narrow() != nullptr;
  MinibatchSampler sampler(dataset.schema(), dataset.book());
  int64_t lines = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    LocalNeighborSource source(dataset, {.run_seed = 1, .epoch = 0, .batch = b});
    const auto graph = sampler.Sample(
        spec, kNode, batches[b], EdgeDetail(/*want_ids=*/false, /*want_positions=*/true), &source);
    if (!graph.ok()) {
      std::cerr << graph.status() << '\n';
      std::exit(1);
    }
    for (const std::vector<Block>& hop : graph->hops) {
      lines += 2 * hop[0].num_targets();
      lines += LinesOf(hop[0], narrow ? sizeof(uint32_t) : sizeof(uint64_t));
      if (!spec.weighted_by.empty()) lines += LinesOf(hop[0], sizeof(AliasEntry));
    }
  }
  return lines;
}

// Reads random lines of `memory`, each some way behind asking for it.
uint64_t ReadAtRandom(absl::Span<const char> memory, int64_t num_reads, uint64_t seed) {
  constexpr int64_t kAhead = 32;
  std::array<const char*, kAhead> asked;
  asked.fill(memory.data());
  const uint64_t num_lines = memory.size() / kLineBytes;
  uint64_t state = 88172645463325252u + seed;
  uint64_t sum = 0;
  for (int64_t i = 0; i < num_reads; ++i) {
    sum += static_cast<uint8_t>(*asked[i % kAhead]);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const auto line =
        static_cast<uint64_t>(static_cast<unsigned __int128>(state) * num_lines >> 64);
    asked[i % kAhead] = memory.data() + line * kLineBytes;
    __builtin_prefetch(asked[i % kAhead]);
  }
  return sum;
}

// Lines a second, by all threads together.
double LineRate(absl::Span<const char> memory, int num_threads) {
  constexpr int64_t kReads = 20'000'000;  // a thread
  std::vector<uint64_t> sums(num_threads);
  const double seconds = FastestSeconds(3, [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < num_threads; ++t) {
      threads.emplace_back([&, t] { sums[t] = ReadAtRandom(memory, kReads, t); });
    }
    for (std::thread& thread : threads) thread.join();
  });
  if (sums[0] == 1) std::cerr << "";  // the reads must not be optimised away
  return static_cast<double>(kReads) * num_threads / seconds;
}

// One figure after the other, each beside the textbook and the memory's limit.
class SamplerBench {
 public:
  SamplerBench(const BenchOptions& options, const Dataset& dataset)
      : dataset_(dataset),
        batches_(DrawSeeds(dataset, options.size == "full" ? 40 : 20)),
        report_(options, std::cout) {}

  void Run() {
    SamplingSpec uniform = SamplingSpec::Uniform(dataset_.schema(), kFanouts);
    SamplingSpec replace = uniform;
    replace.replace = true;
    SamplingSpec weighted = uniform;
    weighted.weighted_by = "weight";
    SamplingSpec weighted_replace = weighted;
    weighted_replace.replace = true;

    // The first, before anything else has taken memory; it warms the page cache, too.
    const int64_t bytes = SampleOnThreads(dataset_, uniform, batches_, 1).bytes;
    report_.Add({"sampler", "memory of a sampling thread and its last batch", "bytes",
                 static_cast<double>(bytes), std::nullopt, std::nullopt});
    textbook_ = TextbookRate(dataset_, batches_);
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    MeasureMemory(1);
    if (cores > 1) MeasureMemory(cores);
    const double one = Measure("uniform", uniform, 1);
    if (cores > 1) {
      const double all = Measure("uniform", uniform, cores);
      report_.Add({"sampler", absl::StrCat("uniform, ", cores, " threads over 1"), "speedup",
                   all / one, std::nullopt, std::nullopt});
    }
    const double with = Measure("with replacement", replace, 1);
    const double by_weight = Measure("weighted", weighted, 1);
    Ratio("weighted", one / by_weight);
    const double with_by_weight = Measure("weighted, with replacement", weighted_replace, 1);
    Ratio("weighted, with replacement", with / with_by_weight);
  }

 private:
  void Ratio(const std::string& name, double ratio) {
    report_.Add(
        {"sampler", name + " over uniform", "time an edge", ratio, std::nullopt, std::nullopt});
  }

  static std::string On(int threads) {
    return absl::StrCat(", ", threads, " thread", threads == 1 ? "" : "s");
  }

  // How many random lines a second memory gives: the limit, and from the lists' own mapped pages.
  void MeasureMemory(int threads) {
    const IdArray& ids = dataset_.shards()[0]->edges(kLink).sources;
    const size_t bytes = static_cast<size_t>(ids.size()) * sizeof(uint32_t);
    const std::vector<char, HugeAllocator<char>> memory(bytes, 1);
    const double limit = line_rate_[threads] = LineRate(memory, threads);
    const double mapped = LineRate({reinterpret_cast<const char*>(ids.narrow()), bytes}, threads);
    report_.Add({"sampler", "random lines of a mapped file" + On(threads), "lines/s", mapped,
                 std::nullopt, limit});
  }

  // Edges a second.
  double Measure(const std::string& name, const SamplingSpec& spec, int threads) {
    Work done;
    const double seconds =
        FastestSeconds(3, [&] { done = SampleOnThreads(dataset_, spec, batches_, threads); });
    const double rate = static_cast<double>(done.edges) / seconds;
    const double lines_an_edge =
        static_cast<double>(LinesFor(dataset_, spec, batches_)) / static_cast<double>(done.edges);
    report_.Add({"sampler", name + On(threads), "edges/s", rate, textbook_,
                 line_rate_[threads] / lines_an_edge});
    return rate;
  }

  const Dataset& dataset_;
  const std::vector<std::vector<int64_t>> batches_;
  BenchReport report_;
  double textbook_ = 0;
  std::map<int, double> line_rate_;  // the limit, by threads
};

void Run(const BenchOptions& options) {
  const std::unique_ptr<Dataset> dataset = OpenRmat(options, /*weights=*/true);
  SamplerBench(options, *dataset).Run();
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
