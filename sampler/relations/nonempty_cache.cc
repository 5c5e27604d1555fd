#include "sampler/relations/nonempty_cache.h"

#include "absl/status/statusor.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

// A list is read in a pass in an eighth of the time that it takes to look at it out of order.
constexpr int64_t kListsOfAPass = 8;

}  // namespace

NonemptyCache::NonemptyCache(const Schema& schema, int64_t max_bytes)
    : max_bytes_(max_bytes), ending_in_(schema.node_types.size()) {
  for (size_t type = 0; type < schema.edge_types.size(); ++type) {
    std::vector<EdgeTypeId>& ending = ending_in_[schema.edge_types[type].target_type];
    numbers_.push_back(ending.size());
    ending.push_back({static_cast<int32_t>(type)});
  }
}

const NonemptyLists* NonemptyCache::Find(const Shard& shard, NodeTypeId target_type,
                                         int64_t num_lists) {
  const auto num_types = static_cast<int64_t>(ending_in_[target_type.value].size());
  if (num_types < 2) return nullptr;
  const Key key = {&shard, target_type.value};
  MutexLock lock(&mutex_);
  Entry& entry = entries_[key];
  if (entry.lists.has_value()) return &*entry.lists;
  if (entry.is_hopeless) return nullptr;
  entry.num_asked += num_lists;
  const int64_t num_nodes = shard.nodes(target_type).num_nodes();
  if (entry.num_asked < num_nodes * num_types / kListsOfAPass || pass_.is_running()) return nullptr;
  if (num_bytes_ + NonemptyLists::BytesFor(num_nodes, num_types) > max_bytes_) {
    entry.is_hopeless = true;
  } else {
    pass_.Start([this, key] { Look(key); });  // if it cannot, another call tries again
  }
  return nullptr;
}

void NonemptyCache::Look(const Key& key) {
  absl::StatusOr<NonemptyLists> lists = WithinResources([&] {
    return NonemptyLists::Find(*key.first, {key.second}, ending_in_[key.second],
                               [this] { return pass_.stops(); });
  });
  MutexLock lock(&mutex_);
  Entry& entry = entries_[key];
  entry.num_asked = 0;
  if (!lists.ok()) return;  // what is wrong with the files, who reads them says; then once more
  const int64_t num_all = lists->num_nodes() * lists->num_edge_types();
  entry.is_hopeless = lists->num_nonempty() > num_all / 2;
  if (entry.is_hopeless) return;
  num_bytes_ += lists->num_bytes();
  entry.lists = *std::move(lists);
}

int64_t NonemptyCache::num_bytes() const {
  MutexLock lock(&mutex_);
  return num_bytes_;
}

}  // namespace vicinity
