// An edge table in memory: what a mapped shard shows, without files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/shard.h"

namespace vicinity::testing {

// Lifetime: table() shows these arrays; keep the object, and do not change it, while it is used.
struct EdgeLists {
  std::vector<uint64_t> keys;  // of the targets
  std::vector<uint64_t> offsets{0};
  std::vector<uint32_t> sources;
  std::vector<uint64_t> edge_ids;
  std::vector<AliasEntry> weights;  // empty: draws are uniform only

  void AddTarget(uint64_t key, const std::vector<uint32_t>& list) {
    keys.push_back(key);
    for (const uint32_t source : list) {
      edge_ids.push_back(1000 + sources.size());
      sources.push_back(source);
    }
    offsets.push_back(sources.size());
  }

  // Of all edges, once all targets are there.
  void SetWeights(const std::vector<double>& all) {
    weights.resize(sources.size());
    AliasBuilder builder;
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      const uint64_t degree = offsets[i + 1] - offsets[i];
      builder.Fill(absl::MakeConstSpan(all).subspan(offsets[i], degree),
                   absl::MakeSpan(weights).subspan(offsets[i], degree));
    }
  }

  EdgeTable table() const {
    EdgeTable table;
    table.offsets = offsets;
    table.sources = IdArray(absl::MakeConstSpan(sources));
    table.edge_ids = IdArray(absl::MakeConstSpan(edge_ids));
    table.weights = weights;
    return table;
  }
};

}  // namespace vicinity::testing
