// A folded dataset takes the place of the one that it was made of, on all servers, while they
// serve.
//
// 1. Every server opens the next dataset. What was written since the fold was made is carried over
//    to it, page after page, and meanwhile more is written.
// 2. When little is left the old dataset takes no changes any more. Once all servers of each shard
//    have the same of them, the rest is carried over. This is how long writers wait.
// 3. The next dataset is in force, one server after the other.
//
// Whatever fails before the third step leads back: the old dataset takes changes again. In the
// third it goes on when it is run again, as it does wherever it was ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/admin.pb.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/live.pb.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

// What a swap is done by. Calls have deadlines of their own.
struct SwapCalls {
  std::function<absl::StatusOr<proto::SwapReply>(size_t server, const proto::SwapRequest& request)>
      step;
  std::function<absl::StatusOr<proto::CarryReply>(size_t server,
                                                  const proto::CarryRequest& request)>
      carry;
  // Once, before the two that follow.
  std::function<absl::Status()> begin;
  // Changes of the old dataset behind a version, with rows: at least one, if there is one.
  std::function<absl::StatusOr<std::vector<proto::Change>>(ShardId shard, uint64_t after,
                                                           uint64_t count)>
      read;
  // One of them as the next dataset's. In order, each once.
  std::function<absl::StatusOr<proto::Change>(ShardId shard, proto::Change change)> translate;
};

struct SwapServer {
  std::string name;
  std::vector<ShardId> shards;
};

struct SwapOptions {
  std::vector<SwapServer> servers;     // of the cluster: all
  std::vector<uint64_t> folded_at;     // of each shard the version that the fold was made at
  std::vector<uint64_t> folded_terms;  // and in which term that was written
  uint64_t fingerprint = 0;            // of the next dataset
  uint64_t follows = 0;                // of the one that it was made of
  std::string data;                    // the next one's folder, as servers see it
  // Also if readers of changes, who have named themselves, have not acknowledged all that was
  // folded: they would find the rest in the old dataset alone, for as long as that is kept.
  bool leave_readers_behind = false;
  uint64_t page = 256;                        // changes that are read at once
  absl::Duration settle = absl::Seconds(60);  // for servers of a shard to have the same changes
  absl::Duration look_every = absl::Milliseconds(20);
};

struct SwapReport {
  bool was_done = false;            // before: the next dataset is in force on all servers
  std::vector<uint64_t> carried;    // of each shard, changes
  absl::Duration writers_waited{};  // until the last server had committed
};

// Errors: Unavailable naming the servers that do not answer; FailedPrecondition: one has another
// dataset in force, or a reader of changes is behind the fold; DeadlineExceeded: the servers of a
// shard do not come to the same; else those of the calls. The text says whether the old dataset
// takes changes, and what is to be done.
absl::StatusOr<SwapReport> SwapDatasets(const SwapOptions& options, const SwapCalls& calls,
                                        Progress* progress);

// Lets the next dataset go where it is not in force. FailedPrecondition where it is on any.
absl::Status AbortSwap(const SwapOptions& options, const SwapCalls& calls);

}  // namespace vicinity::cli
