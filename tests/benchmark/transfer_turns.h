// Ways to move the same things, measured in turns: a machine's speed changes from second to second,
// and none of them is to have the good ones alone.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/benchmark/baselines/other_process.h"

namespace vicinity::benchmark {

class TransferTurns {
 public:
  using Costs = std::vector<std::pair<std::string, TransferCost>>;  // by name

  // Each way gets `seconds` in all.
  explicit TransferTurns(double seconds) : seconds_(seconds) {}

  void Add(std::string name, std::function<TransferCost(double seconds)> measure) {
    ways_.push_back({std::move(name), std::move(measure)});
  }

  // Medians over the turns, of each figure, in the order of Add.
  Costs Measure() const;

 private:
  struct Way {
    std::string name;
    std::function<TransferCost(double seconds)> measure;
  };
  const double seconds_;
  std::vector<Way> ways_;
};

}  // namespace vicinity::benchmark
