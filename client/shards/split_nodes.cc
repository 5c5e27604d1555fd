#include "client/shards/split_nodes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "partition/dataset/book.h"

namespace vicinity {
namespace {

// Ids from `begin` on, as one comparison.
struct Stretch {
  uint64_t begin = 0;
  uint64_t length = 0;

  bool Contains(int64_t id) const { return static_cast<uint64_t>(id) - begin < length; }
};

// The ids of the local shards; those of shards side by side as one.
std::vector<Stretch> LocalStretches(const ShardRouter& router, NodeTypeId type) {
  const Book& book = router.book();
  std::vector<Stretch> stretches;
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    if (!router.IsLocal(ShardId{s}) || book.num_nodes(type, ShardId{s}) == 0) continue;
    const auto begin = static_cast<uint64_t>(book.First(type, ShardId{s}).value);
    const auto length = static_cast<uint64_t>(book.num_nodes(type, ShardId{s}));
    if (!stretches.empty() && stretches.back().begin + stretches.back().length == begin) {
      stretches.back().length += length;
    } else {
      stretches.push_back({begin, length});
    }
  }
  return stretches;
}

// Which of the ids are local, as 0 and 1. No branches: where an id lies is as good as random.
std::vector<uint8_t> AreLocal(const std::vector<Stretch>& stretches,
                              absl::Span<const int64_t> ids) {
  std::vector<uint8_t> are_local(ids.size());
  for (const Stretch& stretch : stretches) {
    for (size_t i = 0; i < ids.size(); ++i) are_local[i] |= stretch.Contains(ids[i]) ? 1 : 0;
  }
  return are_local;
}

// The local shard that has all local nodes of the type; none if several have some.
std::optional<ShardId> OnlyLocalShard(const ShardRouter& router, NodeTypeId type) {
  std::optional<ShardId> only;
  for (int32_t s = 0; s < router.book().num_shards(); ++s) {
    if (!router.IsLocal(ShardId{s}) || router.book().num_nodes(type, ShardId{s}) == 0) continue;
    if (only.has_value()) return std::nullopt;
    only = ShardId{s};
  }
  return only;
}

// As AddByShard, where nobody needs to ask whose a node is: a trainer mostly maps one shard.
void AddToOne(const Book& book, NodeTypeId type, ShardId owner, SplitNodes* nodes) {
  SplitNodes::Home& home = nodes->home[owner.value];
  const int64_t first = book.First(type, owner).value;
  home.rows.resize(nodes->local.size());
  std::transform(nodes->local.begin(), nodes->local.end(), home.rows.begin(),
                 [first](int64_t id) { return static_cast<int32_t>(id - first); });
  home.positions = nodes->local_positions;
}

// Of the local ids.
void AddByShard(const ShardRouter& router, NodeTypeId type, SplitNodes* nodes) {
  const Book& book = router.book();
  nodes->home.resize(book.num_shards());
  if (const std::optional<ShardId> only = OnlyLocalShard(router, type); only.has_value()) {
    AddToOne(book, type, *only, nodes);
    return;
  }
  for (size_t i = 0; i < nodes->local.size(); ++i) {
    const GlobalNode node{nodes->local[i]};
    const ShardId owner = book.OwnerOf(type, node);
    SplitNodes::Home& home = nodes->home[owner.value];
    home.rows.push_back(static_cast<int32_t>(node.value - book.First(type, owner).value));
    home.positions.push_back(nodes->local_positions[i]);
  }
}

}  // namespace

SplitNodes NearAndFar(const ShardRouter& router, NodeTypeId type, absl::Span<const int64_t> ids,
                      bool by_shard) {
  const std::vector<uint8_t> are_local = AreLocal(LocalStretches(router, type), ids);
  size_t num_local = 0;
  for (const uint8_t is_local : are_local) num_local += is_local;
  SplitNodes nodes;
  // One more each: every id is written to both, and stays where it belongs.
  nodes.local.resize(num_local + 1);
  nodes.local_positions.resize(num_local + 1);
  nodes.remote.resize(ids.size() - num_local + 1);
  nodes.remote_positions.resize(ids.size() - num_local + 1);
  size_t next_local = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const size_t next_remote = i - next_local;
    nodes.local[next_local] = nodes.remote[next_remote] = ids[i];
    nodes.local_positions[next_local] = nodes.remote_positions[next_remote] =
        static_cast<int64_t>(i);
    next_local += are_local[i];
  }
  nodes.local.pop_back();
  nodes.local_positions.pop_back();
  nodes.remote.pop_back();
  nodes.remote_positions.pop_back();
  if (by_shard) AddByShard(router, type, &nodes);
  return nodes;
}

}  // namespace vicinity
