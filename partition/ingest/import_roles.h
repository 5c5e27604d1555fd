// What nodes are for: their classes and their splits, read and checked whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/ingest/import_column.h"
#include "partition/ingest/node_ids.h"
#include "proto/import.pb.h"

namespace vicinity {

struct Labels {
  std::vector<int64_t> classes;  // by node; -1: none
  int32_t num_classes = 0;
};

// `num_classes` 0: the largest class + 1. `label` has one value a row. InvalidArgument with the
// places: classes below -1 or not below num_classes, fractions, another number of rows.
absl::StatusOr<Labels> ReadLabels(ImportColumn* label, absl::string_view owner, int64_t num_nodes,
                                  int32_t num_classes);

// A Split for each node; empty if `source` has no splits. InvalidArgument with the places: unknown
// ids, a node in two splits or twice in one, another number of rows.
absl::StatusOr<std::vector<uint8_t>> ReadSplits(const proto::NodeSource& source,
                                                const ArraySource::Options& options,
                                                const NodeIds& ids, absl::string_view owner);

}  // namespace vicinity
