#include "client/planning/link_plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"

namespace vicinity {
namespace {

// Links of one home by node.
struct Counts {
  int64_t num_links = 0;
  std::vector<int64_t> of_sources;  // of all ends where both are of one type
  std::vector<int64_t> of_targets;
};

LinkSeeds::Ends EndsOf(NodeTypeId type, const std::vector<int64_t>& counts) {
  LinkSeeds::Ends ends{type, {}, {}};
  for (size_t node = 0; node < counts.size(); ++node) {
    if (counts[node] == 0) continue;
    ends.nodes.push_back(static_cast<int64_t>(node));
    ends.counts.push_back(counts[node]);
  }
  return ends;
}

// Adds the links to one target.
void CountList(const BaseLists& edges, int64_t row, int64_t target, bool one_type, Counts* counts) {
  const int64_t begin = edges.begin(row), end = begin + edges.degree(row);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t source = edges.source(i);
    if (source >= static_cast<int64_t>(counts->of_sources.size()))
      continue;  // ComputeLinkVip tells
    ++counts->of_sources[source];
    if (!one_type) {
      ++counts->of_targets[target];
    } else if (source != target) {
      ++counts->of_sources[target];
    }
  }
  counts->num_links += end - begin;
}

}  // namespace

std::vector<LinkSeeds> LinksOfHomes(const Dataset& dataset, EdgeTypeId type,
                                    absl::Span<const int32_t> home_of, int32_t num_homes) {
  const Book& book = dataset.book();
  const EdgeTypeSpec& spec = dataset.schema().edge_types[type.value];
  const NodeTypeId source_type{spec.source_type}, target_type{spec.target_type};
  const bool one_type = source_type == target_type;
  std::vector<Counts> counts(num_homes);
  for (Counts& of_home : counts) {
    of_home.of_sources.resize(book.num_nodes(source_type));
    if (!one_type) of_home.of_targets.resize(book.num_nodes(target_type));
  }
  for (const auto& shard : dataset.shards()) {
    const BaseLists edges(*shard, type);
    const int64_t first = book.First(target_type, shard->id()).value;
    for (int64_t row = 0; row < book.num_nodes(target_type, shard->id()); ++row) {
      const int32_t home = home_of[first + row];
      if (home < 0) continue;
      CountList(edges, row, first + row, one_type, &counts[home]);
    }
  }
  std::vector<LinkSeeds> links(num_homes);
  for (int32_t home = 0; home < num_homes; ++home) {
    links[home].num_links = counts[home].num_links;
    links[home].ends.push_back(EndsOf(source_type, counts[home].of_sources));
    if (!one_type) links[home].ends.push_back(EndsOf(target_type, counts[home].of_targets));
    counts[home] = Counts();
  }
  return links;
}

LinkIndex::LinkIndex(const Dataset& dataset, EdgeTypeId type, absl::Span<const int32_t> shards)
    : begins_({0}) {
  const NodeTypeId target{dataset.schema().edge_types[type.value].target_type};
  for (const auto& shard : dataset.shards()) {
    if (std::find(shards.begin(), shards.end(), shard->id().value) == shards.end()) continue;
    const BaseLists edges(*shard, type);
    if (edges.num_targets() <= 0) continue;
    parts_.push_back({edges, dataset.book().First(target, shard->id()).value});
    begins_.push_back(begins_.back() + edges.begin(edges.num_targets()));
  }
}

std::pair<int64_t, int64_t> LinkIndex::EndsOf(int64_t i) const {
  const size_t part = std::upper_bound(begins_.begin(), begins_.end(), i) - begins_.begin() - 1;
  const BaseLists& edges = parts_[part].edges;
  const int64_t position = i - begins_[part];
  return {edges.source(position), parts_[part].first_target + edges.TargetOf(position)};
}

}  // namespace vicinity
