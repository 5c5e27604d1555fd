// What proves that nothing was lost: order-independent hashes of a dataset's content.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"
#include "proto/schema.pb.h"

namespace vicinity {

// Hashes every node, row and edge of a whole dataset, with several threads.
// docs/formats.md tells exactly what is hashed; two datasets with the same content in user
// ids have the same audit whatever their shards. FailedPrecondition: not all shards are open.
// DataLoss naming the file: a source outside the book, offsets that are not in order.
absl::StatusOr<proto::Audit> ComputeAudit(const Dataset& dataset, Progress* progress);

// DataLoss naming the type, the column and both values where they differ.
absl::Status CompareAudits(const Schema& schema, const proto::Audit& expected,
                           const proto::Audit& found);

// All that `vicinity verify` checks: every file's checksum, offsets and lists in order, ids and
// sources in range, names that make their keys, the directory complete and sorted, and the audit
// against the manifest's. DataLoss naming file and position; else what Dataset::Open returns.
absl::Status VerifyDataset(const std::string& directory, Progress* progress);

}  // namespace vicinity
