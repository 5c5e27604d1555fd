#include "tests/benchmark/transfer_turns.h"

#include <algorithm>

namespace vicinity::benchmark {
namespace {

constexpr int kTurns = 5;

double Median(const std::vector<TransferCost>& costs, double TransferCost::*figure) {
  std::vector<double> figures;
  for (const TransferCost& cost : costs) figures.push_back(cost.*figure);
  std::sort(figures.begin(), figures.end());
  return figures[figures.size() / 2];
}

}  // namespace

TransferTurns::Costs TransferTurns::Measure() const {
  std::vector<std::vector<TransferCost>> costs(ways_.size());
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < ways_.size(); ++i) {
      costs[i].push_back(ways_[i].measure(seconds_ / kTurns));
    }
  }
  Costs medians;
  for (size_t i = 0; i < ways_.size(); ++i) {
    medians.emplace_back(ways_[i].name,
                         TransferCost{Median(costs[i], &TransferCost::giga_per_second),
                                      Median(costs[i], &TransferCost::core_seconds_per_giga)});
  }
  return medians;
}

}  // namespace vicinity::benchmark
