// What has changed of a shard since its files were written, as its reader asks for it.
//
// ShardReader asks "presence" first, once a call: whatever the answer says is untouched is read
// from the files as if there were no overlay. Only a call that meets a change goes row by row:
//
//   null overlay                one branch a call
//   an overlay, nothing changed one virtual call a call
//   something changed           rows in one call, Node or List for each element of the call
//
// A changed list comes whole, as it is now: the base list, then the edges that were appended, in
// the order of their versions, less those that were deleted. Its positions are those of its edges'
// rows: base edges keep theirs, new ones are numbered from the base's number of edges on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// Lives as long as somebody has it.
using ChangedListPtr = std::shared_ptr<const ChangedList>;

// Of some rows those that are another than in the files, as they are now.
class ChangedRows {
 public:
  explicit ChangedRows(size_t num_rows) : places_(num_rows) {}

  // At most once for each row, of 4 GiB at most.
  void Set(size_t i, std::string_view bytes) {
    places_[i] = {bytes_.size() + 1, static_cast<uint32_t>(bytes.size())};
    bytes_.append(bytes);
  }
  // Nothing where the row is as in the files. Lives until the next Set or Clear.
  std::optional<std::string_view> row(size_t i) const {
    const Place& place = places_[i];
    if (place.behind_begin == 0) return std::nullopt;
    return std::string_view(bytes_.data() + place.behind_begin - 1, place.size);
  }
  // For another call's rows, in the same memory.
  void Clear(size_t num_rows) {
    places_.assign(num_rows, Place());
    bytes_.clear();
  }

 private:
  struct Place {
    uint64_t behind_begin = 0;  // 0: there is none
    uint32_t size = 0;
  };
  std::vector<Place> places_;
  std::string bytes_;
};

// The changes of one shard up to one version: it does not change while a reader has it.
//
// Threads: any number may read.
// Errors:  DataLoss naming what of the changes, or of the files beneath, is not what was written.
class ShardOverlay {
 public:
  virtual ~ShardOverlay() = default;
  virtual uint64_t version() const = 0;
  // In which the change that made the version was written; 0 of version 0.
  virtual uint64_t term() const { return 0; }

  // Whether any of these rows (of kDirectory: keys) is another than in the files. May say yes where
  // none is, never no where one is.
  virtual bool Changes(const ShardPart& part, absl::Span<const uint64_t> rows) const = 0;
  virtual bool ChangesRange(const ShardPart& part, int64_t first, int64_t count) const = 0;
  // Of nodes or edges, with those that are new; `in_files` where none is.
  virtual int64_t NumRows(const ShardPart& part, int64_t in_files) const = 0;

  // Sets those of these rows, which must be in the part, that are another than in the files.
  virtual absl::Status ReadRows(const ShardPart& part, absl::Span<const uint64_t> rows,
                                ChangedRows* changed) const = 0;
  // A key's global id, or -1 if its node was deleted; nothing where it is as in the files.
  virtual std::optional<int64_t> Node(int32_t node_type, uint64_t key) const = 0;
  // Null where it is as in the files.
  virtual absl::StatusOr<ChangedListPtr> List(int32_t edge_type, uint64_t row) const = 0;
};

}  // namespace vicinity
