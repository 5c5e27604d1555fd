#include "tests/benchmark/baselines/published_vip.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"

namespace vicinity::benchmark {
namespace {

constexpr NodeTypeId kNode{0};

// What happened to each node hop by hop.
struct History {
  std::vector<std::vector<double>> met;  // by hop: p_h, or c_h
};

double EdgeChance(int64_t fanout, int64_t degree) {
  if (fanout == kAllNeighbors) return 1;
  return std::min(1.0, static_cast<double>(fanout) / static_cast<double>(degree));
}

// That v draws one given edge of a list of `degree`, up to hop `hop`.
double Message(const History& history, const SamplingSpec& spec, int32_t edge_type, int64_t v,
               int64_t degree, int hop, Recurrence recurrence) {
  if (recurrence == Recurrence::kPublished) {
    return EdgeChance(spec.fanouts[hop - 1][edge_type], degree) * history.met[hop - 1][v];
  }
  double drawn = 0;
  for (int h = 0; h < hop; ++h) {
    drawn +=
        EdgeChance(spec.fanouts[h][edge_type], degree) * std::max(0.0, history.met[h][v] - drawn);
  }
  return drawn;
}

// Adds log(1 - message) of all edges to their sources.
void AddMissed(const Dataset& dataset, const History& history, const SamplingSpec& spec, int hop,
               Recurrence recurrence, std::vector<double>* missed) {
  for (const auto& shard : dataset.shards()) {
    const int64_t first = dataset.book().First(kNode, shard->id()).value;
    for (int32_t type = 0; type < static_cast<int32_t>(dataset.schema().edge_types.size());
         ++type) {
      const EdgeTable& edges = shard->edges({type});
      for (int64_t row = 0; row < edges.num_targets(); ++row) {
        const int64_t degree = edges.degree(row);
        if (degree == 0) continue;
        const double message = Message(history, spec, type, first + row, degree, hop, recurrence);
        if (message == 0) continue;
        const double log_missed = std::log1p(-std::min(message, 1 - 1e-15));
        for (int64_t i = edges.begin(row); i < edges.begin(row) + degree; ++i) {
          (*missed)[edges.sources[i]] += log_missed;
        }
      }
    }
  }
}

std::vector<double> OneHome(const Dataset& dataset, const HomeSeeds& seeds,
                            const VipOptions& options, Recurrence recurrence) {
  const int64_t num_nodes = dataset.book().num_nodes(kNode);
  History history;
  history.met.emplace_back(num_nodes);
  const double all = static_cast<double>(seeds.nodes.size());
  for (const int64_t seed : seeds.nodes) {
    history.met[0][seed] = std::min(1.0, static_cast<double>(options.batch_size) / all);
  }
  std::vector<double> in_no_hop(num_nodes);
  for (int64_t u = 0; u < num_nodes; ++u) in_no_hop[u] = 1 - history.met[0][u];
  for (int hop = 1; hop <= options.sampling.num_hops(); ++hop) {
    std::vector<double> missed(num_nodes);
    AddMissed(dataset, history, options.sampling, hop, recurrence, &missed);
    std::vector<double> met(num_nodes);
    for (int64_t u = 0; u < num_nodes; ++u) {
      met[u] = -std::expm1(missed[u]);
      if (recurrence == Recurrence::kExpandedAgain) {
        met[u] = 1 - (1 - met[u]) * (1 - history.met[0][u]);
        in_no_hop[u] = 1 - met[u];
      } else {
        in_no_hop[u] *= 1 - met[u];
      }
    }
    history.met.push_back(std::move(met));
  }
  for (double& value : in_no_hop) value = 1 - value;
  return in_no_hop;
}

}  // namespace

VipScores PublishedVip(const Dataset& dataset, const std::vector<HomeSeeds>& homes,
                       const VipOptions& options, Recurrence recurrence) {
  VipScores scores;
  scores.num_homes = static_cast<int32_t>(homes.size());
  scores.values.emplace_back(dataset.book().num_nodes(kNode) * scores.num_homes);
  for (size_t home = 0; home < homes.size(); ++home) {
    if (homes[home].nodes.empty()) continue;
    const std::vector<double> found = OneHome(dataset, homes[home], options, recurrence);
    for (size_t u = 0; u < found.size(); ++u) {
      scores.values[0][u * scores.num_homes + home] = static_cast<float>(found[u]);
    }
  }
  return scores;
}

}  // namespace vicinity::benchmark
