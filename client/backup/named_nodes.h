// Which new nodes the edges of other shards come from, of changes that are kept shard by shard.
//
// As partition/fold/consistent_cut.h, for who has changes one after the other and no store of them:
// a shard whose changes are kept up to a version may lack a node that an edge in another's comes
// from. Brought back like that, the shard would give the node's id to the next one that is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/dataset/book.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"

namespace vicinity {

// Threads:  one.
// Lifetime: schema and book outlive it.
class NamedNodes {
 public:
  // `kept`: of each shard how large it is at the version up to which its changes are kept at first;
  // `there_are`: the same of versions asked for later. What is beyond these was in no answer, and
  // counts as named by mistake.
  NamedNodes(const Schema& schema, const Book& book, const std::vector<ShardVersion>& kept,
             const std::vector<ShardVersion>& there_are);

  // Of a change of the shard that is kept now.
  void Note(ShardId shard, const proto::Change& change);
  // Whether some edge that was noted comes from a node of the shard that is in no change kept.
  bool Lacks(ShardId shard) const;

 private:
  const Schema& schema_;
  const Book& book_;
  // By shard and node type, rows:
  std::vector<std::vector<int64_t>> kept_;
  std::vector<std::vector<int64_t>> there_are_;
  std::vector<std::vector<int64_t>> named_;
};

}  // namespace vicinity
