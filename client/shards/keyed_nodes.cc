#include "client/shards/keyed_nodes.h"

#include <algorithm>
#include <cstddef>

#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "partition/overlay/live_values.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::vector<int64_t>> ResolveKeys(const ShardRouter& router, NodeTypeId type,
                                                 absl::Span<const uint64_t> keys,
                                                 const CallContext& context) {
  struct Part {
    std::vector<uint64_t> keys;
    std::vector<int64_t> positions;
  };
  std::vector<Part> parts(router.book().num_shards());
  for (size_t i = 0; i < keys.size(); ++i) {
    Part& part = parts[router.book().DirectoryShard(keys[i]).value];
    part.keys.push_back(keys[i]);
    part.positions.push_back(static_cast<int64_t>(i));
  }
  std::vector<int64_t> nodes(keys.size(), -1);
  FanOut calls;
  for (size_t s = 0; s < parts.size(); ++s) {
    if (parts[s].keys.empty()) continue;
    router.shard(ShardId{static_cast<int32_t>(s)})
        .Ask(ShardKeys{type, parts[s].keys, parts[s].positions, nodes.data()}, context,
             calls.Add());
  }
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  return nodes;
}

absl::StatusOr<int64_t> CountRows(const ShardRouter& router, ShardId shard, NodeTypeId type,
                                  const CallContext& context) {
  if (!router.book().grows()) return router.book().num_nodes(type, shard);
  ShardVersion now;
  FanOut calls;
  router.shard(shard).Ask(ShardBarrier{&now}, context, calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  return now.num_nodes[type.value];
}

absl::StatusOr<std::vector<int64_t>> InOrderOfKeys(const ShardRouter& router, NodeTypeId type,
                                                   std::vector<KeyedNode> nodes,
                                                   const CallContext& context) {
  std::sort(nodes.begin(), nodes.end());
  std::vector<int64_t> ids;
  ids.reserve(nodes.size());
  for (const auto& [key, node] : nodes) ids.push_back(node);
  if (!router.book().grows()) return ids;
  // Rows stay for whoever reads an earlier version; the key of one that is gone leads elsewhere.
  std::vector<uint64_t> keys;
  keys.reserve(nodes.size());
  for (const auto& [key, node] : nodes) keys.push_back(key);
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> of_keys,
                            ResolveKeys(router, type, keys, context));
  size_t left = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (of_keys[i] == ids[i]) ids[left++] = ids[i];
  }
  ids.resize(left);
  return ids;
}

}  // namespace vicinity
