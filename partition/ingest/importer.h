// The user's files -> a dataset of one shard, nodes in the user's order.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "partition/ingest/ingest_report.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"

namespace vicinity {

// Reads what `description` names (relative paths count from `base_directory`) and writes the
// dataset `output`, which appears whole or not at all; temporary files lie, nameless, in the
// folder of `output`.
//
// Memory: O(nodes); edges and columns are streamed.
//
// InvalidArgument naming the file and the row or line: whatever does not fit the description
// (bad text, unknown or doubled ids, rows that do not match the nodes or edges, values that do not
// fit their type, a node in two splits); up to ten places are listed, all are counted.
// NotFound: a file or member is missing. DataLoss: a damaged archive. AlreadyExists: `output`.
// ResourceExhausted: no disk space.
absl::StatusOr<IngestReport> Import(const proto::ImportDescription& description,
                                    const std::string& base_directory, const std::string& output,
                                    Progress* progress);

}  // namespace vicinity
