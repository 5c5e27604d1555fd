// What has changed from one graph in memory to another, as a shard's overlay: for the tests of
// those who read shards.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_overlay.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

// The shard's files are those of `before`. Both graphs have the same nodes; rows, names and edges
// may be others, and `now` may have more edges. Edges keep their ids; one with another target was
// deleted here and appended there; weights of those that stay are as before. Lists are in the order
// of small_graphs.h.
class GraphOverlay final : public ShardOverlay {
 public:
  uint64_t version() const override { return 1; }
  GraphOverlay(const MemoryGraph& before, const MemoryGraph& now, const Placement& placement,
               ShardId shard);

  bool Changes(const ShardPart& part, absl::Span<const uint64_t> rows) const override;
  bool ChangesRange(const ShardPart& part, int64_t first, int64_t count) const override;
  int64_t NumRows(const ShardPart& part, int64_t in_files) const override;
  absl::Status ReadRows(const ShardPart& part, absl::Span<const uint64_t> rows,
                        ChangedRows* changed) const override;
  std::optional<int64_t> Node(int32_t, uint64_t) const override { return std::nullopt; }
  absl::StatusOr<ChangedListPtr> List(int32_t edge_type, uint64_t row) const override;

  size_t num_lists() const { return lists_.size(); }
  size_t num_rows() const { return rows_.size(); }

 private:
  struct Graphs {
    const MemoryGraph& before;
    const MemoryGraph& now;
    const Placement& placement;
    ShardId shard;
  };
  using RowKey = std::tuple<int, int32_t, int32_t, uint64_t>;  // kind, type, column, row
  using TypeAndRow = std::pair<int32_t, uint64_t>;

  const std::string* Row(const ShardPart& part, uint64_t row) const;  // null: as in the files
  void AddNodes(const Graphs& graphs, int32_t type);
  void AddEdges(const Graphs& graphs, int32_t type);

  std::map<RowKey, std::string> rows_;
  std::map<TypeAndRow, ChangedListPtr> lists_;
  std::map<int32_t, int64_t> new_edges_;  // by type: how many
};

}  // namespace vicinity::testing
