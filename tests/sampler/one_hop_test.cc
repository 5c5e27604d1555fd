#include "sampler/one_hop.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/random.h"
#include "tests/sampler/chi_square.h"
#include "tests/sampler/edge_lists.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::ChiSquare;
using testing::ChiSquareLimit;
using testing::EdgeLists;

constexpr int64_t kDraws = 1'000'000;  // of each list, at least

// Positions 0 .. d - 1 drawn in one trial.
using Sample = std::vector<int64_t>;

std::vector<uint32_t> Count(uint32_t n, uint32_t first = 0) {
  std::vector<uint32_t> list(n);
  std::iota(list.begin(), list.end(), first);
  return list;
}

std::vector<uint64_t> AllRows(const EdgeLists& edges) {
  std::vector<uint64_t> rows(edges.keys.size());
  std::iota(rows.begin(), rows.end(), uint64_t{0});
  return rows;
}

OneHopOptions Options(int64_t fanout, bool replace = false, uint64_t stream = 77) {
  OneHopOptions options;
  options.fanout = fanout;
  options.replace = replace;
  options.stream = stream;
  return options;
}

// `trials` samples from a list of `degree` nodes, each with a key of its own.
std::vector<Sample> Trials(int64_t degree, int64_t fanout, bool replace, int64_t trials) {
  EdgeLists edges;
  edges.AddTarget(0, Count(static_cast<uint32_t>(degree)));
  std::vector<Sample> samples;
  const EdgeTable table = edges.table();
  Neighbors out;  // one for all: what it has room for is far more than a sample
  for (int64_t i = 0; i < trials; ++i) {
    const uint64_t key = static_cast<uint64_t>(i);
    out.Clear();
    VICINITY_REQUIRE_OK(SampleOneHop(table, {key}, {uint64_t{0}}, Options(fanout, replace), &out));
    samples.emplace_back(out.sources.begin(), out.sources.end());
  }
  return samples;
}

// The sampler of SALIENT++: Floyd's algorithm with j left out of the draw.
std::vector<Sample> BiasedTrials(int64_t degree, int64_t fanout, int64_t trials) {
  std::vector<Sample> samples;
  for (int64_t i = 0; i < trials; ++i) {
    NodeDraws draws(77, static_cast<uint64_t>(i));
    Sample sample;
    for (int64_t j = degree - fanout; j < degree; ++j) {
      const int64_t candidate = static_cast<int64_t>(draws.Below(j));
      const bool taken = std::find(sample.begin(), sample.end(), candidate) != sample.end();
      sample.push_back(taken ? j : candidate);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

// How far the positions' counts are from equal, as a share of the limit: above 1 is biased.
double MarginalBias(const std::vector<Sample>& samples, int64_t degree, int64_t fanout) {
  std::vector<int64_t> counts(degree);
  for (const Sample& sample : samples) {
    for (const int64_t position : sample) ++counts[position];
  }
  const double expected = static_cast<double>(samples.size()) * fanout / degree;
  // Draws without replacement spread the counts less than a multinomial, by this factor.
  const double less = static_cast<double>(degree - 1) / static_cast<double>(degree - fanout);
  return less * ChiSquare(counts, std::vector<double>(degree, expected)) /
         ChiSquareLimit(degree - 1);
}

// The same for all subsets.
double SubsetBias(const std::vector<Sample>& samples, int64_t degree, int64_t fanout) {
  std::map<Sample, int64_t> by_subset;
  std::vector<bool> chosen(degree);
  std::fill_n(chosen.begin(), fanout, true);
  do {
    Sample subset;
    for (int64_t i = 0; i < degree; ++i) {
      if (chosen[i]) subset.push_back(i);
    }
    by_subset[subset] = 0;
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  for (Sample sample : samples) {
    std::sort(sample.begin(), sample.end());
    ++by_subset.at(sample);
  }
  std::vector<int64_t> counts;
  for (const auto& [subset, count] : by_subset) counts.push_back(count);
  const double expected = static_cast<double>(samples.size()) / static_cast<double>(counts.size());
  return ChiSquare(counts, std::vector<double>(counts.size(), expected)) /
         ChiSquareLimit(static_cast<int64_t>(counts.size()) - 1);
}

// The same for pairs of positions, up to ten ranges of positions a side: one pair of each sample,
// picked by draws of the test's own.
double PairBias(const std::vector<Sample>& samples, int64_t degree) {
  const int64_t ranges = std::min<int64_t>(degree, 10);
  const auto range_of = [&](int64_t position) { return position * ranges / degree; };
  std::vector<double> size(ranges);
  for (int64_t i = 0; i < degree; ++i) ++size[range_of(i)];
  std::vector<int64_t> counts;
  std::vector<double> expected;
  std::map<std::pair<int64_t, int64_t>, size_t> cell;
  for (int64_t a = 0; a < ranges; ++a) {
    for (int64_t b = a; b < ranges; ++b) {
      const double pairs = a == b ? size[a] * (size[a] - 1) : 2 * size[a] * size[b];
      if (pairs == 0) continue;
      cell[{a, b}] = counts.size();
      counts.push_back(0);
      expected.push_back(pairs / (degree * (degree - 1.0)) * samples.size());
    }
  }
  NodeDraws pick(1, 2);
  for (const Sample& sample : samples) {
    const uint64_t first = pick.Below(sample.size());
    const uint64_t second = (first + 1 + pick.Below(sample.size() - 1)) % sample.size();
    const int64_t a = range_of(sample[first]);
    const int64_t b = range_of(sample[second]);
    ++counts[cell.at({std::min(a, b), std::max(a, b)})];
  }
  return ChiSquare(counts, expected) / ChiSquareLimit(static_cast<int64_t>(counts.size()) - 1);
}

TEST_CASE("every subset of a short list is equally likely", "[one_hop]") {
  const auto [degree, fanout] = GENERATE(table<int64_t, int64_t>({{2, 1},
                                                                  {3, 1},
                                                                  {3, 2},
                                                                  {4, 2},
                                                                  {5, 1},
                                                                  {5, 4},
                                                                  {6, 3},
                                                                  {7, 2},
                                                                  {8, 5},
                                                                  {10, 5},
                                                                  {11, 10},
                                                                  {12, 3}}));
  CAPTURE(degree, fanout);
  const std::vector<Sample> samples =
      Trials(degree, fanout, false, std::max<int64_t>(60000, kDraws / fanout));
  CHECK(SubsetBias(samples, degree, fanout) < 1);
  CHECK(MarginalBias(samples, degree, fanout) < 1);
  if (fanout > 1) CHECK(PairBias(samples, degree) < 1);
}

TEST_CASE("every position and pair of a long list is equally likely", "[one_hop]") {
  const auto [degree, fanout] = GENERATE(table<int64_t, int64_t>({{16, 15},
                                                                  {20, 10},
                                                                  {33, 32},
                                                                  {34, 33},
                                                                  {60, 15},
                                                                  {64, 40},
                                                                  {100, 2},
                                                                  {100, 99},
                                                                  {1000, 5},
                                                                  {1000, 50},
                                                                  {5000, 100}}));
  CAPTURE(degree, fanout);
  const std::vector<Sample> samples =
      Trials(degree, fanout, false, std::max<int64_t>(20000, kDraws / fanout));
  for (const Sample& sample : samples) {
    REQUIRE(std::set<int64_t>(sample.begin(), sample.end()).size() == static_cast<size_t>(fanout));
  }
  CHECK(MarginalBias(samples, degree, fanout) < 1);
  CHECK(PairBias(samples, degree) < 1);
}

TEST_CASE("the tests of uniformity find the off-by-one bias of SALIENT++", "[one_hop]") {
  const auto [degree, fanout] =
      GENERATE(table<int64_t, int64_t>({{3, 1}, {5, 4}, {6, 3}, {10, 5}, {60, 15}, {100, 2}}));
  CAPTURE(degree, fanout);
  const std::vector<Sample> samples = BiasedTrials(degree, fanout, 60000);
  CHECK(MarginalBias(samples, degree, fanout) > 1);
  if (degree <= 10) CHECK(SubsetBias(samples, degree, fanout) > 1);
}

TEST_CASE("draws with replacement are uniform and independent of each other", "[one_hop]") {
  const auto [degree, fanout] =
      GENERATE(table<int64_t, int64_t>({{1, 3}, {2, 2}, {3, 5}, {7, 4}, {20, 10}}));
  CAPTURE(degree, fanout);
  const std::vector<Sample> samples = Trials(degree, fanout, true, 40000);
  std::vector<int64_t> pairs(degree * degree);
  for (const Sample& sample : samples) {
    REQUIRE(sample.size() == static_cast<size_t>(fanout));
    for (size_t i = 0; i + 1 < sample.size(); i += 2) {
      ++pairs[sample[i] * degree + sample[i + 1]];
    }
  }
  if (degree == 1) return;
  const double expected =
      static_cast<double>(samples.size() * (fanout / 2)) / static_cast<double>(pairs.size());
  CHECK(ChiSquare(pairs, std::vector<double>(pairs.size(), expected)) <
        ChiSquareLimit(static_cast<int64_t>(pairs.size()) - 1));
}

TEST_CASE("neighbouring keys, and neighbouring streams, draw independently", "[one_hop]") {
  constexpr int64_t kDegree = 9;
  EdgeLists edges;
  for (uint64_t key = 0; key < 100000; ++key) edges.AddTarget(key, Count(kDegree));
  Neighbors first, second;
  const std::vector<uint64_t> rows = AllRows(edges);
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, rows, Options(1), &first));
  VICINITY_REQUIRE_OK(
      SampleOneHop(edges.table(), edges.keys, rows, Options(1, false, 78), &second));
  std::vector<int64_t> by_key(kDegree * kDegree), by_stream(kDegree * kDegree);
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    ++by_key[first.sources[i] * kDegree + first.sources[i + 1]];
    ++by_stream[first.sources[i] * kDegree + second.sources[i]];
  }
  const std::vector<double> expected(kDegree * kDegree, (rows.size() - 1.0) / (kDegree * kDegree));
  CHECK(ChiSquare(by_key, expected) < ChiSquareLimit(kDegree * kDegree - 1));
  CHECK(ChiSquare(by_stream, expected) < ChiSquareLimit(kDegree * kDegree - 1));
}

// Lists of many lengths, parallel edges included.
EdgeLists MixedLists(int num_targets) {
  EdgeLists edges;
  NodeDraws draws(5, 6);
  for (int i = 0; i < num_targets; ++i) {
    std::vector<uint32_t> list(i % 10 == 0 ? 0 : draws.Below(90));
    for (uint32_t& source : list) source = static_cast<uint32_t>(draws.Below(500));
    std::sort(list.begin(), list.end());
    edges.AddTarget(draws.Next64(), list);
  }
  std::vector<double> weights(edges.sources.size());
  for (double& weight : weights) weight = static_cast<double>(draws.Below(6));
  edges.SetWeights(weights);
  return edges;
}

std::vector<Neighbors> OneByOne(const EdgeLists& edges, const std::vector<uint64_t>& rows,
                                const OneHopOptions& options) {
  std::vector<Neighbors> lists(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, {rows[i]}, options, &lists[i]));
  }
  return lists;
}

Neighbors Joined(const std::vector<Neighbors>& lists) {
  Neighbors all;
  for (const Neighbors& list : lists) {
    all.counts.insert(all.counts.end(), list.counts.begin(), list.counts.end());
    all.sources.insert(all.sources.end(), list.sources.begin(), list.sources.end());
    all.edge_ids.insert(all.edge_ids.end(), list.edge_ids.begin(), list.edge_ids.end());
    all.edge_positions.insert(all.edge_positions.end(), list.edge_positions.begin(),
                              list.edge_positions.end());
  }
  return all;
}

bool Same(const Neighbors& a, const Neighbors& b) {
  return a.counts == b.counts && a.sources == b.sources && a.edge_ids == b.edge_ids &&
         a.edge_positions == b.edge_positions;
}

TEST_CASE("what a target draws does not depend on the other targets of the call", "[one_hop]") {
  const EdgeLists edges = MixedLists(300);
  OneHopOptions options =
      Options(GENERATE(int64_t{1}, 5, 40, kAllNeighbors), GENERATE(false, true));
  options.want_edge_ids = GENERATE(false, true);
  options.want_edge_positions = options.want_edge_ids;
  options.weighted = GENERATE(false, true);
  CAPTURE(options.fanout, options.replace, options.want_edge_ids, options.weighted);
  std::vector<uint64_t> rows = AllRows(edges);
  rows.insert(rows.end(), {7, 7, 0});
  std::reverse(rows.begin() + 20, rows.begin() + 200);

  const Neighbors expected = Joined(OneByOne(edges, rows, options));
  Neighbors together;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, rows, options, &together));
  CHECK(Same(together, expected));

  Neighbors in_two_calls;
  const auto span = absl::MakeConstSpan(rows);
  VICINITY_REQUIRE_OK(
      SampleOneHop(edges.table(), edges.keys, span.subspan(0, 111), options, &in_two_calls));
  VICINITY_REQUIRE_OK(
      SampleOneHop(edges.table(), edges.keys, span.subspan(111), options, &in_two_calls));
  CHECK(Same(in_two_calls, expected));
}

TEST_CASE("several threads draw what one draws", "[one_hop]") {
  const EdgeLists edges = MixedLists(400);
  const std::vector<uint64_t> rows = AllRows(edges);
  OneHopOptions options = Options(10);
  options.weighted = GENERATE(false, true);
  Neighbors expected;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, rows, options, &expected));
  const size_t num_threads = GENERATE(2, 8);
  std::vector<Neighbors> parts(num_threads);
  std::vector<absl::Status> statuses(num_threads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < num_threads; ++i) {
    threads.emplace_back([&, i] {
      const size_t begin = rows.size() * i / num_threads;
      const size_t end = rows.size() * (i + 1) / num_threads;
      statuses[i] =
          SampleOneHop(edges.table(), edges.keys,
                       absl::MakeConstSpan(rows).subspan(begin, end - begin), options, &parts[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) VICINITY_CHECK_OK(status);
  CHECK(Same(Joined(parts), expected));
}

TEST_CASE("short lists are taken whole, in order, each neighbour with its edge", "[one_hop]") {
  EdgeLists edges;
  edges.AddTarget(3, {4, 4, 9});
  edges.AddTarget(1, {});
  edges.AddTarget(2, {5});
  OneHopOptions options = Options(GENERATE(int64_t{3}, 1000, kAllNeighbors));
  options.want_edge_ids = true;
  Neighbors out;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, {0, 1, 2}, options, &out));
  CHECK(out.counts == std::vector<uint32_t>{3, 0, 1});
  CHECK(out.sources == std::vector<int64_t>{4, 4, 9, 5});
  CHECK(out.edge_ids == std::vector<int64_t>{1000, 1001, 1002, 1003});
}

TEST_CASE("edge id and position belong to the neighbour they come with", "[one_hop]") {
  const EdgeLists edges = MixedLists(200);
  OneHopOptions options = Options(GENERATE(int64_t{4}, 50), GENERATE(false, true));
  options.want_edge_ids = true;
  options.want_edge_positions = true;
  options.weighted = GENERATE(false, true);
  const std::vector<uint64_t> rows = AllRows(edges);
  const std::vector<Neighbors> lists = OneByOne(edges, rows, options);
  for (size_t row = 0; row < lists.size(); ++row) {
    for (size_t i = 0; i < lists[row].sources.size(); ++i) {
      const uint64_t position = static_cast<uint64_t>(lists[row].edge_ids[i]) - 1000;
      REQUIRE(position >= edges.offsets[row]);
      REQUIRE(position < edges.offsets[row + 1]);
      REQUIRE(edges.sources[position] == lists[row].sources[i]);
      REQUIRE(lists[row].edge_positions[i] == static_cast<int64_t>(position));
      if (options.weighted) REQUIRE(edges.weights[position].has_weight());
    }
  }
}

TEST_CASE("a target draws for each of its trees apart, and tree 0 as if there were none",
          "[one_hop]") {
  const EdgeLists edges = MixedLists(100);
  OneHopOptions options = Options(GENERATE(int64_t{4}, 20), GENERATE(false, true));
  options.weighted = GENERATE(false, true);
  const std::vector<uint64_t> rows = AllRows(edges);
  Neighbors plain;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, rows, options, &plain));
  const std::vector<uint32_t> zeros(rows.size());
  options.trees = zeros;
  Neighbors in_tree_0;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, rows, options, &in_tree_0));
  CHECK(Same(in_tree_0, plain));

  const std::vector<uint64_t> row(2, rows[5]);
  const std::vector<uint32_t> trees = {3, 4};
  options.trees = trees;
  Neighbors both;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, row, options, &both));
  const auto middle = both.sources.begin() + both.counts[0];
  CHECK(std::vector<int64_t>(both.sources.begin(), middle) !=
        std::vector<int64_t>(middle, both.sources.end()));
  options.trees = absl::MakeConstSpan(trees).subspan(1);
  Neighbors alone;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, {rows[5]}, options, &alone));
  CHECK(std::vector<int64_t>(middle, both.sources.end()) == alone.sources);

  options.trees = trees;
  VICINITY_CHECK_CODE(SampleOneHop(edges.table(), edges.keys, rows, options, &alone),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("draws by weight of edges without weights are refused", "[one_hop]") {
  EdgeLists edges;
  edges.AddTarget(3, {4, 4, 9});
  OneHopOptions options = Options(2);
  options.weighted = true;
  Neighbors out;
  VICINITY_CHECK_CODE(SampleOneHop(edges.table(), edges.keys, {uint64_t{0}}, options, &out),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("ids of types with 2^32 nodes or more come out whole", "[one_hop]") {
  const std::vector<uint64_t> offsets = {0, 2};
  const std::vector<uint64_t> sources = {uint64_t{1} << 32, uint64_t{1} << 40};
  EdgeTable table;
  table.offsets = offsets;
  table.sources = IdArray(absl::MakeConstSpan(sources));
  Neighbors out;
  VICINITY_REQUIRE_OK(
      SampleOneHop(table, {uint64_t{8}}, {uint64_t{0}}, Options(kAllNeighbors), &out));
  CHECK(out.sources == std::vector<int64_t>{int64_t{1} << 32, int64_t{1} << 40});
}

TEST_CASE("a bad fanout or row is refused before anything is drawn", "[one_hop]") {
  EdgeLists edges;
  edges.AddTarget(3, {4, 4, 9});
  Neighbors out;
  for (const int64_t fanout : {int64_t{0}, int64_t{-2}, INT64_MIN, kMaxFanout + 1}) {
    CAPTURE(fanout);
    VICINITY_CHECK_CODE(
        SampleOneHop(edges.table(), edges.keys, {uint64_t{0}}, Options(fanout), &out),
        absl::StatusCode::kInvalidArgument);
  }
  for (const uint64_t row : {uint64_t{1}, UINT64_MAX}) {
    CAPTURE(row);
    VICINITY_CHECK_CODE(SampleOneHop(edges.table(), edges.keys, {0, row}, Options(1), &out),
                        absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_CODE(SampleOneHop(EdgeTable(), {}, {uint64_t{0}}, Options(1), &out),
                      absl::StatusCode::kInvalidArgument);
  OneHopOptions labor = Options(2, /*replace=*/true);
  labor.labor = true;
  VICINITY_CHECK_CODE(SampleOneHop(edges.table(), edges.keys, {uint64_t{0}}, labor, &out),
                      absl::StatusCode::kInvalidArgument);
  labor.replace = false;
  labor.last = true;
  VICINITY_CHECK_CODE(SampleOneHop(edges.table(), edges.keys, {uint64_t{0}}, labor, &out),
                      absl::StatusCode::kInvalidArgument);
  CHECK(out.counts.empty());
  VICINITY_CHECK_OK(SampleOneHop(EdgeTable(), {}, {}, Options(1), &out));
}

TEST_CASE("by LABOR targets of one list draw the same, whatever their keys and trees",
          "[one_hop]") {
  EdgeLists edges;
  for (uint64_t key = 1; key < 5; ++key) edges.AddTarget(key, Count(30, 7));
  edges.AddTarget(5, {});
  edges.AddTarget(6, {8, 8});
  edges.SetWeights(std::vector<double>(edges.sources.size(), 1));
  const bool weighted = GENERATE(false, true);
  const std::vector<uint64_t> rows = {0, 1, 4, 5, 2, 3, 0};
  const std::vector<uint32_t> trees = {0, 1, 2, 3, 4, 5, 6};
  for (uint64_t stream = 0; stream < 20; ++stream) {
    OneHopOptions options = Options(4, false, stream);
    options.labor = true;
    options.weighted = weighted;
    options.trees = trees;
    options.want_edge_ids = true;
    options.want_edge_positions = true;
    Neighbors out;
    VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, rows, options, &out));
    REQUIRE(out.counts == std::vector<uint32_t>{4, 4, 0, 2, 4, 4, 4});
    const auto from = [&out](size_t first) {
      return std::vector<int64_t>(out.sources.begin() + first, out.sources.begin() + first + 4);
    };
    for (const size_t first : {4, 10, 14, 18}) CHECK(from(first) == from(0));
    for (size_t i = 0; i < out.sources.size(); ++i) {
      CHECK(out.sources[i] == edges.sources[out.edge_positions[i]]);
      CHECK(out.edge_ids[i] == static_cast<int64_t>(edges.edge_ids[out.edge_positions[i]]));
    }
  }
}

TEST_CASE("a damaged file is data loss, not a read outside of it", "[one_hop]") {
  EdgeLists edges;
  edges.AddTarget(3, {4, 4, 9});
  edges.AddTarget(5, {1, 2});
  const std::vector<uint64_t> rows = {0, 1};
  OneHopOptions options = Options(GENERATE(int64_t{1}, kAllNeighbors));
  options.labor = GENERATE(false, true);
  Neighbors out;
  SECTION("offsets that fall") { edges.offsets[1] = 7; }
  SECTION("offsets behind the end") { edges.offsets[2] = 6; }
  SECTION("offsets of another magnitude") { edges.offsets[1] = UINT64_MAX; }
  SECTION("fewer sources than offsets say") { edges.sources.resize(4); }
  SECTION("a key missing") { edges.keys.pop_back(); }
  SECTION("edge ids missing") {
    edges.edge_ids.pop_back();
    options.want_edge_ids = true;
  }
  VICINITY_CHECK_CODE(SampleOneHop(edges.table(), edges.keys, rows, options, &out),
                      absl::StatusCode::kDataLoss);
}

TEST_CASE("the draws of a key are those of an independent Philox: they may never change",
          "[one_hop]") {
  EdgeLists edges;
  edges.AddTarget(12345, Count(100));
  Neighbors out;
  VICINITY_REQUIRE_OK(SampleOneHop(edges.table(), edges.keys, {uint64_t{0}}, Options(5), &out));
  CHECK(out.sources == std::vector<int64_t>{48, 6, 81, 21, 33});
}

}  // namespace
}  // namespace vicinity
