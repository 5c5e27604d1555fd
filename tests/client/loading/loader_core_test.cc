// The loader without gRPC: also run under ThreadSanitizer.
#include "client/loading/loader_core.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/loading/epoch_line.h"
#include "client/shards/lookups.h"
#include "client/types/seed_values.h"
#include "partition/schema/sampling_spec.h"
#include "proto/telemetry/trace/span.h"
#include "proto/telemetry/trace/tracer.h"
#include "proto/telemetry/trace_context.h"
#include "sampler/local_sampler.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/client/routed_graph.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::DescribeInKeys;
using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};

testing::MemoryGraph Graph() { return testing::TypedGraph(400, 250, 40, 9); }

LoaderOptions Options(const RoutedGraph& graph) {
  LoaderOptions options;
  options.seed_type = "user";
  options.sampling = SamplingSpec::Uniform(graph.router().schema(), {4, 3});
  options.batch_size = 16;
  options.run_seed = 77;
  options.columns = {{"user", "features"}, {"item", "features"}};
  options.edge_ids = true;
  options.batch_timeout = std::chrono::seconds(60);
  return options;
}

std::unique_ptr<LoaderCore> Make(const RoutedGraph& graph, const LoaderOptions& options) {
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<LoaderCore> loader,
                                LoaderCore::Create(graph.router(), options));
  return loader;
}

// A batch as text: blocks in keys, rows and labels byte for byte.
std::string Describe(const RoutedGraph& graph, const MiniBatch& batch) {
  std::string text = DescribeInKeys(graph.dataset(), batch.graph);
  for (const BatchColumn& column : batch.columns) {
    text.append(column.bytes.begin(), column.bytes.end());
  }
  for (const int64_t label : batch.labels) text += " " + std::to_string(label);
  return text;
}

std::vector<std::string> Epoch(const RoutedGraph& graph, LoaderCore* loader, int64_t epoch,
                               int64_t first_step = 0, StepShare share = {}) {
  VICINITY_REQUIRE_OK(loader->StartEpoch(epoch, first_step));
  std::vector<std::string> batches;
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) return batches;
    REQUIRE(batch->step == first_step + share.Of(static_cast<int64_t>(batches.size())));
    REQUIRE(batch->epoch == epoch);
    batches.push_back(Describe(graph, *batch));
  }
}

TEST_CASE("a batch is what sampling in one process and looking rows up gives", "[loader]") {
  const RoutedGraph graph(Graph(), 3, {1});
  const LoaderOptions options = Options(graph);
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  VICINITY_REQUIRE_OK(loader->StartEpoch(4, 0));
  const NodeTypeSpec& user = graph.graph().schema.node_types[0];
  for (int64_t step = 0; step < loader->steps_per_epoch(); ++step) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    REQUIRE(batch != nullptr);
    std::vector<int64_t> seeds;
    for (const int32_t position : batch->graph.seeds[0].positions) {
      seeds.push_back(batch->graph.nodes[0].ids[position]);
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const SampledGraph expected,
        SampleLocal(graph.dataset(), kUser, seeds, options.sampling,
                    {options.run_seed, 4, static_cast<uint64_t>(step)}, true));
    REQUIRE(testing::Describe(batch->graph) == testing::Describe(expected));
    for (int32_t type = 0; type < 2; ++type) {
      std::string rows;
      for (const int64_t node : batch->graph.nodes[type].ids) {
        rows += graph.graph().row({type}, 0, graph.placement().PositionOf({type}, {node}));
      }
      const auto& bytes = batch->columns[type].bytes;
      REQUIRE(std::string(bytes.begin(), bytes.end()) == rows);
    }
    REQUIRE(batch->labels.size() == seeds.size());
    for (size_t i = 0; i < seeds.size(); ++i) {
      int32_t label;
      std::memcpy(&label,
                  graph.graph()
                      .row(kUser, user.FindColumn(user.label_column),
                           graph.placement().PositionOf(kUser, {seeds[i]}))
                      .data(),
                  sizeof(label));
      REQUIRE(batch->labels[i] == label);
    }
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> end, loader->Next());
  CHECK(end == nullptr);
}

class KeptSpans final : public SpanSink {
 public:
  void Take(const Spans& spans) override { operations.push_back(spans); }
  std::vector<Spans> operations;  // all come from the trainer's thread
};

TEST_CASE("a traced batch leaves its stages, and is the batch that it is", "[loader]") {
  const RoutedGraph graph(Graph(), 3, {1});
  const std::unique_ptr<LoaderCore> plain = Make(graph, Options(graph));
  const std::vector<std::string> expected = Epoch(graph, plain.get(), 2);
  KeptSpans kept;
  Tracer::Options options;
  options.share = GENERATE(1.0, 0.0);
  options.sinks = {&kept};
  Tracer tracer(options);
  const std::unique_ptr<LoaderCore> loader = Make(graph, Options(graph));
  loader->TraceWith(&tracer);
  CHECK(Epoch(graph, loader.get(), 2) == expected);
  REQUIRE(kept.operations.size() == (options.share > 0 ? expected.size() : 0));
  if (options.share == 0) return;
  std::set<std::string> traces;
  for (const Spans& spans : kept.operations) {
    traces.insert(TraceId(spans[0].context));
    CHECK(spans[0].name == "batch");
    CHECK(spans[0].parent == 0);
    std::vector<std::string> parts;
    for (size_t i = 1; i < spans.size(); ++i) {
      parts.push_back(spans[i].name);
      CHECK(spans[i].parent == spans[0].context.span);
      CHECK(spans[i].start >= spans[i - 1].start);
      CHECK(spans[i].end <= spans[0].end);
    }
    CHECK(parts ==
          std::vector<std::string>{"sample", "wait for room", "plan", "fetch", "assemble"});
  }
  CHECK(traces.size() == expected.size());
}

TEST_CASE("an epoch is the same for any threads, cuts, caches and windows", "[loader]") {
  const RoutedGraph whole(Graph(), 1);
  const std::unique_ptr<LoaderCore> reference = Make(whole, Options(whole));
  const std::vector<std::string> expected = Epoch(whole, reference.get(), 1);
  CHECK(expected.size() > 5);
  for (const int32_t num_shards : {1, 2, 4, 8}) {
    RoutedGraph graph(Graph(), num_shards, {0, 2, 3, 5});
    graph.Rank("default");
    for (const int threads : {1, 2, 8}) {
      LoaderOptions options = Options(graph);
      options.sample_threads = threads;
      options.fetch_threads = threads;
      options.window_bytes = threads == 2 ? 0 : 1 << 20;
      if (threads > 1) options.cache = CachePolicy::kVip;
      options.cache_rows = threads == 2 ? 50 : 10'000;
      if (num_shards > 1) {
        options.homes = {{}};
        for (int32_t s = 0; s < num_shards; ++s) options.homes[0].push_back(s);
      }
      const std::unique_ptr<LoaderCore> loader = Make(graph, options);
      REQUIRE(Epoch(graph, loader.get(), 1) == expected);
      if (threads == 8) {
        CHECK(loader->stats().rows_remote == 0);  // everything is held
      }
    }
  }
}

TEST_CASE("an epoch is the same with look-ahead over a cache of any size and window", "[loader]") {
  RoutedGraph graph(Graph(), 4, {0, 2, 3});
  graph.Rank("default");
  const std::vector<std::string> expected = Epoch(graph, Make(graph, Options(graph)).get(), 1);
  for (const int64_t cache_rows : {0, 1, 50, 200, 10'000}) {
    for (const int64_t window_bytes : {0, 1 << 14, 1 << 20}) {
      CAPTURE(cache_rows, window_bytes);
      LoaderOptions options = Options(graph);
      options.cache = CachePolicy::kAuto;
      options.cache_rows = cache_rows;
      options.cache_bytes = 0;
      options.window_bytes = window_bytes;
      options.sample_ahead = cache_rows == 50 ? 0 : 5;
      options.fetch_ahead = cache_rows == 200 ? 1 : 4;
      options.sample_threads = 2;
      options.fetch_threads = 3;
      options.homes = {{0, 1, 2, 3}};
      const std::unique_ptr<LoaderCore> loader = Make(graph, options);
      for (int round = 0; round < 2; ++round) REQUIRE(Epoch(graph, loader.get(), 1) == expected);
      if (cache_rows == 10'000) CHECK(loader->stats().rows_remote == 0);  // everything is held
      if (cache_rows == 200) CHECK(loader->stats().rows_cached > 0);
    }
  }
}

TEST_CASE("no cache changes a batch, whatever rules it is drawn by", "[loader]") {
  RoutedGraph graph(testing::TimedGraph(600, 6000, 8), 4, {0, 2, 3});
  graph.Rank("default");
  LoaderOptions options;
  options.sampling = SamplingSpec::Uniform(graph.router().schema(), {4, 3});
  options.batch_size = 16;
  options.run_seed = 77;
  options.columns = {{"node", "features"}, {"node", "time"}};
  options.edge_ids = true;
  options.batch_timeout = std::chrono::seconds(60);
  options.seed_type = "node";
  GlobalIds seeds;
  for (int64_t node = 0; node < 600; node += 3) seeds.ids.push_back(node);
  const auto by_time = [&] {
    options.sampling.disjoint = true;
    options.sampling.time_column = "time";
    for (const int64_t node : seeds.ids) options.seed_times.push_back(40 + node % 60);
  };
  SECTION("a condition") { options.sampling.where = "time < 40"; }
  SECTION("disjoint trees") { options.sampling.disjoint = true; }
  SECTION("times") { by_time(); }
  SECTION("the latest edges") {
    by_time();
    options.sampling.temporal_strategy = TemporalStrategy::kLast;
  }
  SECTION("paths in time, within a window, that meet a condition") {
    by_time();
    options.sampling.time_follows = TimeFollows::kPath;
    options.sampling.time_window = 40;
    options.sampling.where = "time != 30";
  }
  SECTION("LABOR") { options.sampling.draws = Draws::kLabor; }
  SECTION("LABOR that joins hops and batches") {
    options.sampling.draws = Draws::kLabor;
    options.sampling.layer_dependency = true;
    options.sampling.batch_dependency = 3;
  }
  SECTION("all edges between a batch's nodes") { options.sampling.subgraph = Subgraph::kInduced; }
  SECTION("all edges within trees that are not too late") {
    by_time();
    options.sampling.subgraph = Subgraph::kInduced;
  }
  options.seeds = seeds;
  options.homes = {{0, 1, 2, 3}};
  options.cache = CachePolicy::kNone;
  const std::unique_ptr<LoaderCore> none = Make(graph, options);
  const std::vector<std::string> first = Epoch(graph, none.get(), 1);
  const std::vector<std::string> second = Epoch(graph, none.get(), 2);
  CHECK(first != second);
  options.sample_ahead = 5;
  options.fetch_ahead = 3;
  options.sample_threads = 2;
  options.fetch_threads = 3;
  for (const CachePolicy cache : {CachePolicy::kVip, CachePolicy::kAuto}) {
    for (const int64_t cache_rows : {1, 60, 10'000}) {
      CAPTURE(static_cast<int>(cache), cache_rows);
      options.cache = cache;
      options.cache_rows = cache_rows;
      const std::unique_ptr<LoaderCore> loader = Make(graph, options);
      REQUIRE(Epoch(graph, loader.get(), 1) == first);
      REQUIRE(Epoch(graph, loader.get(), 2) == second);
      CHECK(loader->stats().rows_cached > 0);
      if (cache_rows == 10'000) CHECK(loader->stats().rows_remote == 0);  // everything is held
    }
  }
}

TEST_CASE("a cache of so many bytes holds no more, and changes no batch", "[loader]") {
  RoutedGraph graph(Graph(), 4, {0, 2, 3});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  options.homes = {{0, 1, 2, 3}};
  const std::vector<std::string> expected = Epoch(graph, Make(graph, options).get(), 1);
  options.cache = GENERATE(CachePolicy::kVip, CachePolicy::kAuto);
  for (const int64_t bytes : {0, 100, 3000, 1 << 20}) {
    options.cache_bytes = bytes;
    const std::unique_ptr<LoaderCore> loader = Make(graph, options);
    REQUIRE(Epoch(graph, loader.get(), 1) == expected);
    const LoaderStats stats = loader->stats();
    CHECK(stats.cache_bytes <= bytes);
    CHECK(stats.stages[3].stage == "fetch");
    CHECK(stats.stages[3].rows == stats.rows_remote);
    CHECK(stats.stages[2].rows == stats.rows_cached + stats.rows_remote);
    if (bytes == 1 << 20) CHECK(stats.rows_remote == 0);      // everything is held
    if (bytes == 3000) CHECK(stats.cache_bytes > 3000 - 20);  // less than a row is left
  }
}

// Remote rows that an epoch needs, batch by batch: of users and of items.
std::vector<std::set<std::pair<int32_t, int64_t>>> RemoteRows(const RoutedGraph& graph,
                                                              LoaderCore* loader, int64_t epoch) {
  std::vector<std::set<std::pair<int32_t, int64_t>>> batches;
  VICINITY_REQUIRE_OK(loader->StartEpoch(epoch, 0));
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) return batches;
    batches.emplace_back();
    for (int32_t type = 0; type < 2; ++type) {
      for (const int64_t node : batch->graph.nodes[type].ids) {
        const ShardId owner = graph.router().book().OwnerOf({type}, {node});
        if (!graph.router().IsLocal(owner)) batches.back().emplace(type, node);
      }
    }
  }
}

TEST_CASE("without a cache a row comes once for as many batches as may be on their way",
          "[loader]") {
  const RoutedGraph graph(Graph(), 4, {0, 2, 3});
  LoaderOptions options = Options(graph);
  options.cache = CachePolicy::kNone;
  const auto batches = RemoteRows(graph, Make(graph, options).get(), 1);
  for (const int64_t ahead : {0, 1, 3, 1000}) {
    int64_t expected = 0;
    for (size_t b = 0; b < batches.size(); ++b) {
      std::set<std::pair<int32_t, int64_t>> there;
      const size_t first = b - std::min<size_t>(b, std::max<int64_t>(ahead - 1, 0));
      for (size_t i = first; i < b; ++i) there.insert(batches[i].begin(), batches[i].end());
      for (const auto& row : batches[b]) expected += there.count(row) == 0 ? 1 : 0;
    }
    CAPTURE(ahead);
    options.fetch_ahead = ahead;
    // However fast they are made and taken.
    for (const int threads : {1, 4}) {
      options.sample_threads = options.fetch_threads = threads;
      const std::unique_ptr<LoaderCore> loader = Make(graph, options);
      VICINITY_REQUIRE_OK(loader->StartEpoch(1, 0));
      for (size_t b = 0; b < batches.size(); ++b) {
        VICINITY_REQUIRE_OK(loader->Next());
        if (threads == 4 && b % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      CHECK(loader->stats().rows_remote == expected);
    }
  }
}

TEST_CASE("whole epochs in a row are one pipeline, and every other order is as before",
          "[loader]") {
  RoutedGraph graph(Graph(), 4, {0, 2, 3});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  options.cache = GENERATE(CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto);
  options.cache_rows = 60;
  options.sample_threads = options.fetch_threads = 3;
  options.fetch_ahead = GENERATE(1, 4, 1000);
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  // Whole epochs, twice the same, back, a jump, a part, and on.
  for (const auto& [epoch, first] : std::vector<std::pair<int64_t, int64_t>>{{0, 0},
                                                                             {1, 0},
                                                                             {2, 0},
                                                                             {3, 0},
                                                                             {3, 0},
                                                                             {2, 0},
                                                                             {7, 0},
                                                                             {8, 0},
                                                                             {9, 2},
                                                                             {10, 0},
                                                                             {11, 0}}) {
    CAPTURE(epoch, first);
    REQUIRE(Epoch(graph, loader.get(), epoch, first) ==
            Epoch(graph, Make(graph, options).get(), epoch, first));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> none, loader->Next());
    CHECK(none == nullptr);
    CHECK(loader->WaitForNext(std::chrono::seconds(10)));
  }
  // Dropped in the middle while the one behind is made.
  VICINITY_REQUIRE_OK(loader->StartEpoch(12, 0));
  VICINITY_REQUIRE_OK(loader->Next());
  VICINITY_REQUIRE_OK(loader->StartEpoch(13, 0));
  CHECK(Epoch(graph, loader.get(), 14) == Epoch(graph, Make(graph, options).get(), 14));
}

TEST_CASE("rows are shared across the border of epochs, and counted with their batches",
          "[loader]") {
  const RoutedGraph graph(Graph(), 4, {0, 2, 3});
  LoaderOptions options = Options(graph);
  options.cache = CachePolicy::kNone;
  options.fetch_ahead = 3;
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  std::vector<std::set<std::pair<int32_t, int64_t>>> batches;
  std::vector<int64_t> fetched;  // after each epoch
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    const auto more = RemoteRows(graph, loader.get(), epoch);
    batches.insert(batches.end(), more.begin(), more.end());
    fetched.push_back(loader->stats().rows_remote);
  }
  const auto steps = static_cast<size_t>(loader->steps_per_epoch());
  int64_t expected = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    std::set<std::pair<int32_t, int64_t>> there;
    // The first epoch ends for itself: nobody knew that another would come.
    const size_t begin = b < steps ? 0 : steps;
    for (size_t i = std::max(begin, b < 2 ? 0 : b - 2); i < b; ++i) {
      there.insert(batches[i].begin(), batches[i].end());
    }
    for (const auto& row : batches[b]) expected += there.count(row) == 0 ? 1 : 0;
    if (b % steps == steps - 1) CHECK(fetched[b / steps] == expected);
  }
}

TEST_CASE("what failed before its epoch was begun is asked for once more", "[loader]") {
  RoutedGraph graph(Graph(), 4, {0, 2, 3});
  LoaderOptions options = Options(graph);
  options.cache = CachePolicy::kNone;
  options.step_stride = GENERATE(1, 2);
  options.step_offset = options.step_stride - 1;
  const StepShare share{options.step_offset, options.step_stride};
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  Epoch(graph, loader.get(), 0, 0, share);
  VICINITY_REQUIRE_OK(loader->StartEpoch(1, 0));
  const int64_t num_steps = share.CountOf(loader->steps_per_epoch());
  for (int64_t step = 0; step < num_steps; ++step) {
    // Its last batches are there, those behind are not.
    if (step + 1 == num_steps) {
      CHECK(loader->WaitForNext(std::chrono::seconds(10)));
      graph.faults()->fail_after = graph.faults()->calls.load();
    }
    VICINITY_REQUIRE_OK(loader->Next());
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> none, loader->Next());
  CHECK(none == nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  graph.faults()->fail_after = -1;  // the shard is there again
  for (const int64_t epoch : {2, 3}) {
    CHECK(Epoch(graph, loader.get(), epoch, 0, share) ==
          Epoch(graph, Make(graph, options).get(), epoch, 0, share));
  }
}

TEST_CASE("the default cache needs no ranking, and says whether it has one", "[loader]") {
  RoutedGraph graph(Graph(), 4, {0, 2, 3});
  LoaderOptions options = Options(graph);
  options.homes = {{}};
  std::unique_ptr<LoaderCore> loader = Make(graph, options);
  const std::vector<std::string> expected = Epoch(graph, loader.get(), 1);
  CHECK(loader->stats().ranked_by.substr(0, 6) == "none: ");
  CHECK_THAT(loader->stats().ranked_by, Catch::Contains("`vicinity rank`"));
  int64_t num_remote = 0;
  for (const auto& rows : RemoteRows(graph, Make(graph, options).get(), 1))
    num_remote += rows.size();
  CHECK(loader->stats().rows_remote < num_remote / 2);
  CHECK(Epoch(graph, loader.get(), 1) == expected);
  const int64_t fetched = loader->stats().rows_remote;
  CHECK(Epoch(graph, loader.get(), 1) == expected);
  CHECK(loader->stats().rows_remote == fetched);  // there is room for all
  options.ranking = "mine";
  VICINITY_CHECK_CODE(LoaderCore::Create(graph.router(), options).status(),
                      absl::StatusCode::kNotFound);
  options.ranking = "default";
  options.cache = CachePolicy::kVip;
  VICINITY_CHECK_CODE(LoaderCore::Create(graph.router(), options).status(),
                      absl::StatusCode::kNotFound);
  graph.Rank("default");
  loader = Make(graph, options);
  CHECK(loader->stats().ranked_by == "default");
  CHECK(Epoch(graph, loader.get(), 1) == expected);
  options.sampling.draws = Draws::kLabor;  // as the ranking's were not
  loader = Make(graph, options);
  CHECK(loader->stats().ranked_by ==
        "default, made for other draws: draws independent, here labor");
}

TEST_CASE("a part of an epoch is the same batches and then ends", "[loader]") {
  RoutedGraph graph(Graph(), 4, {1, 2});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  options.homes = {{0, 1, 2, 3}};
  options.cache = GENERATE(CachePolicy::kNone, CachePolicy::kAuto);
  options.cache_rows = 40;
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  const std::vector<std::string> expected = Epoch(graph, loader.get(), 3);
  std::vector<std::string> parts;
  for (int64_t first = 0; first < loader->steps_per_epoch(); first += 2) {
    const int64_t end = std::min(first + 2, loader->steps_per_epoch());
    VICINITY_REQUIRE_OK(loader->StartEpoch(3, first, end));
    for (int64_t step = first; step < end; ++step) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
      REQUIRE(batch != nullptr);
      parts.push_back(Describe(graph, *batch));
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> none, loader->Next());
    CHECK(none == nullptr);
  }
  CHECK(parts == expected);
  for (const auto& [first, end] : {std::pair(2, 1), std::pair(0, 1 << 20), std::pair(0, -2)}) {
    VICINITY_CHECK_CODE(loader->StartEpoch(0, first, end), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("trainers share an epoch's batches out; each can be made again alone", "[loader]") {
  const RoutedGraph graph(Graph(), 2, {1});
  LoaderOptions options = Options(graph);
  const std::vector<std::string> all = Epoch(graph, Make(graph, options).get(), 0);
  options.num_trainers = 3;
  for (options.trainer = 0; options.trainer < 3; ++options.trainer) {
    const std::unique_ptr<LoaderCore> loader = Make(graph, options);
    const std::vector<std::string> mine = Epoch(graph, loader.get(), 0);
    REQUIRE(static_cast<int64_t>(mine.size()) == loader->steps_per_epoch());
    REQUIRE(mine.size() == (all.size() + 2) / 3);
    for (size_t step = 0; step < mine.size(); ++step) {
      const size_t batch = step * 3 + options.trainer;
      if (batch < all.size()) CHECK(mine[step] == all[batch]);
    }
    const std::vector<std::string> tail = Epoch(graph, loader.get(), 0, 2);
    CHECK(tail == std::vector<std::string>(mine.begin() + 2, mine.end()));
  }
}

// The keys of a batch's seeds, list by list.
std::vector<uint64_t> SeedKeys(const RoutedGraph& graph, const MiniBatch& batch) {
  std::vector<uint64_t> keys;
  for (const SampledSeeds& seeds : batch.graph.seeds) {
    for (const int32_t position : seeds.positions) {
      const NodeTypeId type{seeds.node_type};
      const int64_t node = batch.graph.nodes[type.value].ids[position];
      keys.push_back(
          graph.graph().nodes[type.value].keys[graph.placement().PositionOf(type, {node})]);
    }
  }
  return keys;
}

// Of every batch of an epoch the keys of its seeds.
std::vector<std::vector<uint64_t>> EpochOfKeys(const RoutedGraph& graph,
                                               const LoaderOptions& options) {
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  VICINITY_REQUIRE_OK(loader->StartEpoch(3, 0));
  std::vector<std::vector<uint64_t>> batches;
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) return batches;
    batches.push_back(SeedKeys(graph, *batch));
  }
}

// 101 users by their ids, one of them twice.
UserIds SomeUsers() {
  const std::vector<uint64_t> keys = Graph().nodes[0].keys;
  UserIds users;
  for (size_t i = 0; i < 100; ++i) users.ids.push_back(static_cast<int64_t>(keys[i * 4 + 1]));
  users.ids.push_back(users.ids[5]);
  return users;
}

TEST_CASE("each listed seed is in one batch of an epoch, as often as it is listed", "[loader]") {
  const RoutedGraph graph(Graph(), 3, {1});
  LoaderOptions options = Options(graph);
  const UserIds users = SomeUsers();
  options.seeds = users;
  options.num_trainers = GENERATE(1, 2, 3);
  std::vector<std::vector<uint64_t>> batches(7);  // 101 seeds in batches of 16
  for (options.trainer = 0; options.trainer < options.num_trainers; ++options.trainer) {
    const std::vector<std::vector<uint64_t>> mine = EpochOfKeys(graph, options);
    for (size_t step = 0; step < mine.size(); ++step) {
      const size_t batch = step * options.num_trainers + options.trainer;
      if (batch < 7) batches[batch] = mine[step];
      if (batch >= 7) CHECK(mine[step] == batches[batch - 7]);  // so that steps are equal
    }
  }
  std::vector<uint64_t> dealt;
  for (const auto& batch : batches) dealt.insert(dealt.end(), batch.begin(), batch.end());
  std::vector<uint64_t> listed(users.ids.begin(), users.ids.end());
  CHECK(dealt != listed);
  std::sort(dealt.begin(), dealt.end());
  std::sort(listed.begin(), listed.end());
  CHECK(dealt == listed);
}

TEST_CASE("without shuffling listed seeds come in the order of the list", "[loader]") {
  const RoutedGraph graph(Graph(), 3, {1});
  LoaderOptions options = Options(graph);
  const UserIds users = SomeUsers();
  options.seeds = users;
  options.shuffle = false;
  std::vector<uint64_t> dealt;
  for (const auto& batch : EpochOfKeys(graph, options)) {
    dealt.insert(dealt.end(), batch.begin(), batch.end());
  }
  CHECK(dealt == std::vector<uint64_t>(users.ids.begin(), users.ids.end()));
}

TEST_CASE("listed seeds make the same batches on any cut, by ids or by a mask", "[loader]") {
  const RoutedGraph whole(Graph(), 1);
  LoaderOptions options = Options(whole);
  UserIds users;
  NodeMask mask;
  std::vector<uint64_t> keys = Graph().nodes[0].keys;
  std::sort(keys.begin(), keys.end());
  for (size_t i = 0; i < keys.size(); ++i) {
    mask.chosen.push_back(i % 5 == 2);
    if (i % 5 == 2) users.ids.push_back(static_cast<int64_t>(keys[i]));
  }
  options.seeds = users;
  const std::vector<std::string> expected = Epoch(whole, Make(whole, options).get(), 1);
  CHECK(expected.size() == 5);
  for (const int32_t num_shards : {1, 2, 5}) {
    const RoutedGraph graph(Graph(), num_shards, {0, 2});
    for (const SeedList& seeds : {SeedList(users), SeedList(mask)}) {
      options.seeds = seeds;
      CHECK(Epoch(graph, Make(graph, options).get(), 1) == expected);
    }
  }
}

TEST_CASE("each link is in one batch, its source at i and its target behind all sources",
          "[loader]") {
  const RoutedGraph graph(Graph(), 3, {1});
  const std::vector<uint64_t> keys = Graph().nodes[0].keys;
  UserIds sources, targets;
  std::set<std::pair<uint64_t, uint64_t>> listed;
  for (size_t i = 0; i < 50; ++i) {
    sources.ids.push_back(static_cast<int64_t>(keys[i]));
    targets.ids.push_back(static_cast<int64_t>(keys[(i * 7 + 100) % 400]));
    listed.emplace(keys[i], keys[(i * 7 + 100) % 400]);
  }
  LoaderOptions options = Options(graph);
  options.seed_type = "";
  options.seeds = LinkList{"knows", sources, targets};
  options.seed_policy = GENERATE(SeedPolicy::kGlobal, SeedPolicy::kHome);
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  CHECK(loader->num_seeds() == 50);
  CHECK(loader->steps_per_epoch() == 4);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::pair<uint64_t, uint64_t>> dealt;
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) break;
    CHECK(batch->labels.empty());
    const std::vector<uint64_t> ends = SeedKeys(graph, *batch);
    const size_t num_links = ends.size() / 2;
    for (size_t i = 0; i < num_links; ++i) dealt.emplace_back(ends[i], ends[num_links + i]);
  }
  CHECK(dealt.size() == 50);
  CHECK(std::set<std::pair<uint64_t, uint64_t>>(dealt.begin(), dealt.end()) == listed);

  options.seed_type = "item";
  VICINITY_CHECK_CODE(LoaderCore::Create(graph.router(), options).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the ends of links may be of two node types", "[loader]") {
  const RoutedGraph graph(Graph(), 3, {1});
  const testing::MemoryGraph& users_and_items = graph.graph();
  std::vector<std::pair<uint64_t, uint64_t>> listed;
  UserIds users;
  GlobalIds items;
  for (size_t i = 0; i < 30; ++i) {
    const size_t item = (i * 7) % 60;
    users.ids.push_back(static_cast<int64_t>(users_and_items.nodes[0].keys[i]));
    items.ids.push_back(graph.GlobalIds({1})[item]);
    listed.emplace_back(users_and_items.nodes[0].keys[i], users_and_items.nodes[1].keys[item]);
  }
  LoaderOptions options = Options(graph);
  options.seed_type = "";
  options.seeds = LinkList{"buys", users, items};
  options.shuffle = false;
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::pair<uint64_t, uint64_t>> dealt;
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) break;
    REQUIRE(batch->graph.seeds.size() == 2);
    CHECK(batch->graph.seeds[0].node_type == 0);
    CHECK(batch->graph.seeds[1].node_type == 1);
    const std::vector<uint64_t> ends = SeedKeys(graph, *batch);
    const size_t num_links = ends.size() / 2;
    for (size_t i = 0; i < num_links; ++i) dealt.emplace_back(ends[i], ends[num_links + i]);
    CHECK(batch->graph.nodes[1].hop_ends[0] > 0);
  }
  CHECK(dealt == listed);
}

TEST_CASE("listed links make the same batches on any cut", "[loader]") {
  const RoutedGraph whole(Graph(), 1);
  const std::vector<uint64_t> keys = Graph().nodes[0].keys;
  LinkList links{"knows", UserIds(), UserIds()};
  for (size_t i = 0; i < 40; ++i) {
    std::get<UserIds>(links.sources).ids.push_back(static_cast<int64_t>(keys[i]));
    std::get<UserIds>(links.targets).ids.push_back(static_cast<int64_t>(keys[399 - i]));
  }
  LoaderOptions options = Options(whole);
  options.seeds = links;
  const std::vector<std::string> expected = Epoch(whole, Make(whole, options).get(), 1);
  CHECK(expected.size() == 3);
  for (const int32_t num_shards : {2, 5}) {
    const RoutedGraph graph(Graph(), num_shards, {0, 2});
    CHECK(Epoch(graph, Make(graph, options).get(), 1) == expected);
  }
}

TEST_CASE("links with negatives and without their edges make the same batches on any cut",
          "[loader]") {
  const RoutedGraph whole(Graph(), 1);
  const testing::MemoryGraph& memory = whole.graph();
  LinkList links{"knows", UserIds(), UserIds()};
  for (size_t i = 0; i < 40; ++i) {
    const std::vector<uint64_t>& keys = memory.nodes[0].keys;
    std::get<UserIds>(links.sources)
        .ids.push_back(static_cast<int64_t>(keys[memory.edges[3].sources[i]]));
    std::get<UserIds>(links.targets)
        .ids.push_back(static_cast<int64_t>(keys[memory.edges[3].targets[i]]));
  }
  LoaderOptions options = Options(whole);
  options.seeds = links;
  options.negatives.mode = GENERATE(NegativeMode::kBinary, NegativeMode::kTriplet);
  options.negatives.amount = 3;
  options.exclude = LinkExclusion::kReverse;
  const std::vector<std::string> expected = Epoch(whole, Make(whole, options).get(), 1);
  CHECK(expected.size() == 3);
  for (const int32_t num_shards : {2, 5}) {
    const RoutedGraph graph(Graph(), num_shards, {0, 2});
    CHECK(Epoch(graph, Make(graph, options).get(), 1) == expected);
  }
  options.exclude = LinkExclusion::kNone;
  CHECK(Epoch(whole, Make(whole, options).get(), 1) != expected);
}

// What is left of an epoch for one trainer: its batches' seeds by their numbers among all.
std::vector<std::vector<int64_t>> RestOf(LoaderCore* loader, int64_t batches_done) {
  VICINITY_REQUIRE_OK(loader->ResumeEpoch(3, batches_done));
  std::vector<std::vector<int64_t>> batches;
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) return batches;
    CHECK(batch->epoch == 3);
    batches.push_back(batch->input_positions);
  }
}

TEST_CASE("an epoch goes on where other numbers of trainers stopped, each seed once", "[loader]") {
  const RoutedGraph graph(Graph(), 2);
  LoaderOptions options = Options(graph);
  options.seeds = SomeUsers();
  const std::vector<std::vector<int64_t>> all = RestOf(Make(graph, options).get(), 0);
  const auto num_batches = static_cast<int64_t>(all.size());
  REQUIRE(num_batches == 7);
  // By one trainer, or as many as there are batches, and beyond.
  for (options.num_trainers = 1; options.num_trainers <= 8; ++options.num_trainers) {
    for (int64_t done = 0; done <= num_batches + 1; ++done) {
      CAPTURE(options.num_trainers, done);
      std::vector<std::vector<int64_t>> rest(std::max<int64_t>(0, num_batches - done) +
                                             options.num_trainers);
      size_t steps = 0;
      for (options.trainer = 0; options.trainer < options.num_trainers; ++options.trainer) {
        const auto mine = RestOf(Make(graph, options).get(), done);
        if (options.trainer > 0) CHECK(mine.size() == steps);
        steps = mine.size();
        for (size_t step = 0; step < mine.size(); ++step) {
          rest.at(step * options.num_trainers + options.trainer) = mine[step];
        }
      }
      const int64_t left = std::max<int64_t>(0, num_batches - done);
      CHECK(static_cast<int64_t>(steps) ==
            (left + options.num_trainers - 1) / options.num_trainers);
      for (int64_t i = 0; i < left; ++i) CHECK(rest[i] == all[done + i]);
    }
    options.trainer = 0;
  }
}

TEST_CASE("a batch tells from where the epoch goes on, with the draws that it would have had",
          "[loader]") {
  const RoutedGraph graph(Graph(), 2);
  LoaderOptions options = Options(graph);
  options.seeds = SomeUsers();
  const std::vector<std::string> all = Epoch(graph, Make(graph, options).get(), 3);
  options.num_trainers = 2;
  options.trainer = 1;
  const std::unique_ptr<LoaderCore> two = Make(graph, options);
  VICINITY_REQUIRE_OK(two->StartEpoch(3, 0));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<MiniBatch> batch, two->Next());
  CHECK(batch->batches_done == 2);
  options.num_trainers = 3;
  options.trainer = 0;
  const std::unique_ptr<LoaderCore> three = Make(graph, options);
  VICINITY_REQUIRE_OK(three->ResumeEpoch(3, batch->batches_done));
  VICINITY_ASSERT_OK_AND_ASSIGN(batch, three->Next());
  CHECK(Describe(graph, *batch) == all[2]);
  CHECK(batch->batches_done == 5);
  VICINITY_ASSERT_OK_AND_ASSIGN(batch, three->Next());
  CHECK(Describe(graph, *batch) == all[5]);

  options.seed_policy = SeedPolicy::kHome;
  options.num_trainers = 2;
  const std::unique_ptr<LoaderCore> home = Make(graph, options);
  VICINITY_CHECK_OK(home->ResumeEpoch(3, 2));
  VICINITY_CHECK_CODE(home->ResumeEpoch(3, 1), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(home->ResumeEpoch(3, -1), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(home->ResumeEpoch(-1, 0), absl::StatusCode::kInvalidArgument);
}

// What workers give in turn, until all are at their end. Each begins its pass by `begin`.
template <typename Begin>
std::vector<std::string> InTurn(const RoutedGraph& graph,
                                const std::vector<std::unique_ptr<LoaderCore>>& workers,
                                Begin begin) {
  for (const auto& worker : workers) VICINITY_REQUIRE_OK(begin(worker.get()));
  std::vector<std::string> batches;
  for (size_t turn = 0, num_done = 0; num_done < workers.size(); ++turn) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch,
                                  workers[turn % workers.size()]->Next());
    if (batch == nullptr) {
      ++num_done;
      continue;
    }
    REQUIRE(num_done == 0);  // those who have a batch fewer are the last
    batches.push_back(std::to_string(batch->epoch) + "/" + std::to_string(batch->step) + "/" +
                      std::to_string(batch->batches_done) + Describe(graph, *batch));
  }
  return batches;
}

TEST_CASE("workers that share a trainer's steps give in turn the batches of one loader",
          "[loader]") {
  const RoutedGraph graph(Graph(), 4, {0, 2});
  const int num_workers = GENERATE(2, 3, 26);  // 26: more than there are steps
  const int num_trainers = GENERATE(1, 2);
  LoaderOptions options = Options(graph);
  options.num_trainers = num_trainers;
  options.trainer = num_trainers - 1;
  options.seed_policy = GENERATE(SeedPolicy::kGlobal, SeedPolicy::kHome);
  options.drop_last = GENERATE(false, true);
  std::vector<std::unique_ptr<LoaderCore>> one;
  one.push_back(Make(graph, options));
  std::vector<std::unique_ptr<LoaderCore>> workers;
  options.step_stride = num_workers;
  for (options.step_offset = 0; options.step_offset < num_workers; ++options.step_offset) {
    workers.push_back(Make(graph, options));
    CHECK(workers.back()->steps_per_epoch() == one[0]->steps_per_epoch());
  }
  for (const int64_t epoch : {0, 1, 2}) {  // the last is made ahead
    const auto begin = [epoch](LoaderCore* loader) { return loader->StartEpoch(epoch, 0); };
    const std::vector<std::string> expected = InTurn(graph, one, begin);
    REQUIRE(static_cast<int64_t>(expected.size()) == one[0]->steps_per_epoch());
    REQUIRE(InTurn(graph, workers, begin) == expected);
  }
  // Behind a step, and, of seeds that are dealt, behind a batch that is no whole step of theirs.
  for (const int64_t batches_done : {3 * num_trainers, 2 * num_trainers + 1}) {
    if (options.seed_policy == SeedPolicy::kHome && batches_done % num_trainers != 0) continue;
    const auto begin = [=](LoaderCore* loader) { return loader->ResumeEpoch(4, batches_done); };
    REQUIRE(InTurn(graph, workers, begin) == InTurn(graph, one, begin));
  }
}

TEST_CASE("a worker's place among the steps is checked", "[loader]") {
  const RoutedGraph graph(Graph(), 1);
  LoaderOptions options = Options(graph);
  options.step_stride = GENERATE(-1, 0, 2);
  options.step_offset = options.step_stride == 2 ? GENERATE(-1, 2) : 0;
  VICINITY_CHECK_CODE(LoaderCore::Create(graph.router(), options).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the user's ids of all nodes come with a batch, near and far, cached or not",
          "[loader]") {
  const RoutedGraph graph(Graph(), 3, {1});
  LoaderOptions options = Options(graph);
  options.user_ids = true;
  options.cache_rows = GENERATE(0, 50);
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  for (int64_t step = 0; step < loader->steps_per_epoch(); ++step) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    CHECK(batch->columns.size() == options.columns.size());
    REQUIRE(batch->user_ids.size() == 2);  // items have names
    for (const BatchColumn& ids : batch->user_ids) {
      const NodeTypeId type{ids.node_type};
      std::string expected;
      for (const int64_t node : batch->graph.nodes[type.value].ids) {
        const int64_t position = graph.placement().PositionOf(type, {node});
        const uint64_t key = graph.graph().nodes[type.value].keys[position];
        expected.append(reinterpret_cast<const char*>(&key), sizeof(key));
      }
      CHECK(ids.num_rows == static_cast<int64_t>(batch->graph.nodes[type.value].ids.size()));
      CHECK(std::string(ids.bytes.begin(), ids.bytes.end()) == expected);
    }
  }
}

TEST_CASE("what is no full batch may be left out, unless that is everything", "[loader]") {
  const RoutedGraph graph(Graph(), 2);
  LoaderOptions options = Options(graph);
  options.seeds = SomeUsers();
  options.drop_last = true;
  options.num_trainers = 2;
  CHECK(Make(graph, options)->steps_per_epoch() == 3);
  for (const auto& batch : EpochOfKeys(graph, options)) CHECK(batch.size() == 16);
  options.batch_size = 51;
  const absl::Status status = LoaderCore::Create(graph.router(), options).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("101") && Catch::Contains("51"));
}

TEST_CASE("with home seeds every trainer makes the same number of steps", "[loader]") {
  const RoutedGraph graph(Graph(), 5, {1});
  LoaderOptions options = Options(graph);
  options.seed_policy = SeedPolicy::kHome;
  options.num_trainers = 2;
  std::vector<size_t> steps;
  for (options.trainer = 0; options.trainer < 2; ++options.trainer) {
    steps.push_back(Epoch(graph, Make(graph, options).get(), 0).size());
  }
  CHECK(steps[0] == steps[1]);
  CHECK(steps[0] > 0);
}

TEST_CASE("an epoch may be dropped in the middle and another begun", "[loader]") {
  RoutedGraph graph(Graph(), 4, {0, 1, 2, 3});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  options.sample_threads = 3;
  options.fetch_threads = 2;
  options.cache = GENERATE(CachePolicy::kVip, CachePolicy::kAuto);
  options.cache_rows = 20;
  options.sample_ahead = 4;
  options.homes = {{0, 1, 2, 3}};
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  const std::vector<std::string> expected = Epoch(graph, loader.get(), 2);
  for (int round = 0; round < 5; ++round) {
    VICINITY_REQUIRE_OK(loader->StartEpoch(round, 0));
    for (int i = 0; i < round; ++i) VICINITY_REQUIRE_OK(loader->Next());
  }
  CHECK(Epoch(graph, loader.get(), 2) == expected);
  VICINITY_REQUIRE_OK(loader->StartEpoch(3, 0));  // and dropped by the destructor
}

TEST_CASE("a shard that fails is an error in its turn; the epoch can go on from there",
          "[loader]") {
  RoutedGraph graph(Graph(), 4, {1});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  options.cache = GENERATE(CachePolicy::kNone, CachePolicy::kAuto);
  options.cache_rows = 30;
  options.homes = {{0, 1, 2, 3}};
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  const std::vector<std::string> expected = Epoch(graph, loader.get(), 0);
  graph.faults()->fail_after = graph.faults()->calls + 7;
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::string> batches;
  absl::Status error;
  while (error.ok()) {
    absl::StatusOr<std::unique_ptr<MiniBatch>> batch = loader->Next();
    error = batch.status();
    if (!error.ok()) break;
    REQUIRE(*batch != nullptr);
    batches.push_back(Describe(graph, **batch));
  }
  VICINITY_CHECK_CODE(error, absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(loader->Next().status(), absl::StatusCode::kFailedPrecondition);
  graph.faults()->fail_after = -1;
  const std::vector<std::string> rest =
      Epoch(graph, loader.get(), 0, static_cast<int64_t>(batches.size()));
  batches.insert(batches.end(), rest.begin(), rest.end());
  CHECK(batches == expected);
}

TEST_CASE("a shard that never answers is an error in time, and does not hold up the end",
          "[loader]") {
  RoutedGraph graph(Graph(), 4, {1});
  LoaderOptions options = Options(graph);
  options.batch_timeout = std::chrono::milliseconds(50);
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  graph.faults()->silent = true;
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  const absl::Status status = loader->Next().status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDeadlineExceeded);
  CHECK_THAT(std::string(status.message()), Catch::Contains("sample"));
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));  // and the destructor
}

TEST_CASE("waiting for a batch in slices gives the same batches, and ends in the same time",
          "[loader]") {
  RoutedGraph graph(Graph(), 4, {1});
  LoaderOptions options = Options(graph);
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  CHECK(loader->WaitForNext(std::chrono::hours(1)));  // no epoch: Next says so at once
  const std::vector<std::string> expected = Epoch(graph, loader.get(), 0);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::string> batches;
  while (true) {
    while (!loader->WaitForNext(std::chrono::microseconds(100))) {
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) break;
    batches.push_back(Describe(graph, *batch));
  }
  CHECK(batches == expected);

  options.batch_timeout = std::chrono::milliseconds(50);
  const std::unique_ptr<LoaderCore> silent = Make(graph, options);
  graph.faults()->silent = true;
  VICINITY_REQUIRE_OK(silent->StartEpoch(0, 0));
  CHECK_FALSE(silent->WaitForNext(std::chrono::milliseconds(1)));
  CHECK(silent->WaitForNext(std::chrono::hours(1)));  // the batch timeout has passed
  const auto start = std::chrono::steady_clock::now();
  VICINITY_CHECK_CODE(silent->Next().status(), absl::StatusCode::kDeadlineExceeded);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50));
}

TEST_CASE("stage times make up the threads' time", "[loader]") {
  const RoutedGraph graph(Graph(), 4, {1, 2});
  LoaderOptions options = Options(graph);
  options.sample_threads = 2;
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  constexpr int64_t kEpochs = 20;
  // Never the one behind, which would go on with another.
  for (int64_t i = 0; i < kEpochs; ++i) Epoch(graph, loader.get(), 2 * i);
  const LoaderStats stats = loader->stats();
  REQUIRE(stats.stages.size() == 6);
  CHECK(stats.wall_seconds > 0);
  for (const StageTime& stage : stats.stages) {
    INFO(stage.stage);
    CHECK(stage.batches == kEpochs * loader->steps_per_epoch());
    // A thread that waits for a core, as it does beside other tests, may end late.
    const double margin = 0.02 * testing::kSlower;
    CHECK(stage.busy_seconds + stage.starved_seconds + stage.blocked_seconds ==
          Approx(stats.wall_seconds * stage.num_threads).epsilon(0.05).margin(margin));
  }
  CHECK(stats.rows_local + stats.rows_remote > 0);
  int64_t num_remote = 0;  // as large as it can be of use
  for (const int32_t type : {0, 1}) {
    for (const int32_t shard : {1, 2}) {
      num_remote += graph.router().book().num_nodes({type}, {shard});
    }
  }
  CHECK(stats.cache_rows == num_remote);
  CHECK(stats.cache_bytes > 0);
}

TEST_CASE("no seeds make an epoch without batches", "[loader]") {
  const RoutedGraph graph(Graph(), 2);
  LoaderOptions options = Options(graph);
  options.seed_type = "user";
  options.split = Split::kTest;
  const std::unique_ptr<LoaderCore> some = Make(graph, options);
  CHECK(some->steps_per_epoch() > 0);
  VICINITY_CHECK_CODE(some->Next().status(), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(some->StartEpoch(0, some->steps_per_epoch() + 1),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_REQUIRE_OK(some->StartEpoch(0, some->steps_per_epoch()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> none, some->Next());
  CHECK(none == nullptr);
}

}  // namespace
}  // namespace vicinity
