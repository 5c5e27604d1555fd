// Handler of Admin.ReadFile: pieces of the served files, for a repair elsewhere.
#pragma once

#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "proto/admin.pb.h"

namespace vicinity {

// Memory: a MiB. Only files that the manifest lists, of shards that are wanted here.
absl::StatusOr<proto::ReadFileReply> ReadFilePiece(const Dataset& dataset,
                                                   const proto::ReadFileRequest& request);

}  // namespace vicinity
