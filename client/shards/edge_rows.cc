#include "client/shards/edge_rows.h"

#include <cstddef>
#include <iterator>
#include <list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// A block's edges, taken apart by the shard that has them.
struct RoutedBlock {
  std::vector<std::vector<uint64_t>> rows;      // by shard: edge positions
  std::vector<std::vector<int64_t>> positions;  // by shard: of each row, in the block
};

RoutedBlock Route(const SampledGraph& graph, const Block& block, NodeTypeId target_type,
                  const Book& book) {
  RoutedBlock routed;
  routed.rows.resize(book.num_shards());
  routed.positions.resize(book.num_shards());
  const std::vector<int64_t>& targets = graph.nodes[target_type.value].ids;
  for (int64_t i = 0; i < block.num_targets(); ++i) {
    const int32_t owner = book.OwnerOf(target_type, {targets[block.first_target + i]}).value;
    for (int64_t k = block.offsets[i]; k < block.offsets[i + 1]; ++k) {
      routed.rows[owner].push_back(static_cast<uint64_t>(block.edge_positions[k]));
      routed.positions[owner].push_back(k);
    }
  }
  return routed;
}

// Calls visit(hop, block) for every block of the type.
template <typename Visit>
void ForEachBlock(const SampledGraph& graph, EdgeTypeId type, Visit visit) {
  for (size_t hop = 0; hop < graph.hops.size(); ++hop) {
    for (const Block& block : graph.hops[hop]) {
      if (block.edge_type == type.value) visit(static_cast<int32_t>(hop), block);
    }
  }
}

// What is fetched, and what the calls under way point to.
class EdgeFetch {
 public:
  EdgeFetch(const ShardRouter& router, const SampledGraph& graph)
      : router_(router), graph_(graph) {}

  absl::Status Add(const EdgeColumnPlan& plan, int32_t hop, const Block& block) {
    const EdgeTypeSpec& type = router_.schema().edge_types[plan.type.value];
    if (block.edge_positions.size() != block.sources.size()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "rows of the edges ", router_.schema().EdgeTypeName(plan.type.value), " of hop ", hop,
          " need their positions, and the minibatch was sampled without"));
    }
    EdgeRows& column = columns_.emplace_back();
    column.hop = hop;
    column.edge_type = plan.type.value;
    column.spec = type.columns[plan.column];
    column.num_rows = static_cast<int64_t>(block.sources.size());
    column.bytes.resize(column.num_rows * column.spec.row_bytes());
    blocks_.push_back({&column, plan, Route(graph_, block, {type.target_type}, router_.book())});
    return absl::OkStatus();
  }

  absl::Status Run(const CallContext& context) {
    FanOut calls;
    for (const bool remote : {true, false}) {  // what takes long first
      for (const Part& part : blocks_) Start(part, remote, context, &calls);
    }
    return calls.Wait();
  }

  std::vector<EdgeRows> Take() {
    return {std::make_move_iterator(columns_.begin()), std::make_move_iterator(columns_.end())};
  }

 private:
  struct Part {
    EdgeRows* column;
    EdgeColumnPlan plan;
    RoutedBlock routed;
  };

  void Start(const Part& part, bool remote, const CallContext& context, FanOut* calls) const {
    ShardRows request;
    request.edge_type = part.plan.type;
    request.column = part.plan.column;
    request.row_bytes = part.column->spec.row_bytes();
    request.out = part.column->bytes.data();
    for (size_t s = 0; s < part.routed.rows.size(); ++s) {
      ShardAccess& shard = router_.shard(ShardId{static_cast<int32_t>(s)});
      if (part.routed.rows[s].empty() || request.row_bytes == 0 || shard.remote() != remote) {
        continue;
      }
      request.rows = part.routed.rows[s];
      request.positions = part.routed.positions[s];
      shard.Ask(request, context, calls->Add());
    }
  }

  const ShardRouter& router_;
  const SampledGraph& graph_;
  std::list<EdgeRows> columns_;  // a list, so that they stay where they are
  std::vector<Part> blocks_;
};

}  // namespace

absl::StatusOr<EdgeColumnPlan> FindEdgeColumn(const Schema& schema, int32_t edge_type,
                                              const std::string& column) {
  if (edge_type < 0 || edge_type >= static_cast<int64_t>(schema.edge_types.size())) {
    return absl::NotFoundError(
        absl::StrCat("edge type ", edge_type, ", there are ", schema.edge_types.size()));
  }
  const EdgeTypeSpec& spec = schema.edge_types[edge_type];
  const int found = spec.FindColumn(column);
  if (found >= 0) return EdgeColumnPlan{EdgeTypeId{edge_type}, found};
  std::string known;
  for (const ColumnSpec& each : spec.columns) absl::StrAppend(&known, " ", each.name);
  return absl::NotFoundError(absl::StrCat("edge type ", schema.EdgeTypeName(edge_type),
                                          " has no column ", column,
                                          "; it has:", known.empty() ? " none" : known));
}

absl::StatusOr<std::vector<EdgeRows>> FetchEdgeRows(const ShardRouter& router,
                                                    const SampledGraph& graph,
                                                    absl::Span<const EdgeColumnPlan> columns,
                                                    const CallContext& context) {
  EdgeFetch fetch(router, graph);
  absl::Status status;
  for (const EdgeColumnPlan& plan : columns) {
    ForEachBlock(graph, plan.type, [&](int32_t hop, const Block& block) {
      if (status.ok()) status = fetch.Add(plan, hop, block);
    });
  }
  VICINITY_RETURN_IF_ERROR(status);
  VICINITY_RETURN_IF_ERROR(fetch.Run(context));
  return fetch.Take();
}

int64_t EdgeRowBytes(const ShardRouter& router, const SampledGraph& graph,
                     absl::Span<const EdgeColumnPlan> columns) {
  int64_t bytes = 0;
  for (const EdgeColumnPlan& plan : columns) {
    const EdgeTypeSpec& type = router.schema().edge_types[plan.type.value];
    ForEachBlock(graph, plan.type, [&](int32_t /*hop*/, const Block& block) {
      bytes += static_cast<int64_t>(block.sources.size()) * type.columns[plan.column].row_bytes();
    });
  }
  return bytes;
}

}  // namespace vicinity
