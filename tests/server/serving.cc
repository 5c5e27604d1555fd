#include "tests/server/serving.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/testing/status_checks.h"

namespace vicinity::testing {

Serving::Serving(MemoryGraph graph, std::vector<ShardId> shards, Limits limits)
    : graph_(std::move(graph)),
      placement_(Shuffled(graph_, 3, 17)),
      shards_(std::move(shards)),
      directory_(folder_.File("graph")) {
  VICINITY_REQUIRE_OK(limits.Validate());
  VICINITY_REQUIRE_OK(WriteGraph(graph_, placement_, directory_));
  state_.name = "alpha";
  state_.limits = limits;
  state_.started = std::chrono::steady_clock::now();
  state_.counters = &counters_;
  Reopen();
}

void Serving::Reopen() {
  Dataset::Options options;
  options.shards = shards_;
  auto dataset = Dataset::Open(directory_, options);
  VICINITY_REQUIRE_OK(dataset);
  dataset_ = *std::move(dataset);
  health_ = std::make_unique<ShardHealth>(*dataset_);
  state_.dataset = dataset_.get();
  state_.health = health_.get();
}

}  // namespace vicinity::testing
