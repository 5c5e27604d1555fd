#include "cache/vip/seed_chances.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"
#include "tests/cache/vip/vip_oracles.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Probabilities;
using testing::SmallLinks;

// Types of 6 and 4 nodes.
Book TwoTypes() {
  VICINITY_ASSERT_OK_AND_ASSIGN(Book book, Book::Create({{0, 6}, {0, 4}}));
  return book;
}

Probabilities Spread(const std::vector<SeedChances>& all, const Book& book) {
  Probabilities chances;
  for (int32_t type = 0; type < book.num_node_types(); ++type) {
    chances.emplace_back(book.num_nodes(NodeTypeId{type}));
  }
  for (const SeedChances& of_type : all) {
    std::vector<double>& to = chances[of_type.type.value];
    to.assign(to.size(), of_type.others);
    for (size_t i = 0; i < of_type.nodes.size(); ++i) to[of_type.nodes[i]] = of_type.chances[i];
  }
  return chances;
}

Probabilities Enumerated(const SmallLinks& links, int64_t batch_size) {
  testing::MemoryGraph graph;
  graph.nodes.resize(2);
  graph.nodes[0].keys.resize(6);
  graph.nodes[1].keys.resize(4);
  return FirstChances(graph, LinkStarts(links, batch_size));
}

void CheckNear(const Probabilities& found, const Probabilities& expected) {
  for (size_t type = 0; type < expected.size(); ++type) {
    for (size_t node = 0; node < expected[type].size(); ++node) {
      CAPTURE(type, node);
      CHECK(found[type][node] == Approx(expected[type][node]));
    }
  }
}

TEST_CASE("of nodes each is as likely as another, at most certain", "[seed_chances]") {
  const Book book = TwoTypes();
  const HomeSeeds seeds{{1}, {3, 0, 2}};
  for (const int64_t batch : {1, 2, 3, 100}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto chances, ChancesOf(seeds, batch, book));
    const double each = batch < 3 ? static_cast<double>(batch) / 3 : 1;
    CheckNear(Spread(chances, book), {{0, 0, 0, 0, 0, 0}, {each, 0, each, each}});
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto none, ChancesOf(HomeSeeds{{1}, {}}, 5, book));
  CHECK(none.empty());
}

TEST_CASE("ends of links and negatives are as enumeration says", "[seed_chances]") {
  const Book book = TwoTypes();
  const bool one_type = GENERATE(false, true);
  SmallLinks links{{0}, {1}, {{0, 1}, {0, 2}, {3, 1}, {5, 1}}, 0, {1}, {}};
  if (one_type) {
    links = {{0}, {0}, {{0, 1}, {1, 0}, {2, 2}, {0, 3}, {3, 0}, {0, 1}}, 0, {0}, {}};
  }
  std::vector<int64_t> sources, targets;
  for (const auto& [source, target] : links.links) {
    sources.push_back(source);
    targets.push_back(target);
  }
  LinkSeeds seeds = CountEnds(links.source_type, sources, links.target_type, targets);
  seeds.negative_type = links.negative_type;
  seeds.negatives_per_link = links.negatives_per_link = GENERATE(0, 1, 2);
  const bool given = GENERATE(false, true);
  for (int64_t node = 0; node < book.num_nodes(links.negative_type); ++node) {
    if (given && node % 2 == 0) continue;
    links.negatives.push_back(node);
    if (given) seeds.negatives.push_back(node);
  }
  const int64_t batch = GENERATE(1, 2);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto chances, ChancesOf(seeds, batch, book));
  CAPTURE(one_type, links.negatives_per_link, given, batch);
  CheckNear(Spread(chances, book), Enumerated(links, batch));
}

TEST_CASE("many links leave rare ends apart from each other", "[seed_chances]") {
  const Book book = TwoTypes();
  LinkSeeds seeds;
  seeds.num_links = int64_t{1} << 40;
  seeds.ends = {{{0}, {0, 1, 2}, {1, 2, 3}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto chances, ChancesOf(seeds, 1000, book));
  for (int i = 0; i < 3; ++i) CHECK(chances[0].chances[i] == Approx((i + 1) * 1000 * 0x1p-40));
}

TEST_CASE("seeds that cannot be are refused", "[seed_chances]") {
  const Book book = TwoTypes();
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const auto nodes = [&](NodeTypeId type, std::vector<int64_t> ids) {
    return ChancesOf(HomeSeeds{type, std::move(ids)}, 1, book).status();
  };
  VICINITY_CHECK_CODE(nodes({0}, {6}), kInvalid);
  VICINITY_CHECK_CODE(nodes({0}, {-1}), kInvalid);
  VICINITY_CHECK_CODE(nodes({0}, {1, 1}), kInvalid);
  VICINITY_CHECK_CODE(nodes({2}, {1}), kInvalid);
  const LinkSeeds good = CountEnds({0}, {1, 2}, {1}, {3, 3});
  VICINITY_CHECK_OK(ChancesOf(good, 1, book).status());
  const auto links = [&](auto change) {
    LinkSeeds seeds = good;
    change(&seeds);
    return ChancesOf(seeds, 1, book).status();
  };
  VICINITY_CHECK_CODE(links([](LinkSeeds* s) { s->ends[1].nodes[0] = 4; }), kInvalid);
  VICINITY_CHECK_CODE(links([](LinkSeeds* s) { s->ends[1].counts[0] = 3; }), kInvalid);
  VICINITY_CHECK_CODE(links([](LinkSeeds* s) { s->ends[1].counts.clear(); }), kInvalid);
  VICINITY_CHECK_CODE(links([](LinkSeeds* s) { s->ends[1].type = {0}; }), kInvalid);
  VICINITY_CHECK_CODE(links([](LinkSeeds* s) { s->negatives_per_link = -1; }), kInvalid);
  VICINITY_CHECK_CODE(links([](LinkSeeds* s) {
                        s->negatives_per_link = 1;
                        s->negatives = {9};
                      }),
                      kInvalid);
}

}  // namespace
}  // namespace vicinity
