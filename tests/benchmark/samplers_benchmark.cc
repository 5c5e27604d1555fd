// What ways of sampling beyond plain neighbours cost, on a mapped graph and behind a server on the
// loopback device: negatives of links, batches without the edges of their links (an R-MAT graph),
// neighbours by LABOR (both graphs), by time (a random graph of lists of 20 edges, half of
// which are early enough), and along 30 relations, most of whose lists are empty.
//
// Baseline of each: the plain way in the same run. Negatives: pairs as they are drawn, of which
// some are edges. Batches: the same batches with their links' edges in them. By time: the same
// seeds' trees at any time, of the edge. By LABOR: independent draws, of the edge, and of the nodes
// that a batch has. Along relations: the same edges as one relation, of the edge. There is no
// limit: what bounds them is the memory's or the network's latency, which the baselines meet as
// well. A way and its baseline take turns.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/loading/batch_sampler.h"
#include "client/negatives/negative_sampler.h"
#include "client/shards/mapped_shard.h"
#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
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
constexpr int kTurns = 5;

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

MinibatchDraw DrawOf(int batch) { return {1, 0, static_cast<uint64_t>(batch)}; }

// Ways to draw a batch, which say how much that was: edges here.
auto EdgesOf(const ShardRouter& router, const SamplingSpec& spec, const TypedSeeds& targets) {
  std::vector<TypedSeeds> seeds = {targets};
  if (!spec.time_column.empty()) seeds[0].times.assign(seeds[0].ids.size(), 0);
  return [seeds, sampler = std::make_unique<RoutedBatchSampler>(router, spec, EdgeDetail())](
             int batch) -> absl::StatusOr<int64_t> {
    VICINITY_ASSIGN_OR_RETURN(const SampledGraph graph,
                              sampler->Sample(seeds, DrawOf(batch), nullptr));
    return graph.num_edges();
  };
}

// Targets. One hop: those of several are fewer where fewer edges are left.
auto TargetsOf(const ShardRouter& router, SamplingSpec spec, const TypedSeeds& targets) {
  spec.fanouts.resize(1);
  return [targets, sampler = std::make_unique<RoutedBatchSampler>(router, spec, EdgeDetail())](
             int batch) -> absl::StatusOr<int64_t> {
    VICINITY_RETURN_IF_ERROR(sampler->Sample({targets}, DrawOf(batch), nullptr).status());
    return static_cast<int64_t>(targets.ids.size());
  };
}

std::unique_ptr<NegativeSampler> SamplerOf(const ShardRouter& router, bool exact,
                                           double degree_power) {
  NegativeOptions options;
  options.mode = NegativeMode::kTriplet;
  options.amount = kNegatives;
  options.exact = exact;
  options.degree_power = degree_power;
  auto sampler = NegativeSampler::Make(router, kLinks, options);
  Check(sampler.status());
  return *std::move(sampler);
}

// Negatives.
auto NegativesOf(const NegativeSampler& sampler, const TypedSeeds& sources) {
  return [&sampler, &sources](int batch) -> absl::StatusOr<int64_t> {
    VICINITY_RETURN_IF_ERROR(sampler.Draw(sources.ids, DrawOf(batch), nullptr).status());
    return static_cast<int64_t>(sources.ids.size()) * kNegatives;
  };
}

// Batches of links.
auto BatchesOf(const ShardRouter& router, const std::vector<TypedSeeds>& links,
               const NegativeSampler* negatives, ExcludedTypes excluded = {}) {
  std::unique_ptr<BatchSampler> sampler = std::make_unique<RoutedBatchSampler>(
      router, SamplingSpec::Uniform(router.schema(), kFanouts), EdgeDetail(), excluded);
  if (negatives != nullptr) {
    sampler = std::make_unique<NegativeBatchSampler>(*negatives, std::move(sampler));
  }
  return [&links, sampler = std::move(sampler)](int batch) -> absl::StatusOr<int64_t> {
    VICINITY_RETURN_IF_ERROR(sampler->Sample(links, DrawOf(batch), nullptr).status());
    return 1;
  };
}

// Of one of what `way` draws, over `rounds` batches.
template <typename Way>
double SecondsEach(int rounds, const Way& way) {
  int64_t drawn = 0;
  const double seconds = FastestSeconds(1, [&] {
    for (int batch = 0; batch < rounds; ++batch) {
      const absl::StatusOr<int64_t> amount = way(batch);
      Check(amount.status());
      drawn += *amount;
    }
  });
  return seconds / static_cast<double>(drawn);
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
    Compare("links without their edges and those back", "ms/batch", 1e3,
            BatchesOf(router_, links_, nullptr, {kLinks, kLinks}),
            BatchesOf(router_, links_, nullptr));
    Labor("neighbours", SamplingSpec::Uniform(router_.schema(), kFanouts));
  }

  // `as_one`: of the graph with the same edges, all of one relation.
  void RunBesideOne(const ShardRouter& as_one) {
    const auto spec = [](const ShardRouter& router) {
      return SamplingSpec::Uniform(router.schema(), kFanouts);
    };
    Compare("neighbours along 30 relations", "ns/edge", 1e9,
            EdgesOf(router_, spec(router_), links_[1]), EdgesOf(as_one, spec(as_one), links_[1]));
  }

  void RunByTime() {
    SamplingSpec any = SamplingSpec::Uniform(router_.schema(), kFanouts);
    any.disjoint = true;
    for (const std::string where : {"time <= 0", "time = 3", "time = 3 and weight > 0.1"}) {
      SamplingSpec filtered = any;
      filtered.where = where;
      CompareEdges("neighbours where " + where, filtered, any);
      Compare("a target's neighbours where " + where, "ns/target", 1e9,
              TargetsOf(router_, filtered, links_[1]), TargetsOf(router_, any, links_[1]));
    }
    SamplingSpec timed = any;
    timed.time_column = "time";
    CompareEdges("neighbours until a time", timed, any);
    SamplingSpec path = timed;
    path.time_follows = TimeFollows::kPath;
    path.time_window = 4;
    CompareEdges("neighbours of a window along paths in time", path, any);
    SamplingSpec weighted = timed;
    weighted.weighted_by = "weight";
    CompareEdges("neighbours by weight until a time", weighted, any);
    SamplingSpec last = timed;
    last.temporal_strategy = TemporalStrategy::kLast;
    CompareEdges("the last until a time", last, any);
    SamplingSpec joined = SamplingSpec::Uniform(router_.schema(), kFanouts);
    Labor("neighbours", joined);
    joined.weighted_by = "weight";
    Labor("neighbours by weight", joined);
  }

 private:
  // What one of what they draw takes, in seconds times `scale`: of the fastest of their turns.
  template <typename Way, typename Baseline>
  void Compare(const std::string& what, const std::string& metric, double scale, const Way& way,
               const Baseline& baseline) {
    double of_way = std::numeric_limits<double>::infinity();
    double of_baseline = of_way;
    for (int turn = 0; turn < kTurns; ++turn) {
      of_way = std::min(of_way, SecondsEach(rounds_, way));
      of_baseline = std::min(of_baseline, SecondsEach(rounds_, baseline));
    }
    report_->Add(
        {"samplers", where_ + ", " + what, metric, of_way * scale, of_baseline * scale, {}});
  }

  void CompareEdges(const std::string& what, const SamplingSpec& spec,
                    const SamplingSpec& baseline) {
    Compare(what, "ns/edge", 1e9, EdgesOf(router_, spec, links_[1]),
            EdgesOf(router_, baseline, links_[1]));
  }

  void Labor(const std::string& what, const SamplingSpec& independent) {
    SamplingSpec labor = independent;
    labor.draws = Draws::kLabor;
    CompareEdges(what + " by LABOR", labor, independent);
    report_->Add({"samplers",
                  where_ + ", nodes of " + what + " by LABOR",
                  "nodes/batch",
                  NodesABatch(labor),
                  NodesABatch(independent),
                  {}});
  }

  double NodesABatch(const SamplingSpec& spec) {
    RoutedBatchSampler sampler(router_, spec, EdgeDetail());
    size_t nodes = 0;
    for (int batch = 0; batch < rounds_; ++batch) {
      auto graph = sampler.Sample({links_[1]}, DrawOf(batch), nullptr);
      Check(graph.status());
      nodes += graph->nodes[0].ids.size();
    }
    return static_cast<double>(nodes) / rounds_;
  }

  void Negatives(const std::string& how, double degree_power) {
    const std::unique_ptr<NegativeSampler> exact = SamplerOf(router_, true, degree_power);
    const std::unique_ptr<NegativeSampler> any = SamplerOf(router_, false, degree_power);
    Compare("exact negatives " + how, "ns/negative", 1e9, NegativesOf(*exact, links_[0]),
            NegativesOf(*any, links_[0]));
    Compare("links with exact negatives " + how, "ms/batch", 1e3,
            BatchesOf(router_, links_, exact.get()), BatchesOf(router_, links_, any.get()));
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

std::unique_ptr<Dataset> Write(const testing::MemoryGraph& graph, const std::string& directory) {
  Check(testing::WriteGraph(graph, directory));
  auto dataset = Dataset::Open(directory);
  Check(dataset.status());
  return *std::move(dataset);
}

std::unique_ptr<Dataset> OpenTimed(const std::string& directory) {
  testing::RandomGraphOptions options;
  options.num_nodes = 100'000;
  options.num_edges = 2'000'000;
  options.feature_width = 0;
  options.weights = true;
  options.times = true;
  return Write(testing::RandomGraph(options), directory);
}

constexpr int kNumRelations = 30;

// Of about as many nodes and edges as WordNet.
testing::MemoryGraph ManyRelations() {
  testing::RandomGraphOptions options;
  options.num_nodes = 117'659;
  options.num_edges = 387'201;
  options.feature_width = 0;
  return testing::RandomGraph(options);
}

std::unique_ptr<Dataset> OpenAsOne(const std::string& directory) {
  return Write(ManyRelations(), directory);
}

std::unique_ptr<Dataset> OpenTyped(const std::string& directory) {
  testing::MemoryGraph graph = ManyRelations();
  testing::SplitEdges(kNumRelations, &graph);
  return Write(graph, directory);
}

// A graph's routers, mapped and behind its server.
struct BothRouters {
  BothRouters(const Dataset& dataset, int port)
      : link(port, dataset, proto::PRECISION_STORED),
        mapped(
            RouterOf(dataset, MakeMappedShard(dataset, *dataset.shards()[0], &traffic, nullptr))),
        remote(RouterOf(dataset, std::make_unique<Borrowed>(link.shard()))) {}

  VicinityLink link;
  TrafficCounters traffic;
  const ShardRouter mapped;
  const ShardRouter remote;
};

// One graph, mapped and behind a server, which is to be started before gRPC is used here.
class Both {
 public:
  explicit Both(std::unique_ptr<Dataset> dataset)
      : dataset_(std::move(dataset)), server_(StartVicinity(dataset_->directory(), kChunkBytes)) {}

  const Dataset& dataset() const { return *dataset_; }
  std::unique_ptr<BothRouters> Connect() const {
    return std::make_unique<BothRouters>(*dataset_, server_->port());
  }

  void Run(void (Ways::*run)(), int rounds, BenchReport* report) {
    const std::unique_ptr<BothRouters> routers = Connect();
    (Ways("mapped", routers->mapped, SomeLinks(*dataset_), rounds, report).*run)();
    (Ways("remote", routers->remote, SomeLinks(*dataset_), rounds, report).*run)();
  }

 private:
  const std::unique_ptr<Dataset> dataset_;
  const std::unique_ptr<OtherProcess> server_;
};

void RunRelations(const Both& typed, const Both& as_one, int rounds, BenchReport* report) {
  const std::unique_ptr<BothRouters> of_typed = typed.Connect();
  const std::unique_ptr<BothRouters> of_one = as_one.Connect();
  const std::vector<TypedSeeds> links = SomeLinks(as_one.dataset());
  Ways("mapped", of_typed->mapped, links, rounds, report).RunBesideOne(of_one->mapped);
  Ways("remote", of_typed->remote, links, rounds, report).RunBesideOne(of_one->remote);
}

void Run(const BenchOptions& options) {
  UseTwoCores();
  const int rounds = options.size == "full" ? 50 : 20;
  const testing::TempDir folder;
  Both rmat(OpenRmat(options));
  Both timed(OpenTimed(folder.File("timed")));
  const Both typed(OpenTyped(folder.File("typed")));
  const Both as_one(OpenAsOne(folder.File("as_one")));
  BenchReport report(options, std::cout);
  rmat.Run(&Ways::RunOnLinks, rounds, &report);
  timed.Run(&Ways::RunByTime, rounds, &report);
  RunRelations(typed, as_one, rounds, &report);
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
