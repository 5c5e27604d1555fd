#include "partition/cut/assigner.h"

#include "absl/strings/str_cat.h"
#include "partition/cut/node_facts.h"

namespace vicinity {

Assignment MakeAssignment(const Dataset& dataset, int32_t num_shards) {
  Assignment assignment;
  assignment.num_shards = num_shards;
  for (int32_t t = 0; t < dataset.book().num_node_types(); ++t) {
    assignment.shard_of.emplace_back(dataset.book().num_nodes(NodeTypeId{t}), 0);
  }
  return assignment;
}

absl::Status CheckAssignable(const Dataset& dataset, int32_t num_shards) {
  if (!dataset.whole()) {
    return absl::InvalidArgumentError(
        absl::StrCat(dataset.directory(), ": only ", dataset.shards().size(), " of ",
                     dataset.book().num_shards(), " shards are open; a cut needs all of them"));
  }
  if (num_shards < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot cut a graph into ", num_shards, " shards; the least is 1"));
  }
  const int64_t num_nodes = NumNodes(dataset);
  if (num_shards > num_nodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("more shards than nodes: ", num_shards, " shards of ", num_nodes, " nodes"));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
