// From a loader's options to what it works with: checked, looked up, read from the shards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "client/loading/batch_rows.h"
#include "client/loading/batch_sampler.h"
#include "client/loading/likeliest_nodes.h"
#include "client/loading/ragged_columns.h"
#include "client/loading/seed_schedule.h"
#include "client/loading/seed_source.h"
#include "client/negatives/negative_sampler.h"
#include "client/shards/edge_rows.h"
#include "client/shards/shard_router.h"
#include "client/types/loader_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// InvalidArgument with the value that is wrong.
absl::Status CheckLoaderOptions(const ShardRouter& router, const LoaderOptions& options);
// Likewise, but for `sampling`, which minibatches alone are drawn by.
absl::Status CheckLoadingOptions(const ShardRouter& router, const LoaderOptions& options);

// The homes that the options say, or the default ones.
std::vector<std::vector<int32_t>> HomesOf(const ShardRouter& router, const LoaderOptions& options);

// This trainer's seeds and how they are dealt.
struct TrainerSeeds {
  std::vector<int64_t> seeds;       // node by node
  int64_t nodes_per_seed = 1;       // as SeedSource::types
  std::vector<int64_t> list_sizes;  // kHome: by trainer
};
absl::StatusOr<TrainerSeeds> ReadSeeds(const ShardRouter& router, const SeedSource& source,
                                       const LoaderOptions& options);

// InvalidArgument unless there is a time for each seed where sampling goes by time, and none where
// it does not.
absl::Status CheckSeedTimes(const LoaderOptions& options, const TrainerSeeds& seeds);

// The labels of the seeds; empty where the type has none or none are wanted.
absl::StatusOr<std::vector<int64_t>> ReadLabels(const ShardRouter& router, NodeTypeId seed_type,
                                                const std::vector<int64_t>& seeds,
                                                const LoaderOptions& options);

struct CachedColumns {
  std::vector<ColumnPlan> plans;
  std::string ranked_by;  // as LoaderStats::ranked_by
};

// The columns asked for that are not ragged, then those of user ids, each with its pool filled, and
// those asked for with their way to the device if there is one. NotFound naming the columns there
// are, or of kVip the ranking that there is not; else as PlaceOnDevice. `device`: null with
// Placement::kHost.
absl::StatusOr<CachedColumns> MakeColumns(const ShardRouter& router, const LoaderOptions& options,
                                          const SeedShards& seeds, std::shared_ptr<Device> device);

// The ragged ones among the columns asked for. NotFound naming those that exist.
absl::StatusOr<std::vector<RaggedColumn>> FindRaggedColumns(const Schema& schema,
                                                            const LoaderOptions& options);

// The edge columns asked for. NotFound naming those that exist.
absl::StatusOr<std::vector<EdgeColumnPlan>> FindEdgeColumns(const Schema& schema,
                                                            const LoaderOptions& options);

// The edge types that the options exclude edges of. InvalidArgument where seeds are no links, a
// batch may have too many of them, or no edge type is known to lead back, naming those that do.
absl::StatusOr<ExcludedTypes> FindExcluded(const Schema& schema, const LoaderOptions& options);

// Who draws the negatives that the options ask for; null: none. InvalidArgument where seeds are no
// links; else as NegativeSampler::Make.
absl::StatusOr<std::unique_ptr<NegativeSampler>> MakeNegatives(const ShardRouter& router,
                                                               const LoaderOptions& options);

}  // namespace vicinity
