#include "tests/cache/vip_oracles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
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
  if (fanout == 0) return 0;
  if (fanout == kAllNeighbors) return 1;
  const double d = static_cast<double>(degree);
  const double f = static_cast<double>(fanout);
  return replace ? 1 - std::pow(1 - 1 / d, f) : std::min(1.0, f / d);
}

}  // namespace

Probabilities NaiveVip(const MemoryGraph& graph, NodeTypeId seed_type,
                       const std::vector<int64_t>& seeds, int64_t batch_size,
                       const SamplingSpec& spec) {
  // met[h]: met in hops 0 .. h.
  std::vector<Probabilities> met(1);
  for (size_t type = 0; type < graph.nodes.size(); ++type) {
    met[0].emplace_back(graph.num_nodes({static_cast<int32_t>(type)}));
  }
  const double all = static_cast<double>(seeds.size());
  for (const int64_t seed : seeds) {
    met[0][seed_type.value][seed] = std::min(static_cast<double>(batch_size), all) / all;
  }
  for (int hop = 1; hop <= spec.num_hops(); ++hop) {
    Probabilities missed = met[0];
    for (std::vector<double>& values : missed) {
      for (double& value : values) value = 1 - value;
    }
    for (size_t type = 0; type < graph.edges.size(); ++type) {
      const EdgeTypeSpec& edge = graph.schema.edge_types[type];
      const auto in_edges = graph.InEdgesOfAll({static_cast<int32_t>(type)});
      for (size_t v = 0; v < in_edges.size(); ++v) {
        if (in_edges[v].empty()) continue;
        // Met for the first time in hop j, and then drawing this edge in a hop that expands it.
        double drawn = 0;
        for (int j = 0; j < hop; ++j) {
          const double before = j == 0 ? 0 : met[j - 1][edge.target_type][v];
          const int last = spec.expansion == Expansion::kAllNodes ? hop : j + 1;
          double not_drawn = 1;
          for (int i = j + 1; i <= last; ++i) {
            not_drawn *=
                1 - EdgeChance(spec.fanouts[i - 1][type], spec.replace, in_edges[v].size());
          }
          drawn += (met[j][edge.target_type][v] - before) * (1 - not_drawn);
        }
        for (const InEdge& in : in_edges[v]) missed[edge.source_type][in.source] *= 1 - drawn;
      }
    }
    for (std::vector<double>& values : missed) {
      for (double& value : values) value = 1 - value;
    }
    met.push_back(std::move(missed));
  }
  return met.back();
}

}  // namespace vicinity::testing
