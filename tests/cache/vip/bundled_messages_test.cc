#include "cache/vip/bundled_messages.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cache/vip/draw_chance.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_kernel.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int kHops = 3;
constexpr int64_t kNodes = 60;
constexpr EdgeTypeId kLinks{0};

// Each edge once, and with it the way back.
testing::MemoryGraph Undirected() {
  testing::RandomGraphOptions shape;
  shape.num_nodes = kNodes;
  shape.num_edges = 0;
  testing::MemoryGraph graph = testing::RandomGraph(shape);
  for (int64_t a = 0; a < kNodes; ++a) {
    for (int64_t b = 0; b <= a; ++b) {  // with loops
      if ((a * 7 + b * 11) % 13 > 1) continue;
      graph.edges[0].sources.push_back(a);
      graph.edges[0].targets.push_back(b);
      if (a == b) continue;
      graph.edges[0].sources.push_back(b);
      graph.edges[0].targets.push_back(a);
    }
  }
  return graph;
}

// Records with random chances to be met. `rates`: as bundles have them, or chances.
class Records {
 public:
  Records(const VipGraph& graph, const EdgeTable& edges, bool rates)
      : memory_(kNodes * 4 * (kHops + 1) + 4), is_seed(kNodes / 64 + 1) {
    records.lanes = 4;
    records.num_hops = kHops;
    records.head = VipRecords::HeadFor(1, kHops, 4);
    records.data = &memory_[0];
    while (reinterpret_cast<uintptr_t>(records.data) % 16 != 0) ++records.data;
    NodeDraws draws(1, 2);
    const std::vector<DrawRule> rules = graph.RulesOf(kLinks);
    for (int64_t node = 0; node < kNodes; ++node) {
      for (int hop = 1; hop <= kHops; ++hop) {
        const double rate = DrawRate(rules[hop - 1], edges.degree(node));
        records.chance(node, 0, hop) =
            static_cast<float>(rates ? rate : DrawChance(rules[hop - 1], rate, 1));
      }
      if (node % 5 == 0) {
        records.seed_mark(node) = 1;
        is_seed[0] |= uint64_t{1} << node % 64;
        records.met(node, 0)[node % 4] = 0.25F;
      }
      for (int lane = 0; lane < 4; ++lane) {
        float met = records.met(node, 0)[lane];
        for (int hop = 1; hop < kHops; ++hop) {
          met += 1e-4F * static_cast<float>(draws.Below(1000)) * (1 - met);
          records.met(node, hop)[lane] = met;
        }
      }
    }
  }

 private:
  std::vector<float> memory_;

 public:
  VipRecords records;
  std::vector<uint64_t> is_seed;
};

TEST_CASE("without parallel edges bundles gather what edges do", "[bundled_messages]") {
  const testing::MemoryGraph small = Undirected();
  SamplingSpec spec = SamplingSpec::Uniform(small.schema, {4, 2, 3});
  spec.replace = GENERATE(false, true);
  const bool only_new = GENERATE(false, true);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteGraph(small, folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipGraph graph, VipGraph::Create(*dataset, spec, 1));
  const Shard& shard = *dataset->shards()[0];
  const EdgeTable& edges = shard.edges(kLinks);
  const Records rates(graph, edges, true), chances(graph, edges, false);
  VipRelation relation;
  relation.v = relation.u = chances.records;
  relation.v_is_seed = chances.is_seed.data();
  relation.only_new = only_new;
  relation.one_type = true;
  const std::vector<EdgeTypeId> types = {kLinks};
  const LinkHelp no_links;
  BundledMessages bundled(graph, rates.records, types, no_links);
  bundled.SetSources(rates.records);
  for (int hop = 1; hop <= kHops; ++hop) {
    for (int64_t u = 0; u < kNodes; ++u) {
      std::vector<double> met(4, 0.125), expected(4, 0.125);
      bundled.Gather(shard, u, u, hop, only_new, met.data());
      BaseLists(shard, kLinks).VisitSources([&](const auto& sources) {
        FindGather(4)(relation, sources, edges.begin(u), edges.begin(u + 1), u, hop,
                      expected.data());
      });
      for (int lane = 0; lane < 4; ++lane) CHECK(met[lane] == Approx(expected[lane]).epsilon(1e-5));
    }
    // And deliver the message of one edge.
    for (int64_t v = 0; v < kNodes; ++v) {
      std::map<int64_t, double> delivered;
      bundled.FromTarget(shard, v, v, hop, only_new, [&](int64_t u, const double* messages) {
        CHECK(delivered.emplace(u, messages[1]).second);
      });
      double message[4];
      LonelyMessages({chances.records, v, &chances.records.chance(v, 0, 1)}, nullptr, hop, only_new,
                     message);
      CHECK(delivered.size() == static_cast<size_t>(edges.degree(v)));
      for (const auto& [u, first] : delivered) CHECK(first == Approx(message[1]).epsilon(1e-5));
    }
  }
}

}  // namespace
}  // namespace vicinity
