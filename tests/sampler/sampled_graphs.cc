#include "tests/sampler/sampled_graphs.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "sampler/sampled_graph.h"

namespace vicinity::testing {
namespace {

using NameOf = std::function<std::string(int32_t type, int64_t node)>;

std::string DescribeAs(const SampledGraph& graph, const NameOf& name_of) {
  std::string text;
  for (const SampledSeeds& seeds : graph.seeds) {
    absl::StrAppend(&text, "seeds of type ", seeds.node_type, ": ",
                    absl::StrJoin(seeds.positions, " "), "\n");
  }
  for (size_t type = 0; type < graph.nodes.size(); ++type) {
    absl::StrAppend(&text, "nodes of type ", type, " (",
                    absl::StrJoin(graph.nodes[type].hop_ends, " "), "):");
    for (const int64_t node : graph.nodes[type].ids) {
      absl::StrAppend(&text, " ", name_of(static_cast<int32_t>(type), node));
    }
    if (!graph.nodes[type].trees.empty()) {
      absl::StrAppend(&text, "\n  trees ", absl::StrJoin(graph.nodes[type].trees, " "));
    }
    absl::StrAppend(&text, "\n");
  }
  for (size_t hop = 0; hop < graph.hops.size(); ++hop) {
    for (const Block& block : graph.hops[hop]) {
      absl::StrAppend(&text, "hop ", hop, " edge type ", block.edge_type, " from target ",
                      block.first_target, "\n  offsets ", absl::StrJoin(block.offsets, " "),
                      "\n  sources ", absl::StrJoin(block.sources, " "), "\n  edge ids ",
                      absl::StrJoin(block.edge_ids, " "), "\n");
    }
  }
  return text;
}

}  // namespace

std::string Describe(const SampledGraph& graph) {
  return DescribeAs(graph, [](int32_t, int64_t node) { return absl::StrCat(node); });
}

std::string DescribeInKeys(const Dataset& dataset, const SampledGraph& graph) {
  return DescribeAs(graph, [&](int32_t type, int64_t node) {
    const Book& book = dataset.book();
    const Shard* shard = dataset.shard(book.OwnerOf({type}, {node}));
    return absl::StrCat(shard->nodes({type}).keys[book.RowOf({type}, {node}).value]);
  });
}

}  // namespace vicinity::testing
