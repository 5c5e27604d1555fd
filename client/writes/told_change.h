// An entry of a shard's change log as users are told of it.
#pragma once

#include "absl/status/statusor.h"
#include "client/types/change_values.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"

namespace vicinity {

// Parts of one kind, type and column become one, and all come in this order. `book` is that of the
// files which the log is of. Internal for an entry that does not fit the schema, or whose lists are
// of different lengths: its server would not have it.
//
// Threads: a function of its arguments alone.
absl::StatusOr<ShardChange> TellChange(const Schema& schema, const Book& book, ShardId shard,
                                       const proto::Change& change);

}  // namespace vicinity
