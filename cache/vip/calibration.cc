#include "cache/vip/calibration.h"

#include <algorithm>
#include <cstddef>

#include "absl/types/span.h"

namespace vicinity {
namespace {

// Nodes of like score: as many as tell what they have in common, and not more than some hundred
// groups of all.
constexpr size_t kLeastAlike = 256;
constexpr size_t kMostGroups = 256;

// How the probabilities of nodes of like score are to it.
struct Alike {
  double factor = 1;    // c
  double variance = 0;  // v
  double chance = 1;    // s
};

double Needed(const UseCounts& counts, int64_t node) {
  return static_cast<double>(counts.halves[0][node]) + counts.halves[1][node];
}

Alike Fit(absl::Span<const int64_t> nodes, const UseCounts& counts,
          const std::vector<float>& scores) {
  const auto num_batches = static_cast<double>(counts.num_batches);
  double needed = 0, expected = 0;
  for (const int64_t node : nodes) {
    needed += Needed(counts, node);
    expected += num_batches * scores[node];
  }
  if (needed == 0) return {0.5 / expected, 0, 1};  // rarer than could be seen
  Alike alike;
  alike.factor = needed / expected;
  double off = 0, by_chance = 0, squares = 0;
  for (const int64_t node : nodes) {
    const double mean = alike.factor * num_batches * scores[node];
    const double differ = static_cast<double>(counts.halves[0][node]) - counts.halves[1][node];
    off += (Needed(counts, node) - mean) * (Needed(counts, node) - mean);
    by_chance += differ * differ;
    squares += mean * mean;
  }
  alike.variance = std::max(0.0, off - by_chance) / squares;
  alike.chance = by_chance / needed;
  return alike;
}

double Posterior(double score, double needed, double num_batches, const Alike& alike) {
  const double prior = alike.factor * score;
  const double weight = alike.chance + alike.variance * prior * num_batches;
  if (weight == 0) return prior;
  return prior * (alike.chance + alike.variance * needed) / weight;
}

}  // namespace

void Calibrate(const UseCounts& counts, std::vector<float>* scores) {
  if (counts.num_batches == 0) return;
  std::vector<int64_t> order;
  for (size_t node = 0; node < scores->size(); ++node) {
    if ((*scores)[node] > 0) order.push_back(static_cast<int64_t>(node));
  }
  std::sort(order.begin(), order.end(), [scores](int64_t a, int64_t b) {
    return (*scores)[a] != (*scores)[b] ? (*scores)[a] > (*scores)[b] : a < b;
  });
  const size_t group = std::max(kLeastAlike, order.size() / kMostGroups);
  for (size_t begin = 0; begin < order.size(); begin += group) {
    const auto nodes = absl::MakeConstSpan(order).subspan(begin, group);
    const Alike alike = Fit(nodes, counts, *scores);
    for (const int64_t node : nodes) {
      const double posterior = Posterior((*scores)[node], Needed(counts, node),
                                         static_cast<double>(counts.num_batches), alike);
      (*scores)[node] = static_cast<float>(std::clamp(posterior, 1e-30, 1.0));
    }
  }
}

}  // namespace vicinity
