// What ways of sampling beyond plain neighbours cost, on a mapped graph and behind a server on the
// loopback device: negatives of links, batches without the edges of their links (an R-MAT graph),
// neighbours by LABOR (both graphs), and by time (a random graph of lists of 20 edges, half of
// which are early enough).
//
// Baseline of each: the plain way in the same run. Negatives: pairs as they are drawn, of which
// some are edges. Batches: the same batches with their links' edges in them. By time: the same
// seeds' trees at any time, of the edge. By LABOR: independent draws, of the edge, and of the nodes
// that a batch has. There is no limit: what bounds them is the memory's or the
// network's latency, which the baselines meet as well.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/loading/batch_sampler.h"
#include "client/negatives/negative_sampler.h"
#include "client/shards/mapped_shard.h"
#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/sampled_graph.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/bench_graph.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/transfer_turns.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

constexpr EdgeTypeId kLinks{0};
constexpr int64_t kBatchSize = 1024;
constexpr int64_t kNegatives = 5;  // a link
const std::vector<int64_t> kFanouts = {15, 10};
constexpr int64_t kChunkBytes = 256 << 10;

// A shard of somebody else's, for a router of one's own.
class Borrowed final : public AnswersAlike<Borrowed> {
 public:
  explicit Borrowed(ShardAccess* shard) : shard_(shard) {}
  bool remote() const override { return shard_->remote(); }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& context, Done done) {
    shard_->Ask(request, context, std::move(done));
  }

 private:
  ShardAccess* const shard_;
};

// Edges of the graph, at random.
std::vector<TypedSeeds> SomeLinks(const Dataset& dataset) {
  const EdgeTable& edges = dataset.shards()[0]->edges(kLinks);
  std::mt19937_64 random(3);
  std::vector<TypedSeeds> links = {{NodeTypeId{0}, {}}, {NodeTypeId{0}, {}}};
  while (static_cast<int64_t>(links[0].ids.size()) < kBatchSize) {
    const auto target = static_cast<int64_t>(random() % edges.num_targets());
    if (edges.degree(target) == 0) continue;
    const auto at = edges.begin(target) + static_cast<int64_t>(random() % edges.degree(target));
    links[0].ids.push_back(static_cast<int64_t>(edges.sources[at]));
    links[1].ids.push_back(target);
  }
  return links;
}

// Seconds that one of `rounds` batches takes, of the best of five times as many.
template <typename Draw>
double SecondsOf(int rounds, const Draw& draw) {
  return FastestSeconds(5,
                        [&] {
                          for (int batch = 0; batch < rounds; ++batch) Check(draw(batch));
                        }) /
         rounds;
}

class Ways {
 public:
  Ways(std::string where, const ShardRouter& router, std::vector<TypedSeeds> links, int rounds,
       BenchReport* report)
      : where_(std::move(where)),
        router_(router),
        links_(std::move(links)),
        rounds_(rounds),
        report_(report) {}

  void RunOnLinks() {
    Negatives("uniform", 0);
    Negatives("by in-degree^0.75", 0.75);
    Exclusion();
    Labor("neighbours", SamplingSpec::Uniform(router_.schema(), kFanouts));
  }

  void RunByTime() {
    SamplingSpec spec = SamplingSpec::Uniform(router_.schema(), kFanouts);
    spec.disjoint = true;
    const double any = NanosecondsAnEdge(spec);
    for (const std::string where : {"time <= 0", "time = 3", "time = 3 and weight > 0.1"}) {
      SamplingSpec filtered = spec;
      filtered.where = where;
      report_->Add({"samplers",
                    where_ + ", neighbours where " + where,
                    "ns/edge",
                    NanosecondsAnEdge(filtered),
                    any,
                    {}});
      report_->Add({"samplers",
                    where_ + ", a target's neighbours where " + where,
                    "ns/target",
                    NanosecondsATarget(filtered),
                    NanosecondsATarget(spec),
                    {}});
    }
    spec.time_column = "time";
    report_->Add({"samplers",
                  where_ + ", neighbours until a time",
                  "ns/edge",
                  NanosecondsAnEdge(spec),
                  any,
                  {}});
    SamplingSpec path = spec;
    path.time_follows = TimeFollows::kPath;
    path.time_window = 4;
    report_->Add({"samplers",
                  where_ + ", neighbours of a window along paths in time",
                  "ns/edge",
                  NanosecondsAnEdge(path),
                  any,
                  {}});
    spec.weighted_by = "weight";
    report_->Add({"samplers",
                  where_ + ", neighbours by weight until a time",
                  "ns/edge",
                  NanosecondsAnEdge(spec),
                  any,
                  {}});
    spec.weighted_by.clear();
    spec.temporal_strategy = TemporalStrategy::kLast;
    report_->Add({"samplers",
                  where_ + ", the last until a time",
                  "ns/edge",
                  NanosecondsAnEdge(spec),
                  any,
                  {}});
    spec = SamplingSpec::Uniform(router_.schema(), kFanouts);
    Labor("neighbours", spec);
    spec.weighted_by = "weight";
    Labor("neighbours by weight", spec);
  }

 private:
  void Labor(const std::string& what, SamplingSpec spec) {
    const double independent = NanosecondsAnEdge(spec);
    const double num_nodes = NodesABatch(spec);
    spec.draws = Draws::kLabor;
    report_->Add({"samplers",
                  where_ + ", " + what + " by LABOR",
                  "ns/edge",
                  NanosecondsAnEdge(spec),
                  independent,
                  {}});
    report_->Add({"samplers",
                  where_ + ", nodes of " + what + " by LABOR",
                  "nodes/batch",
                  NodesABatch(spec),
                  num_nodes,
                  {}});
  }

  double NodesABatch(const SamplingSpec& spec) {
    RoutedBatchSampler sampler(router_, spec, EdgeDetail());
    size_t nodes = 0;
    for (int batch = 0; batch < rounds_; ++batch) {
      auto graph = sampler.Sample({links_[1]}, {1, 0, static_cast<uint64_t>(batch)}, nullptr);
      Check(graph.status());
      nodes += graph->nodes[0].ids.size();
    }
    return static_cast<double>(nodes) / rounds_;
  }

  std::unique_ptr<NegativeSampler> Sampler(bool exact, double degree_power) {
    NegativeOptions options;
    options.mode = NegativeMode::kTriplet;
    options.amount = kNegatives;
    options.exact = exact;
    options.degree_power = degree_power;
    auto sampler = NegativeSampler::Make(router_, kLinks, options);
    Check(sampler.status());
    return *std::move(sampler);
  }

  double NanosecondsANegative(bool exact, double degree_power) {
    const std::unique_ptr<NegativeSampler> sampler = Sampler(exact, degree_power);
    return SecondsOf(rounds_,
                     [&](int batch) {
                       const MinibatchDraw draw{1, 0, static_cast<uint64_t>(batch)};
                       return sampler->Draw(links_[0].ids, draw, nullptr).status();
                     }) *
           1e9 / static_cast<double>(kBatchSize * kNegatives);
  }

  void Negatives(const std::string& how, double degree_power) {
    const double any = NanosecondsANegative(false, degree_power);
    report_->Add({"samplers",
                  where_ + ", exact negatives " + how,
                  "ns/negative",
                  NanosecondsANegative(true, degree_power),
                  any,
                  {}});
    const double batch_of_any = MillisecondsABatch(Sampler(false, degree_power).get());
    report_->Add({"samplers",
                  where_ + ", links with exact negatives " + how,
                  "ms/batch",
                  MillisecondsABatch(Sampler(true, degree_power).get()),
                  batch_of_any,
                  {}});
  }

  double MillisecondsABatch(const NegativeSampler* negatives, ExcludedTypes excluded = {}) {
    std::unique_ptr<BatchSampler> sampler = std::make_unique<RoutedBatchSampler>(
        router_, SamplingSpec::Uniform(router_.schema(), kFanouts), EdgeDetail(), excluded);
    if (negatives != nullptr) {
      sampler = std::make_unique<NegativeBatchSampler>(*negatives, std::move(sampler));
    }
    return SecondsOf(rounds_,
                     [&](int batch) {
                       const MinibatchDraw draw{1, 0, static_cast<uint64_t>(batch)};
                       return sampler->Sample(links_, draw, nullptr).status();
                     }) *
           1e3;
  }

  // Of the seeds alone: targets of several hops are fewer where fewer edges are left.
  double NanosecondsATarget(SamplingSpec spec) {
    spec.fanouts.resize(1);
    RoutedBatchSampler sampler(router_, spec, EdgeDetail());
    return SecondsOf(rounds_,
                     [&](int batch) {
                       return sampler
                           .Sample({links_[1]}, {1, 0, static_cast<uint64_t>(batch)}, nullptr)
                           .status();
                     }) *
           1e9 / static_cast<double>(kBatchSize);
  }

  double NanosecondsAnEdge(const SamplingSpec& spec) {
    RoutedBatchSampler sampler(router_, spec, EdgeDetail());
    std::vector<TypedSeeds> seeds = {links_[1]};
    if (!spec.time_column.empty()) seeds[0].times.assign(seeds[0].ids.size(), 0);
    int64_t edges = 0;  // of the last of the turns
    const double seconds = SecondsOf(rounds_, [&](int batch) {
      auto graph = sampler.Sample(seeds, {1, 0, static_cast<uint64_t>(batch)}, nullptr);
      if (batch == 0) edges = 0;
      if (graph.ok()) edges += graph->num_edges();
      return graph.status();
    });
    return seconds * rounds_ * 1e9 / static_cast<double>(edges);
  }

  void Exclusion() {
    const double with = MillisecondsABatch(nullptr);
    report_->Add({"samplers",
                  where_ + ", links without their edges and those back",
                  "ms/batch",
                  MillisecondsABatch(nullptr, {kLinks, kLinks}),
                  with,
                  {}});
  }

  const std::string where_;
  const ShardRouter& router_;
  const std::vector<TypedSeeds> links_;
  const int rounds_;
  BenchReport* const report_;
};

ShardRouter RouterOf(const Dataset& dataset, std::unique_ptr<ShardAccess> shard) {
  std::vector<std::unique_ptr<ShardAccess>> shards;
  shards.push_back(std::move(shard));
  return ShardRouter(dataset.schema(), dataset.book(), std::move(shards));
}

std::unique_ptr<Dataset> OpenTimed(const std::string& directory) {
  testing::RandomGraphOptions options;
  options.num_nodes = 100'000;
  options.num_edges = 2'000'000;
  options.feature_width = 0;
  options.weights = true;
  options.times = true;
  Check(testing::WriteGraph(testing::RandomGraph(options), directory));
  auto dataset = Dataset::Open(directory);
  Check(dataset.status());
  return *std::move(dataset);
}

// One graph, mapped and behind a server, which is to be started before gRPC is used here.
class Both {
 public:
  explicit Both(std::unique_ptr<Dataset> dataset)
      : dataset_(std::move(dataset)), server_(StartVicinity(dataset_->directory(), kChunkBytes)) {}

  void Run(void (Ways::*run)(), int rounds, BenchReport* report) {
    VicinityLink link(server_->port(), *dataset_, proto::PRECISION_STORED);
    TrafficCounters traffic;
    const ShardRouter mapped =
        RouterOf(*dataset_, MakeMappedShard(*dataset_, *dataset_->shards()[0], &traffic, nullptr));
    const ShardRouter remote = RouterOf(*dataset_, std::make_unique<Borrowed>(link.shard()));
    (Ways("mapped", mapped, SomeLinks(*dataset_), rounds, report).*run)();
    (Ways("remote", remote, SomeLinks(*dataset_), rounds, report).*run)();
  }

 private:
  const std::unique_ptr<Dataset> dataset_;
  const std::unique_ptr<OtherProcess> server_;
};

void Run(const BenchOptions& options) {
  UseTwoCores();
  const int rounds = options.size == "full" ? 50 : 20;
  const testing::TempDir folder;
  Both rmat(OpenRmat(options));
  Both timed(OpenTimed(folder.File("timed")));
  BenchReport report(options, std::cout);
  rmat.Run(&Ways::RunOnLinks, rounds, &report);
  timed.Run(&Ways::RunByTime, rounds, &report);
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
