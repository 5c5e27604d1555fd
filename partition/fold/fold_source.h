// What is folded: a dataset, and what has changed of each of its shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_view.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {

// Threads:  immutable; any number may read.
// Lifetime: the dataset, which must be open as a whole, and the shards that the views are of
//           outlive it.
class FoldSource {
 public:
  // `views`: one of every shard. `terms`: in which their versions were written, where anybody asks.
  FoldSource(const Dataset& dataset, std::vector<std::shared_ptr<const LiveView>> views,
             std::vector<uint64_t> terms = {})
      : dataset_(dataset), views_(std::move(views)), terms_(std::move(terms)) {
    terms_.resize(views_.size());
    for (int32_t s = 0; s < num_shards(); ++s) {
      readers_.emplace_back(*dataset.shard({s}), views_[s]);
      files_.emplace_back(*dataset.shard({s}));
    }
  }

  const Dataset& dataset() const { return dataset_; }
  const Schema& schema() const { return dataset_.schema(); }
  const Book& book() const { return dataset_.book(); }
  // Of these shards, which are all of the dataset's in their order, at these versions. OutOfRange
  // naming one that has not come so far.
  static absl::StatusOr<FoldSource> At(const Dataset& dataset,
                                       absl::Span<const std::shared_ptr<LiveShard>> shards,
                                       absl::Span<const uint64_t> versions) {
    std::vector<std::shared_ptr<const LiveView>> views;
    std::vector<uint64_t> terms;
    for (size_t s = 0; s < shards.size(); ++s) {
      VICINITY_ASSIGN_OR_RETURN(views.emplace_back(), shards[s]->At(versions[s]));
      terms.push_back(shards[s]->TermOf(versions[s]));
    }
    return FoldSource(dataset, std::move(views), std::move(terms));
  }

  int32_t num_shards() const { return book().num_shards(); }
  uint64_t term(ShardId shard) const { return terms_[shard.value]; }
  const LiveView& view(ShardId shard) const { return *views_[shard.value]; }
  const ShardReader& reader(ShardId shard) const { return readers_[shard.value]; }
  // Without the changes.
  const ShardReader& files(ShardId shard) const { return files_[shard.value]; }

 private:
  const Dataset& dataset_;
  const std::vector<std::shared_ptr<const LiveView>> views_;
  std::vector<uint64_t> terms_;
  std::vector<ShardReader> readers_;  // by shard
  std::vector<ShardReader> files_;
};

}  // namespace vicinity
