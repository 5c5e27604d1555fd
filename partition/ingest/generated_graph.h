// What the generators share: a dataset of one node type, "node", and one edge type, "link", whose
// edges are made one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/ingest/csc_builder.h"
#include "partition/ingest/edge_spool.h"
#include "partition/ingest/generated_columns.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

inline constexpr NodeTypeId kGeneratedNodes = {0};
inline constexpr EdgeTypeId kGeneratedEdges = {0};
inline constexpr int64_t kMostGeneratedNodes = int64_t{1} << 31;

// `weights`: edges have a float32 column "weight", the weight column. AlreadyExists: `output`.
// InvalidArgument: what SchemaFromProto says of the columns.
absl::StatusOr<std::unique_ptr<DatasetWriter>> CreateGenerated(const std::string& output,
                                                               const std::string& name,
                                                               int64_t num_nodes,
                                                               NodeTypeSpec nodes,
                                                               bool weights = false);

// Fills edges[i] with the graph's edge first + i; a pure function, called on all cores.
using EdgeMaker = std::function<void(int64_t first, absl::Span<Edge> edges)>;

// Makes `num_edges` edges and writes them; enters edges and isolated nodes in the report, whose
// first node type is filled in already. The edge ids that were written, by position.
absl::StatusOr<OutputArray> WriteGeneratedEdges(int64_t num_edges, const EdgeMaker& make,
                                                const CscSpec& spec, DatasetWriter* writer,
                                                IngestReport* report, Progress* progress);

// The column "weight" of the edges: uniform in (0, 1], drawn for the edge's id.
absl::Status WriteGeneratedWeights(uint64_t seed, const OutputArray& edge_ids,
                                   DatasetWriter* writer, Progress* progress);

}  // namespace vicinity
