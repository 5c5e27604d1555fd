#include "sampler/filtered_lists.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/edge_conditions.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/local_sampler.h"
#include "sampler/one_hop.h"
#include "tests/sampler/chi_square.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::InEdge;
using testing::MemoryGraph;

// What a uniform draw gives is the contract's (tests/contract) and, against a graph that never had
// the edges, that of tests/client/loading/batch_sampler_test.cc.
TEST_CASE("draws by weight are among what is left of a list, each by its weight",
          "[filtered_lists]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 30;
  options.num_edges = 600;
  options.weights = true;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const std::vector<InEdge> list = graph.InEdges({0}, 4);
  // Half of its sources, so most of the weight.
  std::vector<ExcludedEdge> excluded;
  for (size_t i = 0; i < list.size(); i += 2) excluded.push_back({0, list[i].source});
  std::vector<double> weights;
  std::vector<int64_t> edge_ids;
  double all = 0;
  for (const InEdge& edge : list) {
    float weight = 0;
    std::memcpy(&weight, graph.edge_row({0}, 0, edge.edge_id).data(), sizeof(weight));
    const bool is_out =
        std::find(excluded.begin(), excluded.end(), ExcludedEdge{0, edge.source}) != excluded.end();
    if (is_out || weight == 0) continue;
    weights.push_back(weight);
    edge_ids.push_back(edge.edge_id);
    all += weight;
  }
  REQUIRE(edge_ids.size() > 3);
  constexpr int64_t kDraws = 1'000'000;
  OneHopOptions draws;
  draws.fanout = 1 << 10;
  draws.replace = true;
  draws.weighted = true;
  draws.want_edge_ids = true;
  draws.excluded = excluded;
  std::vector<int64_t> counts(edge_ids.size());
  for (draws.stream = 0; draws.stream * draws.fanout < kDraws; ++draws.stream) {
    Neighbors drawn;
    VICINITY_REQUIRE_OK(
        SampleLists(ShardReader(*dataset->shard({0})), {0}, {0}, {4}, draws, &drawn));
    for (const int64_t edge : drawn.edge_ids) {
      const auto found = std::find(edge_ids.begin(), edge_ids.end(), edge);
      REQUIRE(found != edge_ids.end());
      ++counts[found - edge_ids.begin()];
    }
  }
  std::vector<double> expected;
  for (const double weight : weights) {
    expected.push_back(static_cast<double>(draws.stream * draws.fanout) * weight / all);
  }
  CHECK(testing::ChiSquare(counts, expected) <
        testing::ChiSquareLimit(static_cast<int64_t>(counts.size()) - 1));
}

TEST_CASE("excluded edges of targets that there are not are refused", "[filtered_lists]") {
  const MemoryGraph graph = testing::RandomGraph({});
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const ShardReader reader(*dataset->shard({0}));
  const std::vector<ExcludedEdge> excluded = {{0, 1}};
  OneHopOptions options;
  options.fanout = 2;
  options.excluded = excluded;
  Neighbors out;
  VICINITY_CHECK_CODE(SampleLists(reader, {0}, {0}, {100}, options, &out),
                      absl::StatusCode::kInvalidArgument);
  const std::vector<uint32_t> trees = {1, 2};
  options.trees = trees;
  VICINITY_CHECK_CODE(SampleLists(reader, {0}, {0}, {1}, options, &out),
                      absl::StatusCode::kInvalidArgument);
}

// More of them than are searched for one by one, and doubles.
TEST_CASE("many excluded edges of one target are all left out", "[filtered_lists]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 300;
  options.num_edges = 60'000;
  const MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const auto num_excluded = static_cast<size_t>(GENERATE(5, 31, 32, 100));
  std::vector<ExcludedEdge> excluded;
  std::vector<int64_t> left;
  for (const InEdge& edge : graph.InEdges({0}, 4)) {
    if (excluded.size() < num_excluded && edge.source % 2 == 0) {
      excluded.push_back({0, edge.source});
    }
  }
  for (const InEdge& edge : graph.InEdges({0}, 4)) {
    const bool is_out =
        std::find(excluded.begin(), excluded.end(), ExcludedEdge{0, edge.source}) != excluded.end();
    if (!is_out) left.push_back(edge.edge_id);
  }
  OneHopOptions all;
  all.fanout = kAllNeighbors;
  all.want_edge_ids = true;
  all.excluded = excluded;
  Neighbors out;
  VICINITY_REQUIRE_OK(SampleLists(ShardReader(*dataset->shard({0})), {0}, {0}, {4}, all, &out));
  CHECK(out.edge_ids == left);
  CHECK(out.counts == std::vector<uint32_t>{static_cast<uint32_t>(left.size())});
}

// A graph with times (and weights) in one shard, in the user's order.
class Timed {
 public:
  explicit Timed(int64_t num_edges, bool weights = false) : Timed(Make(num_edges, weights)) {}
  explicit Timed(MemoryGraph graph) : graph_(std::move(graph)) {
    VICINITY_REQUIRE_OK(WriteGraph(graph_, dir_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(dir_.File("graph")));
  }

  int32_t time_column() const { return graph_.schema.edge_types[0].FindColumn("time"); }
  int64_t TimeOf(int64_t edge_id) const {
    int64_t time = 0;
    std::memcpy(&time, graph_.edge_row({0}, time_column(), edge_id).data(), sizeof(time));
    return time;
  }
  float WeightOf(int64_t edge_id) const {
    float weight = 0;
    std::memcpy(&weight, graph_.edge_row({0}, 0, edge_id).data(), sizeof(weight));
    return weight;
  }
  std::shared_ptr<const RowCondition> Where(const std::string& text) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto by_type, ResolveByEdgeType(graph_.schema, text));
    return by_type[0];
  }
  // Of a target, in the list's order, the edges that are not later.
  std::vector<int64_t> Until(int64_t target, int64_t time) const {
    std::vector<int64_t> edges;
    for (const InEdge& edge : graph_.InEdges({0}, target)) {
      if (TimeOf(edge.edge_id) <= time) edges.push_back(edge.edge_id);
    }
    return edges;
  }
  Neighbors Sample(const std::vector<uint64_t>& rows, const OneHopOptions& options) const {
    Neighbors out;
    VICINITY_REQUIRE_OK(
        SampleLists(ShardReader(*dataset_->shard({0})), {0}, {0}, rows, options, &out));
    return out;
  }
  const Dataset& dataset() const { return *dataset_; }
  std::string path() const { return dir_.File("graph"); }

 private:
  static MemoryGraph Make(int64_t num_edges, bool weights) {
    testing::RandomGraphOptions options;
    options.num_nodes = 30;
    options.num_edges = num_edges;
    options.weights = weights;
    options.times = true;
    return testing::RandomGraph(options);
  }

  const testing::TempDir dir_;
  const MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
};

const std::vector<int64_t> kTreeTimes = {0,
                                         -5,
                                         -6,
                                         5,
                                         3,
                                         std::numeric_limits<int64_t>::min(),
                                         std::numeric_limits<int64_t>::max(),
                                         std::numeric_limits<int64_t>::max() - 1};

// Edges of any age that are not later.
std::vector<TimeBounds> Until(const std::vector<int64_t>& times) {
  std::vector<TimeBounds> bounds;
  for (const int64_t time : times) bounds.push_back({std::numeric_limits<int64_t>::min(), time});
  return bounds;
}

TEST_CASE("only edges that are not later than their target's bound are drawn", "[filtered_lists]") {
  const Timed graph(900);
  OneHopOptions options;
  options.fanout = GENERATE(int64_t{1}, int64_t{4}, kAllNeighbors);
  options.last = GENERATE(false, true);
  options.replace = !options.last && GENERATE(false, true);
  options.time_column = graph.time_column();
  options.want_edge_ids = true;
  std::vector<TimeBounds> times;
  std::vector<uint64_t> rows;
  std::vector<uint32_t> trees;
  for (uint32_t i = 0; i < 240; ++i) {
    rows.push_back(i % 30);
    trees.push_back(i % 8);
    times.push_back({std::numeric_limits<int64_t>::min(), kTreeTimes[i % 8]});
  }
  options.trees = trees;
  options.times = times;
  options.want_edge_times = true;
  const Neighbors out = graph.Sample(rows, options);
  REQUIRE(out.counts.size() == rows.size());
  REQUIRE(out.edge_times.size() == out.edge_ids.size());
  for (size_t i = 0; i < out.edge_ids.size(); ++i) {
    REQUIRE(out.edge_times[i] == graph.TimeOf(out.edge_ids[i]));
  }
  auto next = out.edge_ids.begin();
  bool some_without = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<int64_t> drawn(next, next + out.counts[i]);
    next += out.counts[i];
    std::vector<int64_t> until = graph.Until(static_cast<int64_t>(rows[i]), kTreeTimes[trees[i]]);
    some_without = some_without || until.empty();
    const bool all = options.fanout == kAllNeighbors;
    const size_t most = all ? until.size() : static_cast<size_t>(options.fanout);
    REQUIRE(drawn.size() == (until.empty()     ? 0
                             : options.replace ? most
                                               : std::min(most, until.size())));
    if (!options.replace && drawn.size() == until.size()) {
      CHECK(drawn == until);
    } else if (options.last) {
      // The latest, of equal ones those behind; told in the list's order.
      std::vector<int64_t> latest(until.size());
      std::iota(latest.begin(), latest.end(), 0);
      std::stable_sort(latest.begin(), latest.end(), [&](int64_t a, int64_t b) {
        return graph.TimeOf(until[a]) < graph.TimeOf(until[b]);
      });
      latest.erase(latest.begin(), latest.end() - static_cast<int64_t>(drawn.size()));
      std::sort(latest.begin(), latest.end());
      for (size_t k = 0; k < latest.size(); ++k) CHECK(drawn[k] == until[latest[k]]);
    } else {
      std::set<int64_t> distinct;
      for (const int64_t edge : drawn) {
        distinct.insert(edge);
        CHECK(std::find(until.begin(), until.end(), edge) != until.end());
      }
      if (!options.replace) CHECK(distinct.size() == drawn.size());
    }
  }
  CHECK(some_without);
}

// That a million draws of target 4 are among these edges, each as often as its chance says.
void CheckChances(const Timed& graph, OneHopOptions options, const std::vector<int64_t>& edges,
                  std::vector<double> chances) {
  REQUIRE(edges.size() > 5);
  std::vector<int64_t> counts(edges.size());
  int64_t drawn = 0;
  for (options.stream = 0; drawn < 1'000'000; ++options.stream) {
    for (const int64_t edge : graph.Sample({4}, options).edge_ids) {
      const auto found = std::find(edges.begin(), edges.end(), edge);
      REQUIRE(found != edges.end());
      ++counts[found - edges.begin()];
      ++drawn;
    }
  }
  const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
  for (double& chance : chances) chance *= static_cast<double>(drawn) / sum;
  const double limit = testing::ChiSquareLimit(static_cast<int64_t>(counts.size()) - 1);
  CHECK(testing::ChiSquare(counts, chances) < limit);
  chances[0] *= 1.1;  // what is off is found
  CHECK(testing::ChiSquare(counts, chances) > limit);
}

TEST_CASE("edges until a time are drawn by chance, each alike or by its weight",
          "[filtered_lists]") {
  const Timed graph(900, true);
  OneHopOptions options;
  options.weighted = GENERATE(false, true);
  options.fanout = 1 << 10;
  options.replace = true;
  options.time_column = graph.time_column();
  options.want_edge_ids = true;
  const std::vector<TimeBounds> times = Until({0});
  options.times = times;
  std::vector<int64_t> edges;
  std::vector<double> chances;
  for (const int64_t edge : graph.Until(4, 0)) {
    const double chance = options.weighted ? graph.WeightOf(edge) : 1;
    if (chance == 0) continue;
    edges.push_back(edge);
    chances.push_back(chance);
  }
  CheckChances(graph, options, edges, chances);
}

TEST_CASE("edges that meet a condition are drawn by chance, each alike or by its weight",
          "[filtered_lists]") {
  const Timed graph(900, true);
  OneHopOptions options;
  options.weighted = GENERATE(false, true);
  options.fanout = 1 << 10;
  options.replace = true;
  options.want_edge_ids = true;
  options.where = graph.Where("time in (-4, -2, 0, 3) or (weight > 0.7 and time < 0)");
  std::vector<int64_t> edges;
  std::vector<double> chances;
  for (const int64_t edge : graph.Until(4, std::numeric_limits<int64_t>::max())) {
    const int64_t time = graph.TimeOf(edge);
    const bool listed = time == -4 || time == -2 || time == 0 || time == 3;
    if (!listed && !(graph.WeightOf(edge) > 0.7F && time < 0)) continue;
    const double chance = options.weighted ? graph.WeightOf(edge) : 1;
    if (chance == 0) continue;
    edges.push_back(edge);
    chances.push_back(chance);
  }
  CheckChances(graph, options, edges, chances);
}

TEST_CASE("a target none of whose edges meets the condition has no neighbours",
          "[filtered_lists]") {
  const Timed graph(900, true);
  OneHopOptions options;
  options.fanout = GENERATE(int64_t{3}, kAllNeighbors);
  options.replace = GENERATE(false, true);
  options.weighted = GENERATE(false, true);
  options.where = graph.Where("time > 3 and time < 3");
  const Neighbors none = graph.Sample({4, 5, 4}, options);
  CHECK(none.counts == std::vector<uint32_t>{0, 0, 0});
  CHECK(none.sources.empty());
}

// Of what is left of a short list and of a long one, by ways of their own.
TEST_CASE("draws by weight without replacement are successive ones", "[filtered_lists]") {
  const Timed graph(GENERATE(900, 6000), true);
  OneHopOptions options;
  options.weighted = true;
  options.fanout = 2;
  options.time_column = graph.time_column();
  options.want_edge_ids = true;
  const std::vector<TimeBounds> times = Until({0});
  options.times = times;
  std::vector<int64_t> edges;
  std::vector<double> weights;
  for (const int64_t edge : graph.Until(4, 0)) {
    if (graph.WeightOf(edge) == 0) continue;
    edges.push_back(edge);
    weights.push_back(graph.WeightOf(edge));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  // Of each edge how often it is the second, given all that may be the first.
  std::vector<double> second(edges.size());
  for (size_t j = 0; j < edges.size(); ++j) {
    for (size_t i = 0; i < edges.size(); ++i) {
      if (i != j) second[j] += weights[i] / sum * weights[j] / (sum - weights[i]);
    }
  }
  std::vector<int64_t> counts(edges.size());
  constexpr int64_t kPairs = 200'000;
  for (; options.stream < kPairs; ++options.stream) {
    const std::vector<int64_t> drawn = graph.Sample({4}, options).edge_ids;
    REQUIRE(drawn.size() == 2);
    REQUIRE(drawn[0] != drawn[1]);
    const auto found = std::find(edges.begin(), edges.end(), drawn[1]);
    REQUIRE(found != edges.end());
    ++counts[found - edges.begin()];
  }
  std::vector<double> expected;
  for (const double chance : second) expected.push_back(static_cast<double>(kPairs) * chance);
  const double limit = testing::ChiSquareLimit(static_cast<int64_t>(counts.size()) - 1);
  CHECK(testing::ChiSquare(counts, expected) < limit);
  // As if the second were drawn like the first.
  for (size_t j = 0; j < edges.size(); ++j) {
    expected[j] = static_cast<double>(kPairs) * weights[j] / sum;
  }
  if (edges.size() < 40) CHECK(testing::ChiSquare(counts, expected) > limit);
}

TEST_CASE("of a window only edges are drawn that are in it, its ends included",
          "[filtered_lists]") {
  const Timed graph(900);
  OneHopOptions options;
  options.fanout = GENERATE(int64_t{2}, kAllNeighbors);
  options.last = GENERATE(false, true);
  options.time_column = graph.time_column();
  options.want_edge_ids = true;
  const TimeBounds window = GENERATE(TimeBounds{-4, 1}, TimeBounds{2, 2}, TimeBounds{2, 1},
                                     TimeBounds{INT64_MIN, INT64_MAX});
  const std::vector<uint64_t> rows = {4, 5, 6, 7};
  const std::vector<TimeBounds> times(rows.size(), window);
  options.times = times;
  const Neighbors out = graph.Sample(rows, options);
  auto next = out.edge_ids.begin();
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<int64_t> in_window;
    for (const int64_t edge : graph.Until(static_cast<int64_t>(rows[i]), window.until)) {
      if (graph.TimeOf(edge) >= window.from) in_window.push_back(edge);
    }
    const std::vector<int64_t> drawn(next, next + out.counts[i]);
    next += out.counts[i];
    if (options.fanout == kAllNeighbors) CHECK(drawn == in_window);
    CHECK(drawn.size() == (options.fanout == kAllNeighbors
                               ? in_window.size()
                               : std::min<size_t>(in_window.size(), options.fanout)));
    for (const int64_t edge : drawn) {
      CHECK(std::find(in_window.begin(), in_window.end(), edge) != in_window.end());
    }
  }
}

TEST_CASE("a condition may be about more columns than are read at once", "[filtered_lists]") {
  testing::RandomGraphOptions of_graph;
  of_graph.num_nodes = 30;
  of_graph.num_edges = 600;
  of_graph.weights = true;
  of_graph.times = true;
  MemoryGraph memory = testing::RandomGraph(of_graph);
  const int num_more = GENERATE(1, 3, 4, 20);
  std::string text = "weight > 0.1";
  for (int k = 0; k < num_more; ++k) {
    ColumnSpec column;
    column.name = absl::StrCat("more", k);
    column.dtype = DType::kInt32;
    memory.schema.edge_types[0].columns.push_back(column);
    std::string& rows = memory.edges[0].columns.emplace_back();
    for (int32_t edge = 0; edge < 600; ++edge) {
      const int32_t value = edge % (k + 5);
      rows.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    absl::StrAppend(&text, " and more", k, " != 2");
  }
  const auto meets = [&](int64_t edge) {
    for (int k = 0; k < num_more; ++k) {
      if (edge % (k + 5) == 2) return false;
    }
    return true;
  };
  const Timed graph(memory);
  OneHopOptions options;
  options.fanout = kAllNeighbors;
  options.want_edge_ids = true;
  options.where = graph.Where(text);
  options.time_column = GENERATE(true, false) ? graph.time_column() : -1;
  const std::vector<TimeBounds> times(30, TimeBounds{-3, 3});
  options.times = times;
  std::vector<uint64_t> rows(30);
  std::iota(rows.begin(), rows.end(), 0);
  const Neighbors out = graph.Sample(rows, options);
  auto next = out.edge_ids.begin();
  for (const uint64_t row : rows) {
    std::vector<int64_t> expected;
    for (const InEdge& edge : memory.InEdges({0}, static_cast<int64_t>(row))) {
      const int64_t id = edge.edge_id;
      if (graph.WeightOf(id) > 0.1f && meets(id) &&
          (options.time_column < 0 || times[0].Has(graph.TimeOf(id)))) {
        expected.push_back(id);
      }
    }
    CHECK(std::vector<int64_t>(next, next + out.counts[row]) == expected);
    next += out.counts[row];
  }
}

TEST_CASE("draws by time need bounds for every target", "[filtered_lists]") {
  const Timed graph(100);
  const ShardReader reader(*graph.dataset().shard({0}));
  OneHopOptions options;
  options.fanout = 2;
  options.time_column = graph.time_column();
  Neighbors out;
  VICINITY_CHECK_CODE(SampleLists(reader, {0}, {0}, {1}, options, &out),
                      absl::StatusCode::kInvalidArgument);
  const std::vector<TimeBounds> times = Until({1, 2});
  options.times = times;
  VICINITY_CHECK_CODE(SampleLists(reader, {0}, {0}, {1}, options, &out),
                      absl::StatusCode::kInvalidArgument);
}

// Lists in the order of time; `to_hub`: all edges lead to node 4.
MemoryGraph InTimeOrder(int64_t num_edges, bool to_hub) {
  testing::RandomGraphOptions options;
  options.num_nodes = 30;
  options.num_edges = num_edges;
  options.weights = true;
  options.times = true;
  options.time_order = true;
  options.id_kind = IdKind::kInt64;  // other keys than nodes
  MemoryGraph graph = testing::RandomGraph(options);
  if (to_hub) graph.edges[0].targets.assign(graph.edges[0].targets.size(), 4);
  return graph;
}

// Every way to draw by the graph's times.
std::vector<OneHopOptions> WaysToDraw(const Timed& graph) {
  std::vector<OneHopOptions> ways;
  const auto where = graph.Where("weight > 400 or time in (-2, 3)");
  for (const int64_t fanout : {int64_t{1}, int64_t{4}, int64_t{60}, kAllNeighbors}) {
    for (const auto& condition : {std::shared_ptr<const RowCondition>(), where}) {
      OneHopOptions options;
      options.fanout = fanout;
      options.where = condition;
      options.time_column = graph.time_column();
      options.want_edge_ids = true;
      options.want_edge_positions = true;
      options.want_edge_times = true;
      options.stream = 99;
      ways.push_back(options);
      ways.back().replace = true;
      ways.push_back(options);
      ways.back().last = true;
      ways.push_back(options);
      ways.back().weighted = true;
      ways.push_back(options);
      ways.back().labor = true;
      ways.push_back(ways.back());
      ways.back().weighted = true;
      ways.push_back(options);
    }
  }
  return ways;
}

const std::vector<TimeBounds> kWindows = {{INT64_MIN, INT64_MAX},
                                          {INT64_MIN, 0},
                                          {INT64_MIN, INT64_MIN},
                                          {INT64_MIN, INT64_MAX - 1},
                                          {INT64_MIN + 1, 2},
                                          {-3, 1},
                                          {2, 2},
                                          {3, -3},
                                          {-5, 5},
                                          {6, 100},
                                          {INT64_MAX, INT64_MAX},
                                          {INT64_MAX, INT64_MIN}};

bool Same(const Neighbors& a, const Neighbors& b) {
  return a.counts == b.counts && a.sources == b.sources && a.edge_ids == b.edge_ids &&
         a.edge_positions == b.edge_positions && a.edge_times == b.edge_times;
}

// That lists in the order of time give what they give who goes through them.
void CheckSameInOrder(const Timed& graph, const std::vector<uint64_t>& rows) {
  std::vector<TimeBounds> times;
  std::vector<uint32_t> trees;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    times.push_back(kWindows[i % kWindows.size()]);
    trees.push_back(i % 5);
  }
  std::vector<ExcludedEdge> some;  // of every other target
  for (uint32_t i = 0; i < rows.size(); i += 2) {
    for (const int64_t source : {3, 9, 20}) some.push_back({i, source});
  }
  size_t num_drawn = 0;
  for (OneHopOptions options : WaysToDraw(graph)) {
    options.times = times;
    options.trees = trees;
    for (const absl::Span<const ExcludedEdge> excluded : {{}, absl::MakeConstSpan(some)}) {
      options.excluded = excluded;
      options.in_time_order = false;
      const Neighbors through = graph.Sample(rows, options);
      options.in_time_order = true;
      const Neighbors in_order = graph.Sample(rows, options);
      CAPTURE(options.fanout, options.replace, options.last, options.weighted, options.labor,
              options.where != nullptr, excluded.size());
      REQUIRE(Same(in_order, through));
      num_drawn += in_order.sources.size();
    }
  }
  CHECK(num_drawn > 1000);
}

TEST_CASE("lists in the order of time give what going through them gives", "[filtered_lists]") {
  const Timed graph(InTimeOrder(GENERATE(40, 900), false));
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < 360; ++i) rows.push_back(i % 30);
  CheckSameInOrder(graph, rows);
}

TEST_CASE("so do those of a hub most of whose edges are at the same times", "[filtered_lists]") {
  const Timed graph(InTimeOrder(100'000, true));
  CheckSameInOrder(graph, std::vector<uint64_t>(kWindows.size(), 4));
}

TEST_CASE("the latest of a list in the order of time are its last within the bounds",
          "[filtered_lists]") {
  const Timed graph(InTimeOrder(900, false));
  OneHopOptions options;
  options.fanout = 5;
  options.last = true;
  options.time_column = graph.time_column();
  options.in_time_order = true;
  options.want_edge_ids = true;
  const std::vector<TimeBounds> times = Until({2});
  options.times = times;
  std::vector<int64_t> until = graph.Until(4, 2);
  REQUIRE(until.size() > 5);
  CHECK(graph.Sample({4}, options).edge_ids == std::vector<int64_t>(until.end() - 5, until.end()));
}

TEST_CASE("of a hub in the order of time only the pages are verified that draws look at",
          "[filtered_lists]") {
  const Timed graph(InTimeOrder(100'000, true));
  const EdgeTable& edges = graph.dataset().shard({0})->edges({0});
  // Behind all that is not later than 0, and no place that halving leads to.
  const int64_t damaged = edges.begin(4) + 93'000;
  testing::FlipBit(graph.path() + "/shard-00000/edges.node.links.node.column.time",
                   64 + 8 * damaged);
  Dataset::Options lazy;
  lazy.check_bytes = 0;
  lazy.verify_at_touch = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(graph.path(), lazy));
  OneHopOptions options;
  options.fanout = GENERATE(int64_t{5}, kAllNeighbors);
  options.last = GENERATE(false, true);
  options.time_column = graph.time_column();
  options.want_edge_times = true;
  const std::vector<TimeBounds> times = Until({0});
  options.times = times;
  Neighbors out;
  options.in_time_order = true;
  VICINITY_CHECK_OK(SampleLists(ShardReader(*dataset->shard({0})), {0}, {0}, {4}, options, &out));
  CHECK(!out.edge_times.empty());
  options.in_time_order = false;
  VICINITY_CHECK_CODE(SampleLists(ShardReader(*dataset->shard({0})), {0}, {0}, {4}, options, &out),
                      absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
