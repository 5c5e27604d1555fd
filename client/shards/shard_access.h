// One shard, wherever it is: everything above the wire asks through this interface alone.
//
// Implemented by a mapped shard (client/shards/mapped_shard.h), by one behind a server
// (client/rpc/remote_shard.h), and by tests' fakes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// The keys of a type's nodes, asked for like a column: uint64, 8 bytes a row.
inline constexpr int32_t kKeyColumn = -1;

// One hop from nodes of this shard, along several edge types.
struct ShardHop {
  struct Relation {
    EdgeTypeId edge_type;
    int64_t fanout = 0;  // > 0, or kAllNeighbors
    // Local rows of the edge type's target type; relations of one target type have the same.
    absl::Span<const uint64_t> rows;
    bool weighted = false;
    absl::Span<const uint32_t> trees{};  // of each row; empty: trees are not disjoint
  };
  MinibatchDraw draw;
  int hop = 0;
  bool replace = false;
  EdgeDetail detail;
  std::vector<Relation> relations;
};

// Rows of one column: `rows`, or, where that is empty, [first, first + count).
struct ShardRows {
  NodeTypeId type;
  int32_t column = 0;               // position in the type, or kKeyColumn
  int64_t row_bytes = 0;            // > 0
  absl::Span<const uint64_t> rows;  // local rows, any order, repeats allowed
  int64_t first = 0;
  int64_t count = 0;
  // Row i goes to out + positions[i] * row_bytes; no positions: to out + i * row_bytes.
  absl::Span<const int64_t> positions;
  char* out = nullptr;
  // Of edges instead of nodes: `type` is not used, rows are Neighbors::edge_positions.
  std::optional<EdgeTypeId> edge_type;

  int64_t num_rows() const { return rows.empty() ? count : static_cast<int64_t>(rows.size()); }
};

// Names of nodes of a STRING type: that of row i goes to out[positions[i]].
struct ShardNames {
  NodeTypeId type;
  absl::Span<const uint64_t> rows;
  absl::Span<const int64_t> positions;
  std::string* out = nullptr;
};

// Global ids of keys that this shard's directory lists: that of key i goes to out[positions[i]], -1
// for a key that no node has.
struct ShardKeys {
  NodeTypeId type;
  absl::Span<const uint64_t> keys;
  absl::Span<const int64_t> positions;
  int64_t* out = nullptr;
};

// The head of a stored ranking.
struct ShardRanking {
  std::string name;
  std::vector<int32_t> home;  // rising shard numbers
  NodeTypeId type;
  int64_t count = 0;  // 0: all
  RankedNodes* out = nullptr;
};

// Threads:  all methods may be called from any number of threads at once.
// Lifetime: what a request points to, the request's `out` and `cancel` must live until `done` has
// been
//           called; the request itself is copied. `done` is called exactly once, whatever happens.
//           After an error the content of `out` is unspecified.
// Errors:   name the shard, and for a remote one server, address and operation. Answers are
//           checked: counts match, ids are in range, else Internal. Cancelled after
//           cancel->Cancel().
class ShardAccess {
 public:
  virtual ~ShardAccess() = default;

  // True where calls end in other processes: those are started first, so that they run meanwhile.
  virtual bool remote() const = 0;

  // All rows of a column of nodes where they lie in memory here, as long as the shard does; none
  // elsewhere.
  virtual std::optional<ColumnView> Mapped(NodeTypeId /*type*/, int32_t /*column*/) const {
    return std::nullopt;
  }

  // Neighbours for each relation, in the order of its rows. `out` has one empty element a relation.
  virtual void SampleHop(const ShardHop& hop, absl::Span<Neighbors> out, Cancellation* cancel,
                         Done done) = 0;
  virtual void FetchRows(const ShardRows& rows, Cancellation* cancel, Done done) = 0;
  virtual void FetchNames(const ShardNames& names, Cancellation* cancel, Done done) = 0;
  virtual void ResolveKeys(const ShardKeys& keys, Cancellation* cancel, Done done) = 0;
  virtual void FetchRanking(const ShardRanking& ranking, Cancellation* cancel, Done done) = 0;
};

}  // namespace vicinity
