#include "client/train/expected_traffic.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace vicinity {

Result<double> ExpectedRemoteRows(const Graph& graph, const TrafficQuestion& question) {
  std::vector<float> remote;
  for (const int32_t type : question.types) {
    const Result<RankedList> ranked = graph.Ranked(question.ranking, question.home, type);
    if (!ranked.ok()) return ranked.error();
    const RankedList& list = ranked.value();
    for (size_t i = 0; i < list.nodes.size(); ++i) {
      if (!graph.IsLocal(type, list.nodes[i])) remote.push_back(list.probabilities[i]);
    }
  }
  std::sort(remote.begin(), remote.end(), std::greater<float>());
  const size_t cached = std::min(remote.size(), static_cast<size_t>(question.cache_rows));
  double rows = 0;
  for (size_t i = cached; i < remote.size(); ++i) rows += remote[i];
  return rows;
}

}  // namespace vicinity
