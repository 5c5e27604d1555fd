// When seeds are, for draws by time: as a column of their nodes says, or of links one of their
// edges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"

namespace vicinity {

// Of all nodes of a type, by global id. InvalidArgument naming the columns that hold times (one
// int64 a row) if this is none of them; else as ShardReader's. Memory: 8 bytes a node.
absl::StatusOr<std::vector<int64_t>> TimesOfNodes(const Dataset& dataset, NodeTypeId type,
                                                  const std::string& column);

// Of all edges of a type in these shards of the dataset, numbered as LinkIndex does
// (client/planning/link_plan.h). Errors likewise. Memory: 8 bytes an edge.
absl::StatusOr<std::vector<int64_t>> TimesOfLinks(const Dataset& dataset, EdgeTypeId type,
                                                  const std::string& column,
                                                  absl::Span<const int32_t> shards);

}  // namespace vicinity
