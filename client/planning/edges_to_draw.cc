#include "client/planning/edges_to_draw.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/edge_conditions.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/rules/list_rule.h"

namespace vicinity {
namespace {

constexpr int64_t kEdgesAtOnce = int64_t{1} << 20;

absl::StatusOr<std::vector<uint8_t>> Judge(const DrawSpec& spec, EdgeTypeId type,
                                           const Shard& shard, const TimeBounds& within) {
  std::vector<uint8_t> there;
  if (!Filters(spec)) return there;
  const ShardReader reader(shard);
  const EdgeTable& edges = shard.edges(type);
  ListRule rule(spec);
  there.reserve(edges.num_edges());
  for (int64_t first = 0; first < edges.num_edges(); first += kEdgesAtOnce) {
    const int64_t count = std::min(kEdgesAtOnce, edges.num_edges() - first);
    const ListPart part(edges, nullptr, first, count, /*has_more=*/false);
    VICINITY_ASSIGN_OR_RETURN(const AllowedEdges allowed,
                              rule.ReadAndJudge(reader, type, part, within));
    for (int64_t i = 0; i < count; ++i) there.push_back(allowed.Has(i) ? 1 : 0);
  }
  return there;
}

}  // namespace

absl::StatusOr<EdgeFilter> EdgesToDraw(const Dataset& dataset, const SamplingSpec& spec,
                                       const TimeBounds& within) {
  if (spec.where.empty() && spec.time_column.empty()) return EdgeFilter();
  const Schema& schema = dataset.schema();
  VICINITY_ASSIGN_OR_RETURN(auto conditions, ResolveByEdgeType(schema, spec.where));
  std::vector<DrawSpec> specs(schema.edge_types.size());
  for (size_t type = 0; type < specs.size(); ++type) {
    specs[type].time_column = TimeColumnOf(schema, spec, static_cast<int>(type));
    specs[type].where = std::move(conditions[type]);
  }
  return EdgeFilter([specs = std::move(specs), within](EdgeTypeId type, const Shard& shard) {
    return Judge(specs[type.value], type, shard, within);
  });
}

}  // namespace vicinity
