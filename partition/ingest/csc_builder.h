// Edges in any order -> the stored form: every target's in-edges in one list, sorted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/ingest/edge_spool.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

// The id that StoreId() stored.
inline uint64_t LoadId(const OutputArray& ids, int64_t i) {
  return ids.row_bytes == 4 ? ids.as<uint32_t>()[static_cast<size_t>(i)]
                            : ids.as<uint64_t>()[static_cast<size_t>(i)];
}

// The order of a node type's keys, which is that of sources in a list.
struct KeyOrder {
  std::vector<int64_t> rank;  // by node; empty: nodes are in the order of their keys
  std::vector<int64_t> node;  // by rank

  static KeyOrder Of(const std::vector<uint64_t>& keys);
};

struct CscSpec {
  EdgeTypeId type = {0};
  std::string spool_directory = ".";
  // Every edge the other way round: the lists are those of the edges' sources.
  bool reversed = false;
  // Of `num_edges` edges, edge e also the other way round, as edge num_edges + e, unless its ends
  // are the same. Only where both ends are of one node type; so is drop_self_loops.
  bool add_reverse = false;
  bool drop_self_loops = false;
  bool dedup = false;  // of the edges with the same ends, the one with the lowest id stays
  // When an edge from `source` was, where lists are in the order of time; null: they are not.
  // Called on all cores at once.
  std::function<int64_t(uint64_t source, uint64_t edge_id)> time_of{};
};

struct CscResult {
  int64_t reversed = 0;  // by add_reverse
  int64_t self_loops_dropped = 0;
  int64_t duplicates_dropped = 0;
  int64_t stored = 0;
  int64_t max_degree = 0;
  // By position; they live as long as the writer.
  OutputArray sources;
  OutputArray edge_ids;
};

// Writes offsets, sources and edge ids of one edge type of a dataset of one shard; each list is
// sorted by (source key, edge id), or, with time_of, by (time, source key, edge id). Marks the
// nodes that have an edge: the two vectors are as long as the types have nodes, and may be the
// same.
//
// Memory: 16 bytes a target; with `dedup`, the edges once more in a temporary file.
// Cost:   every core reads all edges once and places those of a part of the targets.
// Errors: those of DatasetWriter and SpoolFile.
absl::StatusOr<CscResult> BuildCsc(const EdgeList& edges, const CscSpec& spec,
                                   const KeyOrder& sources, DatasetWriter* writer,
                                   std::vector<bool>* source_has_edge,
                                   std::vector<bool>* target_has_edge, Progress* progress);

}  // namespace vicinity
