// What a VIP analysis is asked: whose seeds, sampled how; and what that comes to on a dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip.h"
#include "client/planning/query_batches.h"
#include "client/query/query.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// As users say it; the flags of `partition`, `rank`, `plan` and `policies` fill it in.
struct VipRequest {
  std::vector<int64_t> fanouts = {15, 10, 5};
  int64_t batch_size = 1024;
  bool replace = false;
  Expansion expansion = Expansion::kAllNodes;
  std::string weighted_by;  // a weight column; empty: uniform draws
  // As SamplingSpec's of the same names.
  std::string where;
  bool disjoint = false;
  std::string time_column;
  TemporalStrategy temporal_strategy = TemporalStrategy::kUniform;
  int64_t time_window = -1;
  TimeFollows time_follows = TimeFollows::kSeed;
  Draws draws = Draws::kIndependent;
  bool layer_dependency = false;
  int64_t batch_dependency = 1;
  Subgraph subgraph = Subgraph::kDirectional;
  // With time_column: which column has the seeds' times, of their node type, or of links of their
  // edge type; empty: of the same name.
  std::string seed_time_column;
  std::string seeds = "train";  // "train", "validation", "test", "all"
  std::string seed_type;        // empty: the only type that fits
  std::string homes;            // "0,2/1,3"; empty: every shard alone
  // Batches of links instead of nodes: `seeds` and `seed_type` say nothing then.
  std::string seed_links;  // an edge type; empty: seeds are nodes
  int64_t negatives_per_link = 0;
  std::string negative_type;  // empty: that of the links' targets
  // Batches that are this query's answers instead of minibatches: seeds, batch size and homes are
  // as above, draws are the query's. Empty: minibatches.
  std::optional<Query> query;
};

struct HomePlan {
  std::vector<std::vector<int32_t>> homes;  // the shards of each, rising
  std::vector<int32_t> home_of;             // by shard; -1: of none
  std::vector<HomeSeeds> seeds;             // by home; empty ones where there are links
  std::vector<LinkSeeds> links;             // by home; none: seeds are nodes
  LinkEdges link_edges;                     // which links they are
  bool seeds_from_all = false;              // every home's seeds are those of all
  // With draws by time: of nodes the times of all of the seeds' type, by global id; of links the
  // column that has theirs.
  std::vector<int64_t> node_times;
  std::string link_times;
  VipOptions options;
  // Whose answers the batches are, of which `options` say only what the formula goes by
  // (client/planning/query_formula.h); null: they are minibatches. It reads the dataset.
  std::shared_ptr<const QueryBatches> query;

  // Of a home: its nodes, or links.
  int64_t num_seeds(int32_t home) const {
    return links.empty() ? static_cast<int64_t>(seeds[home].nodes.size()) : links[home].num_links;
  }
};

// The groups of "0,2/1,3", each rising. InvalidArgument naming what is no shard of num_shards, or
// is there twice.
absl::StatusOr<std::vector<std::vector<int32_t>>> ParseHomes(std::string_view text,
                                                             int32_t num_shards);

// The type whose nodes are seeds. FailedPrecondition if none has a split (or, for "all", has
// nodes); InvalidArgument if it must be named, or there is no such type.
absl::StatusOr<NodeTypeId> FindSeedType(const Dataset& dataset, const VipRequest& request);

// Every home's seeds are the seeds in its shards; its links those to nodes in its shards.
// InvalidArgument for a request that does not fit the dataset; FailedPrecondition where there are
// no seeds at all; what ReadWhole and ShardReader say of the files that tell. Of a query, whose
// input tells the seeds' type, also errors as QueryBatches::Create. The dataset must outlive the
// plan.
//
// The plan's options leave edges to the VIP formula that a batch can draw at all: those that meet
// the condition and whose times are within those of any seed (client/planning/edges_to_draw.h).
absl::StatusOr<HomePlan> PlanHomes(const Dataset& dataset, const Assignment& assignment,
                                   const VipRequest& request);

// Gives every home the seeds of all of them, nodes or links, as SeedPolicy::kGlobal does
// (client/types/loader_values.h).
void DealFromAll(HomePlan* plan);

// Errors as ComputeVip.
absl::StatusOr<VipScores> ScoresOf(const Dataset& dataset, const HomePlan& plan,
                                   Progress* progress);

// A dataset's own cut.
Assignment AssignmentOf(const Book& book);

// What a stored ranking says about itself.
proto::Ranking DescribeRanking(const std::string& name, const VipRequest& request,
                               const HomePlan& plan);

}  // namespace vicinity
