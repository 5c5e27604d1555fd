// The handler of Bulk.Open: gives a caller what opens the bulk channel.
#pragma once

#include "absl/status/statusor.h"
#include "proto/bulk.pb.h"
#include "server/calls/operations.h"

namespace vicinity {

// Unimplemented where the server has no bulk channel, Unavailable where it has none over the kind
// of socket that is asked for, or that reaches the caller; InvalidArgument for too many
// connections.
absl::StatusOr<proto::OpenBulkReply> OpenBulk(const CallOrigin& origin,
                                              const proto::OpenBulkRequest& request);

}  // namespace vicinity
