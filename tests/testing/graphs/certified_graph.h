// A graph that certifies itself: every row and every edge is a pure function of the user's id, so
// that a reader alone, with no stored truth, recognises a row that is torn, damaged, another
// node's, of another version or made up, and an edge that does not exist.
//
// One node type "node" with dense ids, columns "features" (float32), "label" and "split", and one
// edge type "links". Nodes are scattered over the shards by a permutation that is computed, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace vicinity::testing {

struct CertifiedShape {
  int64_t num_nodes = 1000;  // 1 to 2^40
  int32_t num_shards = 1;    // 1 to num_nodes
  int64_t row_bytes = 64;    // of the features; at least 24, a multiple of 8
  int64_t max_degree = 8;    // in-degrees are 0 to this
  // Tells datasets of the same shape apart: other rows, labels and edges, the same files and sizes.
  uint64_t version = 1;
};

// What is wrong with a row that should be a certain node's.
enum class RowFault {
  kNone,
  kWrongSize,
  kDamaged,       // its checksum fails: torn, or changed on the way
  kMadeUp,        // its checksum holds, yet no node of any version has such a row
  kOtherNode,     // another node's: misrouted
  kOtherVersion,  // this node's in another dataset: stale
};
const char* RowFaultName(RowFault fault);

// Threads: immutable; any number may read.
// Cost:    a row or an edge costs a few Philox blocks; nothing grows with the graph but Write.
class CertifiedGraph {
 public:
  // Ends the process if the shape is none.
  explicit CertifiedGraph(const CertifiedShape& shape);

  const CertifiedShape& shape() const { return shape_; }

  // Where Write puts a node, and back; both [0, num_nodes).
  int64_t GlobalOf(int64_t id) const;
  int64_t IdOf(int64_t global) const;
  bool Contains(int64_t id) const { return id >= 0 && id < shape_.num_nodes; }
  // Shard s holds the global ids [FirstOf(s), FirstOf(s + 1)).
  int64_t FirstOf(int32_t shard) const;

  // Features: id and version (8 bytes each), Philox words, the XXH3 of all before.
  std::string Row(int64_t id) const;
  RowFault CheckRow(int64_t id, std::string_view row) const;

  int32_t Label(int64_t id) const;    // 0 to 15
  bool InTraining(int64_t id) const;  // one node in four

  // The in-edges of a node, the same number in every version; edge i of `target` has the edge id
  // target * max_degree + i. Loops and doubles happen.
  int64_t Degree(int64_t target) const;
  int64_t Source(int64_t target, int64_t i) const;
  bool CheckEdge(int64_t source, int64_t target) const;
  bool CheckEdge(int64_t source, int64_t target, int64_t edge_id) const;

  // Writes the dataset, with a ranking "default" by out-degree for every shard's home and for that
  // of all shards together. What DatasetWriter and WriteRanking say.
  absl::Status Write(const std::string& directory) const;

 private:
  const CertifiedShape shape_;
  // global = (multiplier * id + shift) mod num_nodes
  int64_t multiplier_;
  int64_t inverse_;
  int64_t shift_;
};

}  // namespace vicinity::testing
