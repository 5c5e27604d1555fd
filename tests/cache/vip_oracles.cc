#include "tests/cache/vip_oracles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "partition/sampling_spec.h"
#include "partition/schema.h"
#include "proto/common/ids.h"
#include "tests/testing/small_graphs.h"

namespace vicinity::testing {
namespace {

using Set = uint32_t;  // of nodes, a bit each
using Distribution = std::map<Set, double>;

// Bits of the nodes of all types.
class Numbering {
 public:
  explicit Numbering(const MemoryGraph& graph) {
    for (size_t type = 0; type < graph.nodes.size(); ++type) {
      first_.push_back(size_);
      size_ += graph.num_nodes({static_cast<int32_t>(type)});
    }
  }
  Set Bit(int32_t type, int64_t position) const { return Set{1} << (first_[type] + position); }

 private:
  std::vector<int64_t> first_;
  int64_t size_ = 0;
};

// All ways to choose `count` of `items`, repeats if `replace`, as sets with their probabilities.
Distribution Choices(const std::vector<Set>& items, int64_t count, bool replace) {
  // By the number of draws made; without replacement also by which items are gone.
  std::map<std::pair<uint32_t, Set>, double> states = {{{0, 0}, 1.0}};
  for (int64_t draw = 0; draw < count; ++draw) {
    std::map<std::pair<uint32_t, Set>, double> next;
    for (const auto& [state, probability] : states) {
      const int64_t gone = replace ? 0 : draw;
      for (size_t i = 0; i < items.size(); ++i) {
        if (!replace && (state.first >> i & 1) != 0) continue;
        const uint32_t taken = replace ? 0 : state.first | uint32_t{1} << i;
        next[{taken, state.second | items[i]}] +=
            probability / static_cast<double>(static_cast<int64_t>(items.size()) - gone);
      }
    }
    states = std::move(next);
  }
  Distribution sets;
  for (const auto& [state, probability] : states) sets[state.second] += probability;
  return sets;
}

Distribution Union(const Distribution& a, const Distribution& b) {
  Distribution both;
  for (const auto& [set_a, probability_a] : a) {
    for (const auto& [set_b, probability_b] : b)
      both[set_a | set_b] += probability_a * probability_b;
  }
  return both;
}

int64_t Draws(int64_t fanout, bool replace, size_t degree) {
  const int64_t all = static_cast<int64_t>(degree);
  if (fanout == kAllNeighbors) return all;
  return replace ? (degree == 0 ? 0 : fanout) : std::min(fanout, all);
}

}  // namespace

Probabilities EnumeratedVip(const MemoryGraph& graph, NodeTypeId seed_type,
                            const std::vector<int64_t>& seeds, int64_t batch_size,
                            const SamplingSpec& spec) {
  const Numbering numbering(graph);
  std::vector<Set> seed_bits;
  for (const int64_t seed : seeds) seed_bits.push_back(numbering.Bit(seed_type.value, seed));
  // What was met before the last hop, and what by now.
  std::map<std::pair<Set, Set>, double> states;
  const int64_t batch = std::min<int64_t>(batch_size, static_cast<int64_t>(seeds.size()));
  for (const auto& [set, probability] : Choices(seed_bits, batch, false)) {
    states[{0, set}] += probability;
  }
  for (const std::vector<int64_t>& fanouts : spec.fanouts) {
    std::map<std::pair<Set, Set>, double> next;
    for (const auto& [state, probability] : states) {
      const Set expanded =
          spec.expansion == Expansion::kAllNodes ? state.second : state.second & ~state.first;
      Distribution met = {{state.second, 1.0}};
      for (size_t type = 0; type < fanouts.size(); ++type) {
        const EdgeTypeSpec& edge = graph.schema.edge_types[type];
        for (int64_t v = 0; fanouts[type] != 0 && v < graph.num_nodes({edge.target_type}); ++v) {
          if ((expanded & numbering.Bit(edge.target_type, v)) == 0) continue;
          std::vector<Set> sources;
          for (const InEdge& in : graph.InEdges({static_cast<int32_t>(type)}, v)) {
            sources.push_back(numbering.Bit(edge.source_type, in.source));
          }
          const int64_t count = Draws(fanouts[type], spec.replace, sources.size());
          const bool whole = fanouts[type] == kAllNeighbors;
          met = Union(met, Choices(sources, count, spec.replace && !whole));
        }
      }
      for (const auto& [set, p] : met) next[{state.second, set}] += probability * p;
    }
    states = std::move(next);
  }
  Probabilities result;
  for (size_t type = 0; type < graph.nodes.size(); ++type) {
    result.emplace_back(graph.num_nodes({static_cast<int32_t>(type)}));
    for (size_t u = 0; u < result[type].size(); ++u) {
      const Set bit = numbering.Bit(static_cast<int32_t>(type), static_cast<int64_t>(u));
      for (const auto& [state, probability] : states) {
        if ((state.second & bit) != 0) result[type][u] += probability;
      }
    }
  }
  return result;
}

namespace {

double EdgeChance(int64_t fanout, bool replace, size_t degree) {
  if (fanout == 0 || degree == 0) return 0;
  if (fanout == kAllNeighbors) return 1;
  const double d = static_cast<double>(degree);
  const double f = static_cast<double>(fanout);
  return replace ? 1 - std::pow(1 - 1 / d, f) : std::min(1.0, f / d);
}

// An edge type that is followed: its edges, and which type holds them turned round.
struct Relation {
  EdgeTypeSpec spec;
  bool followed = false;
  int reverse = -1;
  std::vector<std::vector<InEdge>> in_edges;            // by target
  std::map<std::pair<int64_t, int64_t>, double> drawn;  // m_h(v, u) by (v, u)
};

std::vector<Relation> Relations(const MemoryGraph& graph, const SamplingSpec& spec) {
  std::vector<Relation> relations(graph.edges.size());
  std::vector<std::multiset<std::pair<int64_t, int64_t>>> forth(relations.size());
  std::vector<std::multiset<std::pair<int64_t, int64_t>>> back(relations.size());
  for (size_t e = 0; e < relations.size(); ++e) {
    relations[e].spec = graph.schema.edge_types[e];
    relations[e].in_edges = graph.InEdgesOfAll({static_cast<int32_t>(e)});
    for (const auto& hop : spec.fanouts) relations[e].followed |= hop[e] != 0;
    for (size_t i = 0; i < graph.edges[e].sources.size(); ++i) {
      forth[e].insert({graph.edges[e].sources[i], graph.edges[e].targets[i]});
      back[e].insert({graph.edges[e].targets[i], graph.edges[e].sources[i]});
    }
  }
  for (size_t a = 0; a < relations.size(); ++a) {
    for (size_t b = 0; b < relations.size() && relations[a].reverse < 0; ++b) {
      if (relations[a].spec.source_type == relations[b].spec.target_type &&
          relations[a].spec.target_type == relations[b].spec.source_type && relations[a].followed &&
          relations[b].followed && !forth[a].empty() && forth[a] == back[b]) {
        relations[a].reverse = static_cast<int>(b);
      }
    }
  }
  return relations;
}

double DrawnOf(const Relation& relation, int64_t v, int64_t u) {
  const auto found = relation.drawn.find({v, u});
  return found == relation.drawn.end() ? 0 : found->second;
}

}  // namespace

Probabilities NaiveVip(const MemoryGraph& graph, NodeTypeId seed_type,
                       const std::vector<int64_t>& seeds, int64_t batch_size,
                       const SamplingSpec& spec) {
  Probabilities first;
  for (size_t type = 0; type < graph.nodes.size(); ++type) {
    first.emplace_back(graph.num_nodes({static_cast<int32_t>(type)}));
  }
  const double all = static_cast<double>(seeds.size());
  for (const int64_t seed : seeds) {
    first[seed_type.value][seed] = std::min(static_cast<double>(batch_size), all) / all;
  }
  std::vector<Relation> relations = Relations(graph, spec);
  // a and b of cache/vip.h, by edge type and (v, u): v met without u, one hop ago and two.
  std::vector<std::map<std::pair<int64_t, int64_t>, double>> met_before(relations.size());
  Probabilities met = first;
  for (int hop = 0; hop < spec.num_hops(); ++hop) {
    std::vector<Relation> next = relations;
    auto next_met_before = met_before;  // apart, since parallel edges come by more than once
    for (size_t e = 0; e < relations.size(); ++e) {
      const Relation& relation = relations[e];
      for (size_t v = 0; v < relation.in_edges.size(); ++v) {
        const double chance =
            EdgeChance(spec.fanouts[hop][e], spec.replace, relation.in_edges[v].size());
        for (const InEdge& in : relation.in_edges[v]) {
          const std::pair<int64_t, int64_t> edge = {static_cast<int64_t>(v), in.source};
          double without = met[relation.spec.target_type][v];
          if (relation.reverse >= 0) {
            const double helped = DrawnOf(relations[relation.reverse], in.source, edge.first);
            without = helped < 1 ? std::max(0.0, 1 - (1 - without) / (1 - helped)) : 0;
          }
          const double before = spec.expansion == Expansion::kAllNodes
                                    ? DrawnOf(relation, edge.first, edge.second)
                                    : met_before[e][edge];
          next[e].drawn[edge] =
              DrawnOf(relation, edge.first, edge.second) + chance * std::max(0.0, without - before);
          next_met_before[e][edge] = without;
        }
      }
    }
    relations = std::move(next);
    met_before = std::move(next_met_before);
    Probabilities missed = first;
    for (std::vector<double>& values : missed) {
      for (double& value : values) value = 1 - value;
    }
    for (const Relation& relation : relations) {
      if (!relation.followed) continue;
      for (size_t v = 0; v < relation.in_edges.size(); ++v) {
        for (const InEdge& in : relation.in_edges[v]) {
          const int64_t u = in.source;
          const bool loop = relation.spec.source_type == relation.spec.target_type &&
                            u == static_cast<int64_t>(v);
          if (loop) continue;
          missed[relation.spec.source_type][u] *= 1 - DrawnOf(relation, static_cast<int64_t>(v), u);
        }
      }
    }
    for (size_t type = 0; type < met.size(); ++type) {
      for (size_t u = 0; u < met[type].size(); ++u) met[type][u] = 1 - missed[type][u];
    }
  }
  return met;
}

}  // namespace vicinity::testing
