// Where a loader's seeds come from: a split, or the nodes or links that the user lists.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/shard_router.h"
#include "client/types/loader_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// Threads: immutable; any number may read.
class SeedSource {
 public:
  virtual ~SeedSource() = default;

  // Of a seed's nodes: of nodes one type; of links two, of source and target, of which the last
  // says whose the link is.
  virtual const std::vector<NodeTypeId>& types() const = 0;
  // The seeds that these shards own, node by node; no shards: all. In the same order for any cut of
  // the graph.
  virtual absl::StatusOr<std::vector<int64_t>> Seeds(absl::Span<const int32_t> shards) const = 0;
};

// What the options say. NotFound or InvalidArgument naming the node types; for listed seeds else as
// client/types/seed_values.h says. The router must outlive it.
absl::StatusOr<std::unique_ptr<SeedSource>> MakeSeedSource(const ShardRouter& router,
                                                           const LoaderOptions& options);

// NotFound naming the types there are.
absl::StatusOr<NodeTypeId> FindNodeType(const Schema& schema, const std::string& name);

// The type of that name or, without a name, the only one that can be meant. NotFound or
// InvalidArgument naming the types.
absl::StatusOr<NodeTypeId> FindSeedType(const Schema& schema, const std::string& name);

}  // namespace vicinity
