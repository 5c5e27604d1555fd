// A hop's draws along many edge types on one shard, without a look at the lists that are known to
// be empty. What is drawn does not show it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/one_hop.h"
#include "sampler/relations/nonempty_cache.h"

namespace vicinity {

// Of a hop's targets those that have edges, edge type by edge type.
//
// Threads:  one at a time.
// Lifetime: what it is made from must outlive it, and so must the rows.
class ListedTargets {
 public:
  // `cache`: null: nothing is known of any list.
  ListedTargets(const Schema& schema, const ShardReader& reader, NonemptyCache* cache);

  // The index among `rows`, rising, of each target whose list may have edges; nothing where any
  // may. Good until the next call with other rows of the same type.
  // Cost: that of the first call for these rows is a pass over them; the others are free.
  std::optional<absl::Span<const uint32_t>> Of(EdgeTypeId edge_type,
                                               absl::Span<const uint64_t> rows);

 private:
  struct OfType {
    absl::Span<const uint64_t> rows;
    bool is_known = false;
    std::vector<std::vector<uint32_t>> listed;  // by the edge type's number
  };
  void Split(NodeTypeId target_type, absl::Span<const uint64_t> rows, OfType* of_type);

  const Schema& schema_;
  const ShardReader& reader_;
  NonemptyCache* const cache_;
  std::vector<OfType> types_;  // by node type
};

// As SampleLists (sampler/local_sampler.h), where of the targets only those with the indexes
// `listed` have edges; nothing: any may.
absl::Status SampleListed(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                          absl::Span<const uint64_t> rows,
                          std::optional<absl::Span<const uint32_t>> listed,
                          const OneHopOptions& options, Neighbors* out);

}  // namespace vicinity
