// Epochs of a query's answers: each batch is what the query gives by itself, and its rows come as
// the rows of minibatches do. Without gRPC: also run under ThreadSanitizer.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/loading/epoch_run.h"
#include "client/loading/loader_core.h"
#include "client/query/query.h"
#include "client/query/query_runner.h"
#include "client/query/query_text.h"
#include "client/types/loader_values.h"
#include "client/types/seed_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"
#include "tests/client/query/run_query.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Describe;
using testing::RoutedGraph;

constexpr uint64_t kRunSeed = 77;

// Every kind of step, of one type and of several, with rows and without.
const std::vector<std::string> kQueries = {
    "src = nodes(user, $seeds)\nnear = neighbors(src, knows, 4)\n",
    // The same column of three steps, and another of two: nodes that come again and again.
    "src = nodes(user, $seeds, columns=[features])\n"
    "friends = neighbors(src, knows, 5, columns=[label, features])\n"
    "theirs = neighbors(friends, knows, columns=[features, label])\n",
    // To items and back; rows of no bytes; rows of edges.
    "src = nodes(user, $start)\n"
    "bought = neighbors(src, bought_by, 4, columns=[features, nothing], edge_ids=true)\n"
    "buyers = neighbors(bought, buys, 3, by=weight, replace=true, edge_columns=[weight], "
    "columns=[features])\n",
    "src = nodes(user, $seeds, where=\"label >= 0\", columns=[features])\n"
    "near = neighbors(src, knows, 6, where=\"label >= 1\", order_by=label, limit=3, "
    "columns=[features])\n",
    "src = nodes(user, $seeds)\n"
    "way = walk(src, knows, 6, restart_prob=0.1, edge_ids=true, columns=[features])\n",
    "src = nodes(user, $seeds)\n"
    "way = walk(src, [bought_by, buys], 4, node_type=item, columns=[features])\n"
    "most = visited(src, knows, 5, length=4, num_walks=20, columns=[features])\n",
    "src = nodes(user, $seeds)\ntop = ppr(src, knows, 8, columns=[features, label])\n",
    "src = nodes(user, $seeds)\nlayer = layer(src, knows, 40, columns=[features])\n",
    "src = nodes(user, $seeds)\n"
    "neg = negatives(src, buys, 3, columns=[features])\n"
    "same = negatives(src, buys, 5, shared=true, columns=[features])\n",
    "src = nodes(user, $seeds)\nnear = neighbors(src, knows, 6)\n"
    "sub = induced([src, near], knows, columns=[features], edge_ids=true)\n",
    "src = nodes(user, $seeds)\nsome = nodes(item, count=20, columns=[price])\n"
    "tags = nodes(tag)\n",
};

testing::MemoryGraph Graph() { return testing::TypedGraph(160, 100, 20, 9); }

LoaderOptions Options() {
  LoaderOptions options;
  options.split = Split::kNone;
  options.batch_size = 16;
  options.run_seed = kRunSeed;
  options.batch_timeout = std::chrono::seconds(60);
  return options;
}

std::unique_ptr<LoaderCore> Load(const RoutedGraph& graph, const std::string& text,
                                 const LoaderOptions& options) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<LoaderCore> loader,
                                LoaderCore::CreateForQuery(graph.router(), query, options));
  return loader;
}

// What the query gives by itself for a batch's seeds and draw.
QueryAnswer Alone(const QueryRunner& runner, const LoadedBatch& loaded) {
  MinibatchDraw draw;
  draw.run_seed = kRunSeed;
  draw.epoch = static_cast<uint64_t>(loaded.batch->epoch);
  draw.batch = loaded.draw_batch;
  absl::StatusOr<QueryAnswer> answer = runner.Run(loaded.inputs, draw, nullptr);
  VICINITY_REQUIRE_OK(answer.status());
  return *std::move(answer);
}

// The rest of an epoch by positions, every batch having been compared with the query's own answer.
std::vector<std::string> Rest(const RoutedGraph& graph, const QueryRunner& runner,
                              LoaderCore* loader) {
  std::vector<std::string> batches;
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(LoadedBatch loaded, loader->NextLoaded());
    if (loaded.batch == nullptr) return batches;
    REQUIRE(loaded.answer != nullptr);
    REQUIRE(Describe(*loaded.answer) == Describe(Alone(runner, loaded)));
    const bool has_labels = loaded.inputs.size() == 1;
    REQUIRE(loaded.batch->labels.size() == (has_labels ? loaded.inputs.begin()->second.size() : 0));
    testing::ToPositions(graph, runner, loaded.answer.get());
    batches.push_back(std::to_string(loaded.batch->step) + Describe(*loaded.answer));
  }
}

std::vector<std::string> Epoch(const RoutedGraph& graph, const QueryRunner& runner,
                               LoaderCore* loader, int64_t epoch, int64_t first_step = 0) {
  VICINITY_REQUIRE_OK(loader->StartEpoch(epoch, first_step));
  return Rest(graph, runner, loader);
}

TEST_CASE("every batch is what the query gives by itself, on any cut, with any threads and caches",
          "[query_epochs]") {
  const std::string& text = kQueries[GENERATE(range(0, 11))];
  CAPTURE(text);
  const RoutedGraph whole(Graph(), 1);
  const std::vector<std::string> expected =
      Epoch(whole, *testing::Make(whole, text), Load(whole, text, Options()).get(), 3);
  CHECK(expected.size() > 3);
  for (const auto& [num_shards, far] : std::vector<std::pair<int32_t, std::vector<int32_t>>>{
           {1, {0}}, {2, {1}}, {4, {0, 1, 2, 3}}}) {
    RoutedGraph graph(Graph(), num_shards, far);
    graph.Rank("default");
    const std::unique_ptr<QueryRunner> runner = testing::Make(graph, text);
    int variant = 0;
    for (const CachePolicy cache : {CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto}) {
      for (const int64_t rows : {1, 40, 10'000}) {
        LoaderOptions options = Options();
        options.cache = cache;
        options.cache_rows = rows;
        options.sample_threads = 1 + variant % 3;
        options.fetch_threads = 1 + variant % 2 * 3;
        options.fetch_ahead = variant % 4;
        options.sample_ahead = variant % 3 * 4;
        options.window_bytes = variant % 2 == 0 ? 1 << 20 : 1 << 13;
        CAPTURE(num_shards, variant);
        ++variant;
        const std::unique_ptr<LoaderCore> loader = Load(graph, text, options);
        REQUIRE(Epoch(graph, *runner, loader.get(), 3) == expected);
        REQUIRE(Epoch(graph, *runner, loader.get(), 3, 2) ==
                std::vector<std::string>(expected.begin() + 2, expected.end()));
      }
    }
  }
}

using Row = std::tuple<int32_t, std::string, int64_t>;  // of a node type and column

struct NeededRows {
  std::set<Row> remote;
  int64_t local = 0;  // each node of each column of each step once
  int64_t far = 0;    // likewise
  int64_t far_bytes_once = 0;
  int64_t nodes = 0;
};

NeededRows RowsOf(const RoutedGraph& graph, const QueryAnswer& answer) {
  NeededRows needed;
  for (const StepAnswer& step : answer.steps) {
    needed.nodes += static_cast<int64_t>(step.nodes.size());
    for (const Rows& column : step.columns) {
      for (const int64_t node : std::set<int64_t>(step.nodes.begin(), step.nodes.end())) {
        const NodeTypeId type{step.node_type};
        if (graph.router().IsLocal(graph.router().book().OwnerOf(type, {node}))) {
          ++needed.local;
          continue;
        }
        ++needed.far;
        if (needed.remote.emplace(step.node_type, column.spec.name, node).second) {
          needed.far_bytes_once += column.spec.row_bytes();
        }
      }
    }
  }
  return needed;
}

// Of an epoch, batch by batch.
std::vector<NeededRows> RowsOfEpoch(const RoutedGraph& graph, LoaderCore* loader, int64_t epoch) {
  std::vector<NeededRows> batches;
  VICINITY_REQUIRE_OK(loader->StartEpoch(epoch, 0));
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const LoadedBatch loaded, loader->NextLoaded());
    if (loaded.batch == nullptr) return batches;
    batches.push_back(RowsOf(graph, *loaded.answer));
  }
}

TEST_CASE("without a cache a row comes once for all steps of as many batches as are on their way",
          "[query_epochs]") {
  const RoutedGraph graph(Graph(), 4, {0, 2, 3});
  LoaderOptions options = Options();
  options.cache = CachePolicy::kNone;
  options.homes = {{0, 1, 2, 3}};
  const auto batches = RowsOfEpoch(graph, Load(graph, kQueries[1], options).get(), 1);
  for (const int64_t ahead : {1, 3, 1000}) {
    int64_t fetched = 0, local = 0, far = 0, nodes = 0;
    for (size_t b = 0; b < batches.size(); ++b) {
      std::set<Row> there;
      for (size_t i = b - std::min<size_t>(b, ahead - 1); i < b; ++i) {
        there.insert(batches[i].remote.begin(), batches[i].remote.end());
      }
      for (const Row& row : batches[b].remote) fetched += there.count(row) == 0 ? 1 : 0;
      local += batches[b].local;
      far += batches[b].far;
      nodes += batches[b].nodes;
    }
    for (const int threads : {1, 4}) {
      CAPTURE(ahead, threads);
      options.fetch_ahead = ahead;
      options.sample_threads = options.fetch_threads = threads;
      const std::unique_ptr<LoaderCore> loader = Load(graph, kQueries[1], options);
      RowsOfEpoch(graph, loader.get(), 1);
      const LoaderStats stats = loader->stats();
      CHECK(stats.rows_remote == fetched);
      CHECK(stats.rows_local == local);
      CHECK(stats.rows_cached + stats.rows_remote == far);
      CHECK(stats.nodes == nodes);
      CHECK(stats.stages[kFetch].rows == fetched);
    }
  }
}

TEST_CASE("rows that stay in the pool come over the wire once, whatever steps and epochs need them",
          "[query_epochs]") {
  const RoutedGraph graph(Graph(), 3, {0, 1, 2});
  const std::string& text = kQueries[GENERATE(1, 2, 5, 8)];
  CAPTURE(text);
  LoaderOptions options = Options();  // room for all, no ranking
  options.sample_threads = 2;
  const std::unique_ptr<LoaderCore> loader = Load(graph, text, options);
  CHECK(loader->stats().ranked_by.substr(0, 6) == "none: ");
  std::set<Row> rows;
  int64_t bytes = 0;
  for (const int64_t epoch : {0, 1, 2}) {
    for (const NeededRows& batch : RowsOfEpoch(graph, loader.get(), epoch)) {
      rows.insert(batch.remote.begin(), batch.remote.end());
    }
    std::map<std::pair<int32_t, std::string>, int64_t> by_column;
    for (const auto& [type, column, node] : rows) ++by_column[{type, column}];
    int64_t with_bytes = 0;
    bytes = 0;
    for (const auto& [column, count] : by_column) {
      const NodeTypeSpec& spec = graph.router().schema().node_types[column.first];
      const int64_t row_bytes = spec.columns[spec.FindColumn(column.second)].row_bytes();
      bytes += count * row_bytes;
      with_bytes += row_bytes > 0 ? count : 0;
    }
    const LoaderStats stats = loader->stats();
    CHECK(stats.bytes_remote == bytes);
    if (with_bytes == static_cast<int64_t>(rows.size())) CHECK(stats.rows_remote == with_bytes);
  }
  CHECK(bytes > 0);
}

TEST_CASE("a ranking fills the cache, and a cache of so many bytes holds no more",
          "[query_epochs]") {
  RoutedGraph graph(Graph(), 4, {0, 2, 3});
  graph.Rank("default");
  LoaderOptions options = Options();
  options.homes = {{0, 1, 2, 3}};
  options.cache = GENERATE(CachePolicy::kVip, CachePolicy::kAuto);
  for (const int64_t bytes : {0, 3000, 1 << 20}) {
    options.cache_bytes = bytes;
    const std::unique_ptr<LoaderCore> loader = Load(graph, kQueries[1], options);
    RowsOfEpoch(graph, loader.get(), 0);
    const LoaderStats stats = loader->stats();
    CHECK(stats.cache_bytes <= bytes);
    if (bytes == 3000) CHECK(stats.cache_bytes > 3000 - 24);  // less than a user's two rows is left
    if (bytes == 1 << 20) CHECK(stats.rows_remote == 0);      // everything is held
    if (bytes > 0) CHECK(stats.ranked_by == "default");
  }
}

TEST_CASE("trainers and workers deal the batches of one, and go on where others stopped",
          "[query_epochs]") {
  const RoutedGraph graph(Graph(), 2, {1});
  const std::string& text = kQueries[1];
  const std::unique_ptr<QueryRunner> runner = testing::Make(graph, text);
  const std::vector<std::string> all = Epoch(graph, *runner, Load(graph, text, Options()).get(), 5);
  LoaderOptions options = Options();
  SECTION("workers") {
    options.step_stride = 3;
    for (options.step_offset = 0; options.step_offset < 3; ++options.step_offset) {
      const auto own = Epoch(graph, *runner, Load(graph, text, options).get(), 5);
      for (size_t i = 0; i < own.size(); ++i) CHECK(own[i] == all[options.step_offset + 3 * i]);
    }
  }
  SECTION("an epoch goes on behind what was made of it") {
    const std::unique_ptr<LoaderCore> loader = Load(graph, text, options);
    VICINITY_REQUIRE_OK(loader->ResumeEpoch(5, 2));
    CHECK(Rest(graph, *runner, loader.get()) ==
          std::vector<std::string>(all.begin() + 2, all.end()));
  }
  SECTION("two trainers, each with draws of its own") {
    options.num_trainers = 2;
    options.seed_policy = GENERATE(SeedPolicy::kGlobal, SeedPolicy::kHome);
    std::set<int64_t> dealt;
    for (options.trainer = 0; options.trainer < 2; ++options.trainer) {
      const std::unique_ptr<LoaderCore> loader = Load(graph, text, options);
      VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
      while (true) {
        VICINITY_ASSERT_OK_AND_ASSIGN(const LoadedBatch loaded, loader->NextLoaded());
        if (loaded.batch == nullptr) break;
        CHECK(loaded.draw_batch == static_cast<uint64_t>(2 * loaded.batch->step + options.trainer));
        CHECK(Describe(*loaded.answer) == Describe(Alone(*runner, loaded)));
        const std::vector<int64_t>& seeds = loaded.inputs.at("seeds");
        dealt.insert(seeds.begin(), seeds.end());
      }
    }
    options.num_trainers = 1;
    options.trainer = 0;
    options.seed_policy = SeedPolicy::kGlobal;
    CHECK(static_cast<int64_t>(dealt.size()) == Load(graph, text, options)->num_seeds());
  }
}

TEST_CASE("links are dealt to two inputs, each with its target, and their steps share rows",
          "[query_epochs]") {
  constexpr char kLinks[] =
      "buyers = nodes(user, $buyers, columns=[features])\n"
      "bought = nodes(item, $bought, columns=[features])\n"
      "friends = neighbors(buyers, knows, 3, columns=[features])\n"
      "neg = negatives(buyers, buys, 2, columns=[features])\n";
  const RoutedGraph graph(Graph(), 3, {0, 2});
  const std::unique_ptr<QueryRunner> runner = testing::Make(graph, kLinks);
  const std::vector<int64_t> all_users = graph.GlobalIds(NodeTypeId{0});
  const std::vector<int64_t> all_items = graph.GlobalIds(NodeTypeId{1});
  GlobalIds users, items;
  for (size_t i = 0; i < 50; ++i) {
    users.ids.push_back(all_users[i * 7 % all_users.size()]);
    items.ids.push_back(all_items[i * 3 % all_items.size()]);
  }
  LoaderOptions options = Options();
  options.seeds = LinkList{"buys", users, items};
  options.shuffle = GENERATE(false, true);
  const std::unique_ptr<LoaderCore> loader = Load(graph, kLinks, options);
  CHECK(loader->num_seeds() == 50);
  std::set<Row> rows;
  for (int epoch = 0; epoch < 2; ++epoch) {
    VICINITY_REQUIRE_OK(loader->StartEpoch(epoch, 0));
    std::set<int64_t> dealt;
    while (true) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const LoadedBatch loaded, loader->NextLoaded());
      if (loaded.batch == nullptr) break;
      REQUIRE(Describe(*loaded.answer) == Describe(Alone(*runner, loaded)));
      const std::vector<int64_t>& places = loaded.batch->input_positions;
      REQUIRE(loaded.inputs.at("buyers").size() == places.size());
      REQUIRE(loaded.inputs.at("bought").size() == places.size());
      for (size_t i = 0; i < places.size(); ++i) {
        CHECK(loaded.inputs.at("buyers")[i] == users.ids[places[i]]);
        CHECK(loaded.inputs.at("bought")[i] == items.ids[places[i]]);
      }
      CHECK(loaded.batch->labels.empty());
      dealt.insert(places.begin(), places.end());
      const NeededRows needed = RowsOf(graph, *loaded.answer);
      rows.insert(needed.remote.begin(), needed.remote.end());
    }
    CHECK(dealt.size() == 50);
  }
  CHECK(loader->stats().rows_remote == static_cast<int64_t>(rows.size()));
}

TEST_CASE("an error ends the epoch, names its batch, and the step is where it goes on",
          "[query_epochs]") {
  RoutedGraph graph(Graph(), 3, {0, 1, 2});
  const std::string& text = kQueries[1];
  const std::unique_ptr<QueryRunner> runner = testing::Make(graph, text);
  LoaderOptions options = Options();
  options.batch_size = 8;
  options.fetch_ahead = 1;
  options.sample_ahead = 0;
  const std::vector<std::string> expected =
      Epoch(graph, *runner, Load(graph, text, options).get(), 2);
  const std::unique_ptr<LoaderCore> loader = Load(graph, text, options);
  VICINITY_REQUIRE_OK(loader->StartEpoch(2, 0));
  int64_t step = 0;
  absl::Status status;
  while (status.ok()) {
    if (step == 1) graph.faults()->fail_after = graph.faults()->calls.load();
    const absl::StatusOr<LoadedBatch> loaded = loader->NextLoaded();
    status = loaded.status();
    if (status.ok()) REQUIRE(loaded->batch->step == step++);
  }
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("batch " + std::to_string(step) + " of epoch 2"));
  VICINITY_CHECK_CODE(loader->NextLoaded().status(), absl::StatusCode::kFailedPrecondition);
  graph.faults()->fail_after = -1;
  CHECK(Epoch(graph, *runner, loader.get(), 2, step) ==
        std::vector<std::string>(expected.begin() + step, expected.end()));
}

TEST_CASE("a shard that never answers makes a batch late, and dropping the loader waits for nobody",
          "[query_epochs]") {
  RoutedGraph graph(Graph(), 2, {0, 1});
  LoaderOptions options = Options();
  options.batch_timeout = std::chrono::milliseconds(50);
  const std::unique_ptr<LoaderCore> loader = Load(graph, kQueries[4], options);
  graph.faults()->silent = true;
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  const absl::Status late = loader->NextLoaded().status();
  VICINITY_CHECK_CODE(late, absl::StatusCode::kDeadlineExceeded);
  CHECK_THAT(std::string(late.message()), Catch::Contains("stage sample"));
}

TEST_CASE("what a step cannot make is an error of its batch that names the step",
          "[query_epochs]") {
  const RoutedGraph graph(Graph(), 2, {1});
  LoaderOptions options = Options();
  options.batch_size = 100;
  const std::unique_ptr<LoaderCore> loader = Load(
      graph,
      "src = nodes(user, $seeds)\nway = walk(src, knows, 1000)\nfar = walk(way, knows, 16000)\n",
      options);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  const absl::Status status = loader->NextLoaded().status();
  CHECK_FALSE(status.ok());
  CHECK_THAT(std::string(status.message()), Catch::Contains("step far"));
}

}  // namespace
}  // namespace vicinity
