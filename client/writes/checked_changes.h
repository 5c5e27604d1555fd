// Changes whose names, types and shapes fit the graph, by the numbers of the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/types/write_values.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// One element of one list of GraphChanges.
struct CheckedPart {
  struct Column {
    int32_t column = 0;  // in the type
    const ColumnSpec* spec = nullptr;
    const char* rows = nullptr;
    bool is_weight = false;
  };
  struct Ragged {
    int32_t column = 0;  // among the ragged ones
    const RaggedSpec* spec = nullptr;
    const GivenRagged* given = nullptr;
  };

  ChangeKind kind = ChangeKind::kNewNodes;
  int32_t part = 0;  // in the list of its kind
  int32_t type = 0;  // of nodes or edges
  int64_t num_rows = 0;
  absl::Span<const int64_t> nodes;      // new: the user's ids; else global ids; of edges targets
  absl::Span<const std::string> names;  // of new nodes of STRING types
  absl::Span<const int64_t> sources;    // of new edges
  absl::Span<const int64_t> edge_ids;   // of edges that there are
  std::vector<Column> columns;          // of what is new all, in the type's order
  std::vector<Ragged> ragged;           // likewise
};

// Threads:  immutable.
// Lifetime: schema, book and changes must outlive it.
class CheckedChanges {
 public:
  // `book` grows. NotFound naming the types or columns there are; InvalidArgument naming list, part
  // and column: another type, shape or number of rows than should be, a column that is missing or
  // there twice, ids of the wrong kind, more than 2^32 rows in a part.
  static absl::StatusOr<CheckedChanges> Check(const Schema& schema, const Book& book,
                                              const GraphChanges& changes);

  const Schema& schema() const { return schema_; }
  const Book& book() const { return book_; }
  const std::vector<CheckedPart>& parts() const { return parts_; }  // in the order they are sent

  // What is wrong with a row whatever the graph holds (an id that none can have, a weight that is
  // none, a ragged row that is none); ok: nothing.
  absl::Status RowFault(const CheckedPart& part, int64_t row) const;
  // Whose a sound row is. Of nodes that go: who has their in-edges.
  ShardId OwnerOf(const CheckedPart& part, int64_t row) const;
  // Of a new node.
  uint64_t KeyOf(const CheckedPart& part, int64_t row) const;
  // About how large it is in a batch.
  int64_t RowBytes(const CheckedPart& part, int64_t row) const;
  // Of parts of edges the type of their targets, else the parts' own.
  NodeTypeId NodeTypeOf(const CheckedPart& part) const;

 private:
  CheckedChanges(const Schema& schema, const Book& book) : schema_(schema), book_(book) {}
  absl::Status NodeFault(NodeTypeId type, int64_t node) const;
  absl::Status ValueFault(const CheckedPart& part, int64_t row) const;

  const Schema& schema_;
  const Book& book_;
  std::vector<CheckedPart> parts_;
};

// Row `row` as it is stored: of sparse columns indices, then values.
std::string RaggedRowOf(const CheckedPart::Ragged& column, int64_t row);

bool IsOfEdges(ChangeKind kind);
// "new_nodes", as the list is called in GraphChanges.
const char* ListNameOf(ChangeKind kind);

}  // namespace vicinity
