#include "tests/cache/vip/vip_oracles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cache/vip/draw_chance.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"

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

// One neighbour of a list, or one link.
struct Item {
  Set set;
  double weight = 1;
};

// All ways to choose `count` of `items` one after the other in proportion to their weights, repeats
// if `replace`, as sets with their probabilities. Less where fewer have weight.
Distribution Choices(const std::vector<Item>& items, int64_t count, bool replace) {
  // Without replacement also by which items are gone.
  std::map<std::pair<uint32_t, Set>, double> states = {{{0, 0}, 1.0}};
  for (int64_t draw = 0; draw < count; ++draw) {
    std::map<std::pair<uint32_t, Set>, double> next;
    for (const auto& [state, probability] : states) {
      double left = 0;
      for (size_t i = 0; i < items.size(); ++i) {
        if ((state.first >> i & 1) == 0) left += items[i].weight;
      }
      if (left == 0) next[state] += probability;
      for (size_t i = 0; i < items.size(); ++i) {
        if (items[i].weight == 0 || (state.first >> i & 1) != 0) continue;
        const uint32_t taken = replace ? 0 : state.first | uint32_t{1} << i;
        next[{taken, state.second | items[i].set}] += probability * items[i].weight / left;
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

// By which `edge` is drawn; weight columns are of floats.
double WeightOf(const MemoryGraph& graph, const SamplingSpec& spec, int32_t edge_type,
                int64_t edge) {
  if (!IsWeighted(graph.schema, spec, edge_type)) return 1;
  const EdgeTypeSpec& type = graph.schema.edge_types[edge_type];
  const std::string_view row =
      graph.edge_row({edge_type}, type.FindColumn(type.weight_column), edge);
  float weight;
  std::memcpy(&weight, row.data(), sizeof(weight));
  return static_cast<double>(weight);
}

// Sets of the indices 0 .. all - 1.
Distribution Subsets(int64_t all, int64_t count) {
  std::vector<Item> items;
  for (int64_t i = 0; i < all; ++i) items.push_back({Set{1} << i});
  return Choices(items, std::min(count, all), false);
}

}  // namespace

std::vector<Start> NodeStarts(NodeTypeId seed_type, const std::vector<int64_t>& seeds,
                              int64_t batch_size) {
  std::vector<Start> starts;
  for (const auto& [set, probability] : Subsets(static_cast<int64_t>(seeds.size()), batch_size)) {
    Start& start = starts.emplace_back();
    start.probability = probability;
    for (size_t i = 0; i < seeds.size(); ++i) {
      if ((set >> i & 1) != 0) start.seeds.emplace_back(seed_type, seeds[i]);
    }
  }
  return starts;
}

std::vector<Start> LinkStarts(const SmallLinks& links, int64_t batch_size) {
  std::vector<Start> starts;
  const int64_t all = static_cast<int64_t>(links.links.size());
  for (const auto& [set, probability] : Subsets(all, batch_size)) {
    Start& start = starts.emplace_back();
    start.probability = probability;
    for (int64_t i = 0; i < all; ++i) {
      if ((set >> i & 1) == 0) continue;
      start.seeds.emplace_back(links.source_type, links.links[i].first);
      start.seeds.emplace_back(links.target_type, links.links[i].second);
    }
  }
  for (int64_t draw = 0; draw < std::min(batch_size, all) * links.negatives_per_link; ++draw) {
    std::vector<Start> next;
    for (const Start& start : starts) {
      for (const int64_t node : links.negatives) {
        next.push_back(start);
        next.back().seeds.emplace_back(links.negative_type, node);
        next.back().probability /= static_cast<double>(links.negatives.size());
      }
    }
    starts = std::move(next);
  }
  return starts;
}

Probabilities FirstChances(const MemoryGraph& graph, const std::vector<Start>& starts) {
  Probabilities first;
  for (size_t type = 0; type < graph.nodes.size(); ++type) {
    first.emplace_back(graph.num_nodes({static_cast<int32_t>(type)}));
  }
  for (const Start& start : starts) {
    std::set<std::pair<int32_t, int64_t>> seeds;
    for (const auto& [type, node] : start.seeds) seeds.insert({type.value, node});
    for (const auto& [type, node] : seeds) first[type][node] += start.probability;
  }
  return first;
}

Probabilities EnumeratedVip(const MemoryGraph& graph, const std::vector<Start>& starts,
                            const SamplingSpec& spec) {
  const Numbering numbering(graph);
  // What was met before the last hop, and what by now.
  std::map<std::pair<Set, Set>, double> states;
  for (const Start& start : starts) {
    Set set = 0;
    for (const auto& [type, node] : start.seeds) set |= numbering.Bit(type.value, node);
    states[{0, set}] += start.probability;
  }
  for (const std::vector<int64_t>& fanouts : spec.fanouts) {
    std::map<std::pair<Set, Set>, double> next;
    for (const auto& [state, probability] : states) {
      const Set expanded =
          spec.expansion == Expansion::kAllNodes ? state.second : state.second & ~state.first;
      Distribution met = {{state.second, 1.0}};
      for (int32_t type = 0; type < static_cast<int32_t>(fanouts.size()); ++type) {
        const EdgeTypeSpec& edge = graph.schema.edge_types[type];
        for (int64_t v = 0; fanouts[type] != 0 && v < graph.num_nodes({edge.target_type}); ++v) {
          if ((expanded & numbering.Bit(edge.target_type, v)) == 0) continue;
          std::vector<Item> sources;
          for (const InEdge& in : graph.InEdges({type}, v)) {
            sources.push_back({numbering.Bit(edge.source_type, in.source),
                               WeightOf(graph, spec, type, in.edge_id)});
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

// That v draws one of its edges from u in a hop, by edge types that all have a reverse, or none.
struct Pair {
  std::vector<double> missed;  // in each hop
  double drawn = 0;            // m_h(v, u)
  double met_before = 0;       // b of cache/vip/vip.h
};
// Reverse or not, type of v, v, type of u, u.
using PairKey = std::tuple<bool, int32_t, int64_t, int32_t, int64_t>;

// The edge types that are followed and whose edges reversed are those of one such, with the
// same weights.
std::vector<uint8_t> HaveReverse(const MemoryGraph& graph, const SamplingSpec& spec) {
  using Edges = std::multiset<std::tuple<int64_t, int64_t, double>>;
  const size_t num_types = graph.edges.size();
  std::vector<Edges> forth(num_types), back(num_types);
  for (size_t e = 0; e < num_types; ++e) {
    const bool followed = std::any_of(spec.fanouts.begin(), spec.fanouts.end(),
                                      [&](const auto& fanouts) { return fanouts[e] != 0; });
    for (size_t i = 0; followed && i < graph.edges[e].sources.size(); ++i) {
      const int64_t source = graph.edges[e].sources[i], target = graph.edges[e].targets[i];
      const double weight = WeightOf(graph, spec, static_cast<int32_t>(e), static_cast<int64_t>(i));
      forth[e].insert({source, target, weight});
      back[e].insert({target, source, weight});
    }
  }
  std::vector<uint8_t> have(num_types);
  for (size_t a = 0; a < num_types; ++a) {
    for (size_t b = 0; b < num_types; ++b) {
      const EdgeTypeSpec &of_a = graph.schema.edge_types[a], &of_b = graph.schema.edge_types[b];
      have[a] |= of_a.source_type == of_b.target_type && of_a.target_type == of_b.source_type &&
                 !forth[a].empty() && forth[a] == back[b];
    }
  }
  return have;
}

// That none of the edges to one neighbour is drawn, `count` of `degree` alike, or with `weight` of
// all `weights`.
double NoneDrawn(const DrawRule& rule, int64_t degree, int64_t count,
                 const std::vector<double>& weights, double weight) {
  const auto [fanout, replace, weighted] = rule;
  if (weighted) return 1 - DrawChance(rule, DrawRate(rule, weights), weight);
  if (fanout == 0) return 1;
  if (fanout == kAllNeighbors) return 0;
  const double d = static_cast<double>(degree), k = static_cast<double>(count);
  if (replace) return std::pow(1 - k / d, static_cast<double>(fanout));
  double none = 1;
  for (int64_t draw = 0; draw < std::min(fanout, degree); ++draw) {
    const double left = d - static_cast<double>(draw);
    none *= std::max(0.0, left - k) / left;
  }
  return none;
}

// The chances of all pairs.
std::map<PairKey, Pair> Pairs(const MemoryGraph& graph, const SamplingSpec& spec) {
  const std::vector<uint8_t> has_reverse = HaveReverse(graph, spec);
  std::map<PairKey, Pair> pairs;
  for (int32_t e = 0; e < static_cast<int32_t>(graph.edges.size()); ++e) {
    const EdgeTypeSpec& type = graph.schema.edge_types[e];
    const auto lists = graph.InEdgesOfAll({e});
    for (size_t v = 0; v < lists.size(); ++v) {
      std::map<int64_t, int64_t> counts;
      std::map<int64_t, double> weights;
      std::vector<double> of_list;
      for (const InEdge& in : lists[v]) {
        ++counts[in.source];
        of_list.push_back(WeightOf(graph, spec, e, in.edge_id));
        weights[in.source] += of_list.back();
      }
      for (const auto& [u, count] : counts) {
        if (type.source_type == type.target_type && u == static_cast<int64_t>(v)) continue;
        Pair& pair = pairs[{has_reverse[e] != 0, type.target_type, static_cast<int64_t>(v),
                            type.source_type, u}];
        pair.missed.resize(spec.fanouts.size(), 1.0);
        for (size_t hop = 0; hop < spec.fanouts.size(); ++hop) {
          const DrawRule rule{spec.fanouts[hop][e], spec.replace,
                              IsWeighted(graph.schema, spec, e)};
          pair.missed[hop] *=
              NoneDrawn(rule, static_cast<int64_t>(lists[v].size()), count, of_list, weights[u]);
        }
      }
    }
  }
  return pairs;
}

}  // namespace

Probabilities NaiveVip(const MemoryGraph& graph, const Probabilities& first,
                       const SamplingSpec& spec,
                       const std::map<std::pair<int64_t, int64_t>, double>& together) {
  std::map<PairKey, Pair> pairs = Pairs(graph, spec);
  Probabilities met = first;
  for (int hop = 0; hop < spec.num_hops(); ++hop) {
    const std::map<PairKey, Pair> before = pairs;
    for (auto& [key, pair] : pairs) {
      const auto& [returns, v_type, v, u_type, u] = key;
      double without = met[v_type][v];
      if (const auto both = together.find({v, u}); both != together.end()) {
        without = std::max(0.0, 1 - (1 - without) / (1 - both->second));
      }
      const auto back = before.find({returns, u_type, u, v_type, v});
      if (returns && back != before.end()) {
        const double helped = back->second.drawn;
        without = helped < 1 ? std::max(0.0, 1 - (1 - without) / (1 - helped)) : 0;
      }
      const double known = spec.expansion == Expansion::kAllNodes ? pair.drawn : pair.met_before;
      pair.drawn += (1 - pair.missed[hop]) * std::max(0.0, without - known);
      pair.met_before = without;
    }
    Probabilities missed = first;
    for (std::vector<double>& values : missed) {
      for (double& value : values) value = 1 - value;
    }
    for (const auto& [key, pair] : pairs) {
      missed[std::get<3>(key)][std::get<4>(key)] *= 1 - pair.drawn;
    }
    for (size_t type = 0; type < met.size(); ++type) {
      for (size_t u = 0; u < met[type].size(); ++u) met[type][u] = 1 - missed[type][u];
    }
  }
  return met;
}

}  // namespace vicinity::testing
