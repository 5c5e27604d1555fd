// What is folded: a dataset, and what has changed of each of its shards.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_view.h"
#include "proto/common/ids.h"

namespace vicinity {

// Threads:  immutable; any number may read.
// Lifetime: the dataset, which must be open as a whole, and the shards that the views are of
//           outlive it.
class FoldSource {
 public:
  // `views`: one of every shard.
  FoldSource(const Dataset& dataset, std::vector<std::shared_ptr<const LiveView>> views)
      : dataset_(dataset), views_(std::move(views)) {
    for (int32_t s = 0; s < num_shards(); ++s) {
      readers_.emplace_back(*dataset.shard({s}), views_[s]);
      files_.emplace_back(*dataset.shard({s}));
    }
  }

  const Dataset& dataset() const { return dataset_; }
  const Schema& schema() const { return dataset_.schema(); }
  const Book& book() const { return dataset_.book(); }
  int32_t num_shards() const { return book().num_shards(); }
  const LiveView& view(ShardId shard) const { return *views_[shard.value]; }
  const ShardReader& reader(ShardId shard) const { return readers_[shard.value]; }
  // Without the changes.
  const ShardReader& files(ShardId shard) const { return files_[shard.value]; }

 private:
  const Dataset& dataset_;
  const std::vector<std::shared_ptr<const LiveView>> views_;
  std::vector<ShardReader> readers_;  // by shard
  std::vector<ShardReader> files_;
};

}  // namespace vicinity
