// A small graph of many edge types, most of whose lists are empty, as a dataset on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

class ManyRelations {
 public:
  static constexpr NodeTypeId kNodes{0};

  explicit ManyRelations(int num_relations, int64_t num_nodes = 200, int64_t num_edges = 500)
      : graph_(Make(num_relations, num_nodes, num_edges)) {
    VICINITY_REQUIRE_OK(WriteGraph(graph_, dir_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(dir_.File("graph")));
  }

  const MemoryGraph& graph() const { return graph_; }
  const Schema& schema() const { return dataset_->schema(); }
  const Shard& shard() const { return *dataset_->shard({0}); }
  std::string OffsetsOf(int relation) const {
    return shard().edges({relation}).offsets_file->path();
  }
  std::vector<EdgeTypeId> types() const {
    std::vector<EdgeTypeId> all;
    for (size_t type = 0; type < graph_.edges.size(); ++type) {
      all.push_back({static_cast<int32_t>(type)});
    }
    return all;
  }
  std::vector<int64_t> Degrees(EdgeTypeId type) const {
    std::vector<int64_t> degrees(graph_.num_nodes(kNodes));
    for (const int64_t target : graph_.edges[type.value].targets) ++degrees[target];
    return degrees;
  }

 private:
  static MemoryGraph Make(int num_relations, int64_t num_nodes, int64_t num_edges) {
    RandomGraphOptions options;
    options.num_nodes = num_nodes;
    options.num_edges = num_edges;
    options.weights = true;
    options.times = true;
    MemoryGraph graph = RandomGraph(options);
    SplitEdges(num_relations, &graph);
    return graph;
  }

  const TempDir dir_;
  const MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
};

}  // namespace vicinity::testing
