#include "client/query/walk_makers.h"

#include <utility>

#include "client/shards/routed_walks.h"
#include "proto/common/status.h"
#include "sampler/walk_spec.h"

namespace vicinity {

absl::StatusOr<StepLists> MakeWalks(const ShardRouter& router, const ResolvedStep& step,
                                    absl::Span<const int64_t> starts, const StepDraw& draw,
                                    const CallContext& context, StepAnswer* answer) {
  const WalkSpec& spec = step.walk;
  VICINITY_RETURN_IF_ERROR(
      CheckSize(step, static_cast<int64_t>(starts.size()) * (spec.length + 1)));
  VICINITY_ASSIGN_OR_RETURN(
      Walks walks, RouteWalks(router, spec, starts, draw.Own(step), step.step.edge_ids, context));
  for (int64_t made = 0; made <= spec.length; ++made) {
    answer->walk_types.push_back(NodeTypeOfWalk(router.schema(), spec, made));
  }
  StepLists lists;
  lists.offsets.push_back(0);
  for (int64_t walk = 0; walk < walks.num_walks(); ++walk) {
    const int64_t* const nodes = walks.nodes.data() + walk * (spec.length + 1);
    for (int64_t made = 0; made <= spec.length && nodes[made] >= 0; ++made) {
      if (answer->walk_types[made] == step.node_type.value) lists.nodes.push_back(nodes[made]);
    }
    lists.offsets.push_back(static_cast<int64_t>(lists.nodes.size()));
  }
  answer->walks = std::move(walks);
  return lists;
}

}  // namespace vicinity
