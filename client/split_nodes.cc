#include "client/split_nodes.h"

#include "partition/book.h"

namespace vicinity {

SplitNodes NearAndFar(const ShardRouter& router, NodeTypeId type, absl::Span<const int64_t> ids,
                      bool by_shard) {
  SplitNodes nodes;
  const Book& book = router.book();
  if (by_shard) nodes.home.resize(book.num_shards());
  for (size_t i = 0; i < ids.size(); ++i) {
    const GlobalNode node{ids[i]};
    const auto position = static_cast<int64_t>(i);
    const ShardId owner = book.OwnerOf(type, node);
    const bool local = router.IsLocal(owner);
    (local ? nodes.local : nodes.remote).push_back(node.value);
    (local ? nodes.local_positions : nodes.remote_positions).push_back(position);
    if (!local || !by_shard) continue;
    SplitNodes::Home& home = nodes.home[owner.value];
    home.rows.push_back(static_cast<int32_t>(book.RowOf(type, node).value));
    home.positions.push_back(position);
  }
  return nodes;
}

}  // namespace vicinity
