// What has changed of a shard since its files were written, as its reader asks for it.
//
// ShardReader asks "presence" first, once a call: whatever the answer says is untouched is read
// from the files as if there were no overlay. Only a call that meets a change goes row by row:
//
//   null overlay                one branch a call
//   an overlay, nothing changed one virtual call a call
//   something changed           Row, Node or List for each element of the call
//
// A changed list comes whole, as it is now: the base list, then the edges that were appended, in
// the order of their versions, less those that were deleted. Its positions are those of its edges'
// rows: base edges keep theirs, new ones are numbered from the base's number of edges on.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"

namespace vicinity {

// What of a shard is asked for.
struct ShardPart {
  enum Kind { kNodeRows, kEdgeRows, kRagged, kDirectory, kLists };
  static constexpr int32_t kKeys = -1;  // a column of kNodeRows

  Kind kind = kNodeRows;
  int32_t type = 0;    // a node type's number; an edge type's with kEdgeRows and kLists
  int32_t column = 0;  // with kNodeRows and kEdgeRows; with kRagged also kNamesColumn
};

// One target's in-edges; all arrays that are not empty have an element for each.
struct ChangedList {
  std::vector<uint64_t> sources;  // global ids
  std::vector<uint64_t> edge_ids;
  std::vector<int64_t> positions;   // of their rows
  std::vector<AliasEntry> weights;  // an alias table of this list; empty: the type has none
};

// The changes of one shard up to one version: it does not change while a reader has it.
//
// Threads:  any number may read.
// Lifetime: what it returns lives as long as it does.
class ShardOverlay {
 public:
  virtual ~ShardOverlay() = default;

  // Whether any of these rows (of kDirectory: keys) is another than in the files. May say yes where
  // none is, never no where one is.
  virtual bool Changes(const ShardPart& part, absl::Span<const uint64_t> rows) const = 0;
  virtual bool ChangesRange(const ShardPart& part, int64_t first, int64_t count) const = 0;
  // Of nodes or edges, with those that are new; `in_files` where none is.
  virtual int64_t NumRows(const ShardPart& part, int64_t in_files) const = 0;

  // Element by element; nothing where it is as in the files.
  virtual std::optional<std::string_view> Row(const ShardPart& part, uint64_t row) const = 0;
  // A key's global id, or -1 if its node was deleted.
  virtual std::optional<int64_t> Node(int32_t node_type, uint64_t key) const = 0;
  virtual const ChangedList* List(int32_t edge_type, uint64_t row) const = 0;
};

}  // namespace vicinity
