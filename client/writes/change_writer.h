// Sends changes to the shards that they belong to: cut into batches, numbered, each applied once,
// and refused a row at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/types/write_values.h"
#include "client/writes/node_counts.h"
#include "client/writes/write_lane.h"
#include "partition/dataset/book.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"

namespace vicinity {

struct ChangeWriterOptions {
  Durability durability = Durability::kSync;
  std::chrono::nanoseconds give_up_after = std::chrono::seconds(60);
  // Between a batch that got no answer and its next attempt: this, then twice as long each time.
  std::chrono::nanoseconds first_wait = std::chrono::milliseconds(20);
  std::chrono::nanoseconds longest_wait = std::chrono::seconds(2);
  // A call waits for others at a shard as long as for an answer, but no less than this: one that
  // works is free sooner.
  std::chrono::nanoseconds least_turn = std::chrono::seconds(10);
  int64_t batch_bytes = int64_t{1} << 20;
  int shards_at_once = 16;                    // of one call
  std::function<std::string()> make_session;  // an id that no other writer has
};

// Threads:  any number may write; what one call has for a shard may come between two batches that
//           another has for it.
// Lifetime: the router must outlive it.
// Errors and memory: as client/writer.h.
class ChangeWriter {
 public:
  ChangeWriter(const ShardRouter& router, ChangeWriterOptions options);

  // `written` is filled in any case.
  absl::Status Write(const GraphChanges& changes, const CallContext& context, Written* written);

 private:
  friend class WriteCall;

  struct Lane {
    bool taken = false;  // under mu_
    WriteLane lane;      // of who has taken it
  };
  bool TryTake(ShardId shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(ShardId shard);

  const ShardRouter& router_;
  const Book book_;  // grows
  const ChangeWriterOptions options_;
  NodeCounts counts_;

  Mutex mu_;
  CondVar changed_;  // a lane is free, or a call's batch has its answer
  std::vector<Lane> lanes_;
};

}  // namespace vicinity
