#include "sampler/layer_chooser.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "proto/common/random.h"
#include "sampler/rules/source_numbers.h"
#include "tests/sampler/chi_square.h"

namespace vicinity {
namespace {

using testing::ChiSquare;
using testing::ChiSquareLimit;

constexpr int64_t kDraws = 1'000'000;

using List = std::vector<int64_t>;

std::vector<int64_t> Chosen(LayerChooser* chooser, int64_t fanout, const List& list) {
  std::vector<int64_t> out(std::min<size_t>(list.size(), fanout));
  REQUIRE(chooser->MostFor(list.size()) == out.size());
  REQUIRE(chooser->Choose(absl::MakeConstSpan(list), out.data()) == out.size());
  return out;
}

std::vector<int64_t> Chosen(LayerChooser* chooser, int64_t fanout, const List& list,
                            const std::vector<uint64_t>& units) {
  std::vector<int64_t> out(std::min<size_t>(list.size(), fanout));
  out.resize(chooser->Choose(absl::MakeConstSpan(list), absl::MakeConstSpan(units), out.data()));
  return out;
}

std::vector<uint64_t> NumbersOf(const List& list, uint64_t stream) {
  const SourceNumbers numbers(stream);
  std::vector<uint64_t> all;
  for (size_t i = 0; i < list.size(); ++i) {
    size_t first = i;
    while (first > 0 && list[first - 1] == list[i]) --first;
    all.push_back(numbers.Of(static_cast<uint64_t>(list[i]), i - first));
  }
  return all;
}

// The positions of the smallest numbers over units, as fractions of whole numbers; all units 1: of
// the numbers themselves.
std::vector<int64_t> Smallest(const List& list, const std::vector<uint64_t>& units, int64_t fanout,
                              uint64_t stream) {
  const std::vector<uint64_t> numbers = NumbersOf(list, stream);
  const bool weighted = !units.empty();
  std::vector<int64_t> order;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!weighted || units[i] > 0) order.push_back(static_cast<int64_t>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (!weighted) return numbers[a] < numbers[b];
    using Wide = unsigned __int128;
    return Wide{(numbers[a] >> 11) + 1} * units[b] < Wide{(numbers[b] >> 11) + 1} * units[a];
  });
  if (static_cast<int64_t>(order.size()) > fanout) order.resize(fanout);
  std::sort(order.begin(), order.end());
  return order;
}

// Rising, some of them several times in a row; `spread` times as far apart as there are.
List RandomList(size_t size, int64_t spread, std::mt19937_64* random) {
  List list(size);
  for (int64_t& source : list) {
    source = static_cast<int64_t>((*random)() % (size * static_cast<size_t>(spread) + 1));
  }
  std::sort(list.begin(), list.end());
  return list;
}

TEST_CASE("the edges drawn are those of the smallest numbers, in the list's order",
          "[layer_chooser]") {
  std::mt19937_64 random(1);
  const int64_t fanout = GENERATE(1, 2, 10, 31, 32, 33, 200);
  const int64_t spread = GENERATE(1, 1000);  // with 1 every third edge has a parallel one
  for (uint64_t stream = 0; stream < 30; ++stream) {
    LayerChooser chooser(fanout, stream);
    for (const size_t degree : {0, 1, 2, 3, 7, 16, 20, 31, 32, 33, 34, 50, 64, 65, 300, 2000, 9}) {
      CAPTURE(stream, degree);
      const List list = RandomList(degree, spread, &random);
      REQUIRE(Chosen(&chooser, fanout, list) == Smallest(list, {}, fanout, stream));
    }
  }
}

TEST_CASE("the edges drawn of a hub are those of the smallest numbers", "[layer_chooser]") {
  List list(1'000'000);
  std::iota(list.begin(), list.end(), 5'000'000'000);
  for (const int64_t fanout : {1, 5, 1000}) {
    LayerChooser chooser(fanout, 12);
    CHECK(Chosen(&chooser, fanout, list) == Smallest(list, {}, fanout, 12));
  }
}

TEST_CASE("by weight those of the smallest quotients, and none of weight 0", "[layer_chooser]") {
  std::mt19937_64 random(2);
  const int64_t fanout = GENERATE(1, 3, 10, 40);
  for (uint64_t stream = 0; stream < 30; ++stream) {
    LayerChooser chooser(fanout, stream);
    for (const size_t degree : {0, 1, 5, 11, 20, 32, 33, 100, 1000}) {
      CAPTURE(stream, degree);
      const List list = RandomList(degree, 3, &random);
      std::vector<uint64_t> units(degree);
      for (uint64_t& each : units) each = random() % 3 == 0 ? 0 : 1 + (random() >> 30);
      REQUIRE(Chosen(&chooser, fanout, list, units) == Smallest(list, units, fanout, stream));
    }
  }
  LayerChooser chooser(2, 1);
  CHECK(Chosen(&chooser, 2, {1, 2, 3}, {0, 0, 0}).empty());
}

TEST_CASE("equal numbers are told apart by position", "[layer_chooser]") {
  // Parallel edges that do not follow each other share their number, however many there are.
  List list;
  for (int64_t i = 0; i < GENERATE(12, 60); ++i) list.push_back(i % 2 == 0 ? 7 : i);
  for (uint64_t stream = 0; stream < 100; ++stream) {
    LayerChooser chooser(4, stream);
    REQUIRE(Chosen(&chooser, 4, list) == Smallest(list, {}, 4, stream));
  }
}

TEST_CASE("lists of sources of any width are drawn from alike", "[layer_chooser]") {
  const List list = {3, 9, 9, 40, 41, 99};
  const std::vector<uint32_t> narrow(list.begin(), list.end());
  const std::vector<uint64_t> wide(list.begin(), list.end());
  std::vector<int64_t> out(3);
  for (uint64_t stream = 0; stream < 50; ++stream) {
    LayerChooser chooser(3, stream);
    const std::vector<int64_t> expected = Chosen(&chooser, 3, list);
    chooser.Choose(absl::MakeConstSpan(narrow), out.data());
    CHECK(out == expected);
    chooser.Choose(absl::MakeConstSpan(wide), out.data());
    CHECK(out == expected);
  }
}

// How far counts of what should be equally often drawn are from it, as a share of the limit.
double Bias(const std::map<std::vector<int64_t>, int64_t>& counts, size_t num_possible) {
  std::vector<int64_t> all;
  int64_t sum = 0;
  for (const auto& [what, count] : counts) {
    all.push_back(count);
    sum += count;
  }
  REQUIRE(all.size() <= num_possible);
  all.resize(num_possible);
  const double expected = static_cast<double>(sum) / static_cast<double>(num_possible);
  return ChiSquare(all, std::vector<double>(num_possible, expected)) /
         ChiSquareLimit(static_cast<int64_t>(num_possible) - 1);
}

// Streams as batches have them.
uint64_t StreamOfBatch(int64_t batch) {
  DrawKey key;
  key.run_seed = 3;
  key.batch = static_cast<uint64_t>(batch);
  return StreamKey(key);
}

TEST_CASE("over batches every subset of a list is as likely", "[layer_chooser]") {
  // Ids in a row, ids that differ in a high bit, and parallel edges.
  const List list = GENERATE(List{0, 1, 2, 3, 4, 5}, List{8, 16, 32, 64, 1 << 20, int64_t{1} << 36},
                             List{5, 5, 5, 6, 9, 9});
  std::map<std::vector<int64_t>, int64_t> counts;
  std::map<std::vector<int64_t>, int64_t> biased;
  for (int64_t batch = 0; batch < kDraws / 3; ++batch) {
    const uint64_t stream = StreamOfBatch(batch);
    LayerChooser chooser(3, stream);
    ++counts[Chosen(&chooser, 3, list)];
    // The control: numbers of four bits, of which some are equal, for the first to win.
    std::vector<uint64_t> numbers = NumbersOf(list, stream);
    for (uint64_t& number : numbers) number >>= 60;
    std::vector<int64_t> order(list.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return numbers[a] < numbers[b]; });
    order.resize(3);
    std::sort(order.begin(), order.end());
    ++biased[order];
  }
  CHECK(Bias(counts, 20) < 1);
  CHECK(Bias(biased, 20) > 1);
}

TEST_CASE("every edge of a long list is as likely", "[layer_chooser]") {
  const int64_t degree = GENERATE(20, 40, 1000);
  constexpr int64_t kFanout = 10;
  List list(degree);
  std::iota(list.begin(), list.end(), 1'000'000);
  std::vector<int64_t> counts(degree);
  int64_t trials = 0;
  for (; trials < kDraws / kFanout; ++trials) {
    LayerChooser chooser(kFanout, StreamOfBatch(trials));
    for (const int64_t position : Chosen(&chooser, kFanout, list)) ++counts[position];
  }
  const double expected = static_cast<double>(trials * kFanout) / static_cast<double>(degree);
  // Without replacement counts are spread less than a multinomial's, by this factor.
  const double less = static_cast<double>(degree - 1) / static_cast<double>(degree - kFanout);
  const double limit = ChiSquareLimit(degree - 1);
  CHECK(less * ChiSquare(counts, std::vector<double>(degree, expected)) < limit);
  for (int64_t i = 0; i < degree / 2; ++i) {  // what is off is found
    counts[i] += static_cast<int64_t>(expected * 0.03);
  }
  CHECK(less * ChiSquare(counts, std::vector<double>(degree, expected)) > limit);
}

TEST_CASE("of two edges the lighter one is drawn half as often as it is lighter",
          "[layer_chooser]") {
  constexpr uint64_t kLight = 3;
  constexpr uint64_t kHeavy = 8;
  std::vector<int64_t> counts(2);
  for (int64_t batch = 0; batch < kDraws; ++batch) {
    LayerChooser chooser(1, StreamOfBatch(batch));
    ++counts[Chosen(&chooser, 1, {10, 11}, {kLight, kHeavy})[0]];
  }
  const double light = 3.0 / 8 / 2;
  const double all = kDraws;
  CHECK(ChiSquare(counts, {all * light, all * (1 - light)}) < ChiSquareLimit(1));
  const double successive = 3.0 / 11;  // as draws in proportion to the weights would have it
  CHECK(ChiSquare(counts, {all * successive, all * (1 - successive)}) > ChiSquareLimit(1));
}

TEST_CASE("targets that share a source below their thresholds both draw it", "[layer_chooser]") {
  std::mt19937_64 random(5);
  constexpr int64_t kFanout = 5;
  int64_t shared = 0;
  int64_t independent = 0;
  for (uint64_t stream = 0; stream < 200; ++stream) {
    LayerChooser chooser(kFanout, stream);
    LayerChooser other(kFanout, stream + 1'000'000);
    const SourceNumbers numbers(stream);
    std::vector<std::set<int64_t>> lists(2);
    for (std::set<int64_t>& list : lists) {
      while (list.size() < 20) list.insert(static_cast<int64_t>(random() % 30));
    }
    std::vector<std::set<int64_t>> drawn(2);
    std::vector<uint64_t> thresholds(2);
    std::set<int64_t> apart;  // what the second draws by numbers of its own
    for (int i = 0; i < 2; ++i) {
      const List list(lists[i].begin(), lists[i].end());
      for (const int64_t at : Chosen(&chooser, kFanout, list)) {
        drawn[i].insert(list[at]);
        thresholds[i] = std::max(thresholds[i], numbers.Of(static_cast<uint64_t>(list[at])));
      }
      if (i == 0) continue;
      for (const int64_t at : Chosen(&other, kFanout, list)) apart.insert(list[at]);
    }
    for (const int64_t source : lists[0]) {
      if (lists[1].count(source) == 0) continue;
      const uint64_t number = numbers.Of(static_cast<uint64_t>(source));
      const bool below = number <= std::min(thresholds[0], thresholds[1]);
      CHECK((drawn[0].count(source) > 0 && drawn[1].count(source) > 0) == below);
    }
    for (const int64_t source : drawn[0]) {
      shared += static_cast<int64_t>(drawn[1].count(source));
      independent += static_cast<int64_t>(apart.count(source));
    }
  }
  CHECK(shared > 2 * independent);
}

}  // namespace
}  // namespace vicinity
