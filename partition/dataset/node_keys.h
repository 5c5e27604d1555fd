// The key of any node of a whole dataset, by its global id.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {

// Threads:  immutable; any number may read.
// Lifetime: `dataset` must be whole and outlive this.
class NodeKeys {
 public:
  NodeKeys(const Dataset& dataset, NodeTypeId type) : book_(dataset.book()), type_(type) {
    for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
      keys_.push_back(shard->nodes(type).keys.data());
    }
  }

  // `node` must be Contained in the book.
  uint64_t operator[](GlobalNode node) const {
    const ShardId owner = keys_.size() == 1 ? ShardId{0} : book_.OwnerOf(type_, node);
    return keys_[owner.value][node.value - book_.First(type_, owner).value];
  }

 private:
  const Book& book_;
  const NodeTypeId type_;
  std::vector<const uint64_t*> keys_;  // by shard
};

}  // namespace vicinity
