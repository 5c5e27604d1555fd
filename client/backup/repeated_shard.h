// A shard's changes that are made again in a folder, from a backup or from servers that have them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"

namespace vicinity {

// What is there already, of one that was cut off, is gone on from.
//
// Threads: one.
class RepeatedShard {
 public:
  // `changes`: the folder, for errors.
  RepeatedShard(ShardId id, std::shared_ptr<LiveShard> shard, std::string changes)
      : id_(id),
        shard_(std::move(shard)),
        changes_(std::move(changes)),
        before_(shard_->version()) {}

  // Changes come in the order of their versions, the first no later than the last one that is
  // there. FailedPrecondition naming the folder and the shard if that is another one; else what
  // LiveShard::Repeat gives.
  absl::Status Take(proto::Change change);
  // After all of them: FailedPrecondition if the folder had more than `last`.
  absl::Status CheckReaches(uint64_t last) const;

  LiveShard& shard() const { return *shard_; }
  uint64_t before() const { return before_; }  // the last version that was there at first

 private:
  absl::Status IsAnother() const;

  const ShardId id_;
  const std::shared_ptr<LiveShard> shard_;
  const std::string changes_;
  const uint64_t before_;
};

}  // namespace vicinity
