// A small graph as a dataset on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {

// A graph written and opened; nodes are named by their positions in memory.
class Stored {
 public:
  Stored(const MemoryGraph& graph, Placement placement, const std::string& directory)
      : placement_(std::move(placement)) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, placement_, directory));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(directory));
    for (const std::vector<int64_t>& order : placement_.order) {
      std::vector<int64_t> ids(order.size());
      for (size_t id = 0; id < order.size(); ++id) ids[order[id]] = static_cast<int64_t>(id);
      ids_.push_back(std::move(ids));
    }
  }

  const Dataset& dataset() const { return *dataset_; }
  std::vector<int64_t> Ids(int32_t type, const std::vector<int64_t>& positions) const {
    std::vector<int64_t> ids;
    for (const int64_t position : positions) ids.push_back(ids_[type][position]);
    return ids;
  }
  int64_t PositionOf(int32_t type, int64_t id) const { return placement_.PositionOf({type}, {id}); }

 private:
  Placement placement_;
  std::unique_ptr<Dataset> dataset_;
  std::vector<std::vector<int64_t>> ids_;  // by type and position
};

}  // namespace vicinity::testing
