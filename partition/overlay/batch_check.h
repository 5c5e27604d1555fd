// Whether a batch of changes fits its shard, as far as that can be said without looking at what the
// shard holds now.
#pragma once

#include "absl/status/status.h"
#include "partition/overlay/live_base.h"
#include "proto/live.pb.h"

namespace vicinity {

// InvalidArgument naming the part, the position in it, the value and what would be right: a type or
// column that there is not, another number of rows or bytes than there are ids, a node or key of
// another shard, a key twice or one that is not its name's, a source that cannot be, a weight that
// is none, a ragged row that is none. An empty batch is none.
absl::Status CheckBatch(const LiveBase& base, const proto::WriteBatch& batch);

// InvalidArgument naming what is wrong with a session: its id is kept as long as it may come again.
absl::Status CheckSession(const proto::WriteSession& session);

}  // namespace vicinity
