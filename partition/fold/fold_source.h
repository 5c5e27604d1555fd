// What is folded: a dataset, and what has changed of each of its shards.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"

namespace vicinity {

// Threads:  immutable; any number may read.
// Lifetime: the dataset, which must be open as a whole, outlives it.
class FoldSource {
 public:
  // `overlays`: of every shard its changes up to some version; null: there are none.
  FoldSource(const Dataset& dataset, std::vector<std::shared_ptr<const ShardOverlay>> overlays)
      : dataset_(dataset), overlays_(std::move(overlays)) {
    for (int32_t s = 0; s < num_shards(); ++s) {
      readers_.emplace_back(*dataset.shard({s}), overlays_[s]);
    }
  }

  const Dataset& dataset() const { return dataset_; }
  const Schema& schema() const { return dataset_.schema(); }
  const Book& book() const { return dataset_.book(); }
  int32_t num_shards() const { return book().num_shards(); }
  // Null: nothing of the shard has changed.
  const ShardOverlay* overlay(ShardId shard) const { return overlays_[shard.value].get(); }
  const ShardReader& reader(ShardId shard) const { return readers_[shard.value]; }

 private:
  const Dataset& dataset_;
  const std::vector<std::shared_ptr<const ShardOverlay>> overlays_;
  std::vector<ShardReader> readers_;
};

}  // namespace vicinity
