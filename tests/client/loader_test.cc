#include "client/loader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/graph.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

LoaderOptions Options(const Graph& graph) {
  LoaderOptions options;
  options.sampling = SamplingSpec::Uniform(graph.schema(), {3, 2});
  options.batch_size = 10;
  options.columns = {{"user", "features"}};
  return options;
}

TEST_CASE("a loader gives an epoch's batches and then null", "[loader]") {
  const RoutedGraph on_disk(testing::TypedGraph(300, 80, 20, 6), 2);
  GraphOptions directory;
  directory.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(directory));
  const std::unique_ptr<Loader> loader = Value(Loader::Create(graph.get(), Options(*graph)));
  CHECK(loader->num_seeds() ==
        static_cast<int64_t>(Value(graph->NodesOf(0, Split::kTrain)).size()));
  CHECK(loader->Next().error().code() == ErrorCode::kFailedPrecondition);
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    REQUIRE(loader->StartEpoch(epoch).ok());
    int64_t seeds = 0;
    int64_t steps = 0;
    while (const std::unique_ptr<MiniBatch> batch = Value(loader->Next())) {
      CHECK(batch->step == steps++);
      seeds += static_cast<int64_t>(batch->graph.seeds[0].positions.size());
      REQUIRE(batch->columns.size() == 1);
      CHECK(batch->columns[0].num_rows == static_cast<int64_t>(batch->graph.nodes[0].ids.size()));
    }
    CHECK(steps == loader->steps_per_epoch());
    CHECK(seeds == loader->num_seeds());
    CHECK(Value(loader->Next()) == nullptr);  // it stays ended
  }
  CHECK(loader->stats().stages.size() == 6);
  CHECK(loader->stats().rows_remote == 0);
}

TEST_CASE("a loader's seeds may be a list of the user's, dealt out like those of a split",
          "[loader]") {
  const RoutedGraph on_disk(testing::TypedGraph(300, 80, 20, 6), 2);
  GraphOptions directory;
  directory.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(directory));
  LoaderOptions options = Options(*graph);
  options.batch_size = 4;
  GlobalIds listed;
  for (int64_t node = 0; node < 300; node += 7) listed.ids.push_back(node);
  options.seeds = listed;
  options.num_trainers = 2;
  options.seed_policy = GENERATE(SeedPolicy::kGlobal, SeedPolicy::kHome);
  std::set<int64_t> dealt;
  int64_t steps = -1;
  for (options.trainer = 0; options.trainer < 2; ++options.trainer) {
    const std::unique_ptr<Loader> loader = Value(Loader::Create(graph.get(), options));
    if (steps < 0) steps = loader->steps_per_epoch();
    CHECK(loader->steps_per_epoch() == steps);
    REQUIRE(loader->StartEpoch(0).ok());
    while (const std::unique_ptr<MiniBatch> batch = Value(loader->Next())) {
      for (const int64_t seed : batch->graph.seeds[0].positions) {
        dealt.insert(batch->graph.nodes[0].ids[seed]);
      }
    }
  }
  CHECK(dealt == std::set<int64_t>(listed.ids.begin(), listed.ids.end()));
  options.trainer = 0;
  listed.ids.push_back(300);
  options.seeds = listed;
  CHECK(Loader::Create(graph.get(), options).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("each loader's stages are among its graph's metrics while it is there", "[loader]") {
  const RoutedGraph on_disk(testing::TypedGraph(300, 80, 20, 6), 2);
  GraphOptions directory;
  directory.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(directory));
  const auto trained = [&](const std::string& loader) {
    for (const MetricValue& metric : graph->metrics()) {
      if (metric.name != "vicinity_loader_stage_batch_seconds_count") continue;
      if (metric.labels[0].second == loader && metric.labels[1].second == "train") {
        return metric.value;
      }
    }
    return -1.0;
  };
  std::unique_ptr<Loader> first = Value(Loader::Create(graph.get(), Options(*graph)));
  const std::unique_ptr<Loader> second = Value(Loader::Create(graph.get(), Options(*graph)));
  REQUIRE(first->StartEpoch(0).ok());
  Value(first->Next());
  CHECK(trained("0") == 1);
  CHECK(trained("1") == 0);
  first.reset();
  CHECK(trained("0") == -1);
  CHECK(trained("1") == 0);
}

TEST_CASE("a loader that cannot be made says why", "[loader]") {
  const RoutedGraph on_disk(testing::TypedGraph(300, 80, 20, 6), 2);
  GraphOptions directory;
  directory.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(directory));
  LoaderOptions options = Options(*graph);
  options.seed_type = "author";
  CHECK(Loader::Create(graph.get(), options).error().code() == ErrorCode::kNotFound);
  options = Options(*graph);
  options.batch_size = 0;
  CHECK(Loader::Create(graph.get(), options).error().code() == ErrorCode::kInvalidArgument);
  options = Options(*graph);
  options.cache = CachePolicy::kVip;
  options.cache_rows = 10;
  options.ranking = "nobody made it";
  options.columns = {{"user", "features"}};
  CHECK(Loader::Create(graph.get(), options).error().code() == ErrorCode::kNotFound);
  const std::unique_ptr<Loader> loader = Value(Loader::Create(graph.get(), Options(*graph)));
  CHECK(loader->StartEpoch(-1).code() == ErrorCode::kInvalidArgument);
  CHECK(loader->StartEpoch(0, -1).code() == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
