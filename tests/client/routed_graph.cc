#include "tests/client/routed_graph.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "partition/dataset/ranking.h"
#include "tests/client/routed_dataset.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {

RoutedGraph::RoutedGraph(MemoryGraph graph, int32_t num_shards, std::vector<int32_t> far)
    : graph_(std::move(graph)),
      placement_(Shuffled(graph_, num_shards, 11)),
      far_(std::move(far)),
      directory_(folder_.File("graph")) {
  VICINITY_REQUIRE_OK(WriteGraph(graph_, placement_, directory_));
  Open();
}

void RoutedGraph::Open() {
  router_.reset();
  VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(directory_));
  router_ = RouteDataset(*dataset_, far_, &traffic_, &faults_);
}

std::vector<int64_t> RoutedGraph::GlobalIds(NodeTypeId type) const {
  const std::vector<int64_t>& order = placement_.order[type.value];
  std::vector<int64_t> ids(order.size());
  for (size_t global = 0; global < order.size(); ++global) {
    ids[order[global]] = static_cast<int64_t>(global);
  }
  return ids;
}

void RoutedGraph::Rank(const std::string& name) {
  proto::Ranking description;
  description.set_name(name);
  const int32_t num_shards = placement_.book.num_shards();
  for (int32_t shard = 0; shard < num_shards; ++shard) description.add_homes()->add_shards(shard);
  if (num_shards > 1) {
    proto::Ranking::Home* all = description.add_homes();
    for (int32_t shard = 0; shard < num_shards; ++shard) all->add_shards(shard);
  }
  std::vector<RankedNodes> by_type;
  for (size_t type = 0; type < graph_.schema.node_types.size(); ++type) {
    RankedNodes& ranked = by_type.emplace_back();
    ranked.nodes = GlobalIds(NodeTypeId{static_cast<int32_t>(type)});
    for (size_t i = 0; i < ranked.nodes.size(); ++i) {
      ranked.probabilities.push_back(1.0f / static_cast<float>(i + 1));
    }
  }
  const std::vector<std::vector<RankedNodes>> orders(description.homes_size(), by_type);
  VICINITY_REQUIRE_OK(WriteRanking(directory_, description, orders));
  Open();
}

void RoutedGraph::Rank(const std::string& name, const ProbabilityOf& probability,
                       std::vector<std::vector<int32_t>> homes) {
  if (homes.empty()) {
    for (int32_t s = 0; s < placement_.book.num_shards(); ++s) homes.push_back({s});
  }
  proto::Ranking description;
  description.set_name(name);
  std::vector<std::vector<RankedNodes>> orders;
  for (int32_t home = 0; home < static_cast<int32_t>(homes.size()); ++home) {
    proto::Ranking::Home* const shards = description.add_homes();
    for (const int32_t shard : homes[home]) shards->add_shards(shard);
    std::vector<RankedNodes>& by_type = orders.emplace_back();
    for (size_t type = 0; type < graph_.schema.node_types.size(); ++type) {
      std::vector<std::pair<float, int64_t>> order;
      for (const int64_t node : GlobalIds(NodeTypeId{static_cast<int32_t>(type)})) {
        const auto position = static_cast<int64_t>(order.size());
        order.emplace_back(probability(home, position, node), node);
      }
      std::sort(order.rbegin(), order.rend());
      RankedNodes& ranked = by_type.emplace_back();
      for (const auto& [likelihood, node] : order) {
        ranked.nodes.push_back(node);
        ranked.probabilities.push_back(likelihood);
      }
    }
  }
  VICINITY_REQUIRE_OK(WriteRanking(directory_, description, orders));
  Open();
}

}  // namespace vicinity::testing
