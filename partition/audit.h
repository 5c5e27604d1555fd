// What proves that nothing was lost: order-independent hashes of a dataset's content.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset.h"
#include "partition/progress.h"
#include "proto/schema.pb.h"

namespace vicinity {

// Hashes every node, row and edge of a whole dataset, with several threads.
// docs/formats.md tells exactly what is hashed; two datasets with the same content in user
// ids have the same audit whatever their shards.
absl::StatusOr<proto::Audit> ComputeAudit(const Dataset& dataset, Progress* progress);

// DataLoss naming the type, the column and both values where they differ.
absl::Status CompareAudits(const Schema& schema, const proto::Audit& expected,
                           const proto::Audit& found);

// All that `vicinity verify` checks: checksums, audit against the manifest, neighbours inside the
// book, lists in order, directory complete and sorted, ids within range. DataLoss naming file and position.
absl::Status VerifyDataset(const std::string& directory, Progress* progress);

}  // namespace vicinity
