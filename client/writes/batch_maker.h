// Batches of changes as they are sent, out of rows that belong to one shard; and which rows the ids
// in an answer are for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "client/types/write_values.h"
#include "client/writes/checked_changes.h"
#include "partition/overlay/live_values.h"
#include "proto/live.pb.h"

namespace vicinity {

// Of a node that goes, what a shard has of it: its in-edges go where it is, its key where it is
// listed, which may be two shards.
struct GoneAt {
  bool in_edges = true;
  bool key = true;
};

// One row of changes, as one shard gets it.
struct RowRef {
  uint32_t part = 0;  // in CheckedChanges::parts()
  uint32_t row = 0;
  GoneAt gone{};
};

// Of each part of removed_nodes, the others having none: the keys of its rows.
using GoneKeys = std::vector<std::vector<uint64_t>>;

// How many of `rows`, from the first on, make a batch of at most `max_bytes`: at least one.
size_t CountForBatch(const CheckedChanges& changes, absl::Span<const RowRef> rows,
                     int64_t max_bytes);

// `rows` are in the order of their parts. Rows of a part that follow each other become a part of
// the batch, or one for each column.
proto::WriteBatch MakeBatch(const CheckedChanges& changes, const GoneKeys& gone_keys,
                            absl::Span<const RowRef> rows);

// Puts the ids that a batch of MakeBatch got where the rows of what is new have theirs.
void PlaceIds(const CheckedChanges& changes, absl::Span<const RowRef> rows,
              const AppliedBatch& applied, Written* written);

}  // namespace vicinity
