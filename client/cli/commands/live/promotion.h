// The next writer of a shard of a live graph: chosen, given what it lacks, and appointed.
//
// 1. All servers of the shard that answer hear of a term in which nobody writes. From then on
//    nothing is committed, and what each has is known.
// 2. What the next writer lacks of it, the one that has most sends to it, and takes no batches.
// 3. The next writer is appointed, then the others hear of it.
//
// No term has two writers: divided by the number of servers, what is left of it is the writer's
// place among them. So it is with two promotions at once, too, in parts of a cluster that do not
// reach each other.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "partition/overlay/live_values.h"
#include "proto/admin.pb.h"
#include "proto/common/ids.h"

namespace vicinity::cli {

// Calls Appoint of one of the servers.
using AppointCall = std::function<absl::StatusOr<proto::AppointReply>(
    size_t server, const proto::AppointRequest& request)>;

struct PromotionOptions {
  std::vector<std::string> servers;  // that have the shard, as in the cluster file, at least two
  std::string from;  // only if this one writes it, or nobody, and it is not to; empty: whoever does
  std::string to;    // empty: of those that are not `from` the one that has most
  bool force = false;    // also if too few answer to be sure of what was REPLICATED
  bool dry_run = false;  // ask and choose, and change nothing
  absl::Duration catch_up = absl::Seconds(60);  // for the next writer to get what it lacks
  absl::Duration look_every = absl::Milliseconds(100);
};

struct Promotion {
  bool concerned = true;  // false: `from` does not write it, so nothing was done
  WriterTerm before{};
  WriterTerm after{};      // of a dry run without its term
  LogPosition position{};  // from which it goes on, without the empty version of the new term
  std::vector<std::string> unreached{};  // servers that have not heard of it: the writer tells them
};

// Errors: NotFound: `to` or `from` is none of the servers; Unavailable naming who did not answer:
// too few did, or not the next writer (nothing has changed then, unless it left in between);
// FailedPrecondition: they have different datasets, or
// somebody else promotes at the same time; DeadlineExceeded: the next writer lacks something yet.
// Where nobody writes the shard after it, or it takes no batches, the text says so: it is to be run
// again.
absl::StatusOr<Promotion> Promote(ShardId shard, const PromotionOptions& options,
                                  const AppointCall& call);

}  // namespace vicinity::cli
