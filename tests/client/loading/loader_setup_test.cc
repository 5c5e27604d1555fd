#include "client/loading/loader_setup.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "client/options/options_table.h"
#include "client/shards/lookups.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

LoaderOptions Options(const RoutedGraph& graph) {
  LoaderOptions options;
  options.seed_type = "user";
  options.sampling = SamplingSpec::Uniform(graph.router().schema(), {3, 2});
  options.batch_size = 10;
  return options;
}

TEST_CASE("options that cannot be are refused", "[loader_setup]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4);
  VICINITY_CHECK_OK(CheckLoaderOptions(graph.router(), Options(graph)));
  const std::vector<std::function<void(LoaderOptions*)>> mistakes = {
      [](LoaderOptions* o) { o->batch_size = 0; },
      [](LoaderOptions* o) { o->num_trainers = 0; },
      [](LoaderOptions* o) { o->trainer = 1; },
      [](LoaderOptions* o) { o->trainer = -1; },
      [](LoaderOptions* o) { o->sample_threads = 0; },
      [](LoaderOptions* o) { o->fetch_threads = 1 << 20; },
      [](LoaderOptions* o) { o->window_bytes = -1; },
      [](LoaderOptions* o) { o->cache_rows = -1; },
      [](LoaderOptions* o) { o->cache_bytes = -1; },
      [](LoaderOptions* o) { o->sample_ahead = -1; },
      [](LoaderOptions* o) { o->fetch_ahead = -1; },
      [](LoaderOptions* o) { o->batch_timeout = std::chrono::milliseconds(0); },
      [](LoaderOptions* o) { o->batch_timeout = std::chrono::hours(24 * 366); },
      [](LoaderOptions* o) { o->sampling.fanouts.clear(); },
      [](LoaderOptions* o) { o->sampling.fanouts[0][0] = -2; },
      [](LoaderOptions* o) { o->sampling.fanouts[1][0] = kMaxFanout + 1; },
      [](LoaderOptions* o) { o->device.batches = 0; },
      [](LoaderOptions* o) { o->device.staging_bytes = 0; },
      [](LoaderOptions* o) { o->device.home_bytes = -1; },
      [](LoaderOptions* o) { o->homes = {{4}}; },
      [](LoaderOptions* o) {
        o->seed_policy = SeedPolicy::kHome;
        o->homes = {{}};
      },
      [](LoaderOptions* o) {
        o->seed_policy = SeedPolicy::kHome;
        o->homes = {{0}};
      },
      [](LoaderOptions* o) {
        o->homes = {{0, 1, 2, 3}, {0}};
      },
  };
  for (size_t i = 0; i < mistakes.size(); ++i) {
    INFO("mistake " << i);
    LoaderOptions options = Options(graph);
    mistakes[i](&options);
    VICINITY_CHECK_CODE(CheckLoaderOptions(graph.router(), options),
                        absl::StatusCode::kInvalidArgument);
  }
}

// One below what the options' table says is the least.
void SetBelow(const Option& option) {
  if (const auto* field = std::get_if<int32_t*>(&option.field)) {
    **field = static_cast<int32_t>(option.least - 1);
  } else if (const auto* field = std::get_if<int64_t*>(&option.field)) {
    **field = option.least - 1;
  } else if (const auto* bytes = std::get_if<Bytes>(&option.field)) {
    *bytes->value = option.least - 1;
  } else {
    *std::get<std::chrono::milliseconds*>(option.field) =
        std::chrono::milliseconds(option.least - 1);
  }
}

TEST_CASE("below what the options' table calls the least, options are refused", "[loader_setup]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4);
  LoaderOptions options = Options(graph);
  const auto check = [&](const Option& option) {
    if (option.least == Least::kNone) return;
    INFO(option.name);
    const LoaderOptions before = options;
    SetBelow(option);
    VICINITY_CHECK_CODE(CheckLoaderOptions(graph.router(), options),
                        absl::StatusCode::kInvalidArgument);
    options = before;
  };
  for (const Option& option : OptionsOf(&options)) {
    check(option);
    const auto* const group = std::get_if<OptionGroup>(&option.field);
    if (group != nullptr) std::for_each(group->options.begin(), group->options.end(), check);
  }
}

TEST_CASE("home seeds are divided among trainers, and all know all sizes", "[loader_setup]") {
  const RoutedGraph graph(testing::TypedGraph(400, 60, 10, 3), 4, {2});
  const int32_t num_trainers = GENERATE(1, 2, 3, 6);
  LoaderOptions options = Options(graph);
  options.seed_policy = SeedPolicy::kHome;
  options.num_trainers = num_trainers;
  std::vector<int64_t> all;
  std::vector<int64_t> sizes;
  for (options.trainer = 0; options.trainer < num_trainers; ++options.trainer) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<SeedSource> source,
                                  MakeSeedSource(graph.router(), options));
    VICINITY_ASSERT_OK_AND_ASSIGN(const TrainerSeeds seeds,
                                  ReadSeeds(graph.router(), *source, options));
    REQUIRE(static_cast<int32_t>(seeds.list_sizes.size()) == num_trainers);
    if (options.trainer == 0) sizes = seeds.list_sizes;
    CHECK(seeds.list_sizes == sizes);
    CHECK(static_cast<int64_t>(seeds.seeds.size()) == sizes[options.trainer]);
    all.insert(all.end(), seeds.seeds.begin(), seeds.seeds.end());
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(std::vector<int64_t> expected,
                                NodesOfSplit(graph.router(), NodeTypeId{0}, Split::kTrain, {}));
  std::sort(all.begin(), all.end());
  std::sort(expected.begin(), expected.end());
  CHECK(all == expected);
}

TEST_CASE("unknown columns and types are not found, with those that are there", "[loader_setup]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 2);
  LoaderOptions options = Options(graph);
  options.columns = {{"user", "features"}, {"item", "wings"}};
  const absl::Status status = MakeColumns(graph.router(), options, {}, nullptr).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("wings") && Catch::Contains("features"));
  options.columns = {{"author", "features"}};
  VICINITY_CHECK_CODE(MakeColumns(graph.router(), options, {}, nullptr).status(),
                      absl::StatusCode::kNotFound);
}

TEST_CASE("types without labels give none", "[loader_setup]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 2);
  LoaderOptions options = Options(graph);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> labels,
                                ReadLabels(graph.router(), NodeTypeId{0}, {0, 1, 2}, options));
  CHECK(labels.size() == 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> none,
                                ReadLabels(graph.router(), NodeTypeId{2}, {0, 1, 2}, options));
  CHECK(none.empty());
  options.labels = false;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> unwanted,
                                ReadLabels(graph.router(), NodeTypeId{0}, {0, 1, 2}, options));
  CHECK(unwanted.empty());
}

TEST_CASE("negatives and excluded edges are of links", "[loader_setup]") {
  const RoutedGraph graph(testing::TypedGraph(100, 60, 10, 3), 4);
  LoaderOptions options = Options(graph);
  const auto refused = absl::StatusCode::kInvalidArgument;
  CHECK(*MakeNegatives(graph.router(), options) == nullptr);
  CHECK(!FindExcluded(graph.router().schema(), options)->self.has_value());
  options.negatives.mode = NegativeMode::kTriplet;
  options.exclude = LinkExclusion::kSelf;
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);
  VICINITY_CHECK_CODE(FindExcluded(graph.router().schema(), options).status(), refused);
  options.seeds = LinkList{"buys", GlobalIds{{0}}, GlobalIds{{0}}};
  CHECK(*MakeNegatives(graph.router(), options) != nullptr);
  CHECK(FindExcluded(graph.router().schema(), options)->self->value == 0);
  options.negatives.amount = 0.5;
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);
  options.negatives.mode = NegativeMode::kNone;  // as when the mode is forgotten
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);
  options.negatives = NegativeOptions();
  options.negatives.weight_column = "weight";
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);
  options.negatives = NegativeOptions();
  options.negatives.shared = true;
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);
  options.negatives = NegativeOptions();
  options.negatives.in_batch = true;
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);
  options.negatives = NegativeOptions();
  options.negative_weights.targets = {1, 2};
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);
  options.negatives.mode = NegativeMode::kTriplet;
  VICINITY_CHECK_CODE(MakeNegatives(graph.router(), options).status(), refused);  // of 60 items
  options.negative_weights.targets.resize(60);
  CHECK(*MakeNegatives(graph.router(), options) != nullptr);
  options.negatives.mode = NegativeMode::kNone;
  options.reverse_edge_type = "bought_by";
  VICINITY_CHECK_CODE(FindExcluded(graph.router().schema(), options).status(), refused);
  options.reverse_edge_type.clear();
  options.batch_size = 1 << 18;
  VICINITY_CHECK_CODE(FindExcluded(graph.router().schema(), options).status(), refused);
}

TEST_CASE("the edge type that leads back is the only one, or that which is named",
          "[loader_setup]") {
  const Schema schema = testing::TypedGraph(10, 10, 10, 3).schema;
  LoaderOptions options;
  options.exclude = LinkExclusion::kReverse;
  const auto reverse = [&](const std::string& links, const std::string& name) {
    options.seeds = LinkList{links, GlobalIds{{0}}, GlobalIds{{0}}};
    options.reverse_edge_type = name;
    const absl::StatusOr<ExcludedTypes> types = FindExcluded(schema, options);
    if (!types.ok()) return std::string(types.status().message());
    return schema.EdgeTypeName(types->reverse->value);
  };
  CHECK(reverse("knows", "") == "user:knows:user");
  CHECK(reverse("buys", "") == "item:bought_by:user");
  CHECK(reverse("bought_by", "buys") == "user:buys:item");
  CHECK_THAT(reverse("has", ""), Catch::Contains("there are: none"));
  CHECK_THAT(reverse("buys", "knows"), Catch::Contains("item:bought_by:user"));
  CHECK_THAT(reverse("buys", "sells"), Catch::Contains("\"sells\""));
}

TEST_CASE("times are of listed seeds, one each, however many a batch has", "[loader_setup]") {
  LoaderOptions options;
  TrainerSeeds seeds;
  seeds.nodes_per_seed = 2;
  seeds.seeds = {1, 2, 3, 4, 5, 6};
  const auto refused = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_OK(CheckSeedTimes(options, seeds));
  options.seed_times = {7, 8, 9};
  VICINITY_CHECK_CODE(CheckSeedTimes(options, seeds), refused);
  options.sampling.time_column = "time";
  VICINITY_CHECK_OK(CheckSeedTimes(options, seeds));
  options.seed_times = {7, 8};
  VICINITY_CHECK_CODE(CheckSeedTimes(options, seeds), refused);
  options.seed_times = {7, 8, 9};
  options.seed_policy = SeedPolicy::kHome;
  VICINITY_CHECK_CODE(CheckSeedTimes(options, seeds), refused);
  options.seed_policy = SeedPolicy::kGlobal;
  options.batch_size = int64_t{1} << 30;
  VICINITY_CHECK_OK(CheckSeedTimes(options, seeds));
  seeds.seeds.assign(400'000, 1);
  options.seed_times.assign(200'000, 1);
  options.negatives.mode = NegativeMode::kTriplet;
  options.negatives.amount = 2;
  VICINITY_CHECK_OK(CheckSeedTimes(options, seeds));
}

}  // namespace
}  // namespace vicinity
