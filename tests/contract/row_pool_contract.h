// What every RowPool must do, whatever its policy and memory: run by each implementation's test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "cache/pool/row_pool.h"

namespace vicinity::testing {

// A pool over nodes 0 .. num_nodes - 1, likeliest first, whose rows are TrueRow's.
struct PoolShape {
  int64_t row_bytes = 1;
  int64_t capacity = 0;
  int64_t num_nodes = 0;
};

struct PoolKind {
  std::function<std::unique_ptr<RowPool>(const PoolShape&)> make;
};

// The row of a node: bytes that no other node's row has.
std::string TrueRow(int64_t node, int64_t row_bytes);
// TrueRow of several nodes, one behind the other.
std::string TrueRows(absl::Span<const int64_t> nodes, int64_t row_bytes);

// A batch goes its whole way: rows of any width, pieces in any order, positions of any order.
void CheckLifeOfABatch(const PoolKind& kind);
// Two batches that need the same row have it fetched once; the second waits, in its own thread too.
void CheckSharing(const PoolKind& kind);
// A row that could not be fetched is an error for those who wait and is fetched again by the next.
void CheckAbandoning(const PoolKind& kind);
// Wrong calls are refused and change nothing.
void CheckRefusals(const PoolKind& kind);
// Random operations, announcements among them, against a naive model: no slot is another row's
// while pinned, no row is fetched while it is there or on its way, contents are always those of the
// right node.
void CheckAgainstModel(const PoolKind& kind, const PoolShape& shape, int num_operations,
                       uint64_t seed);
// The same for many short sequences: pools of no row, one and all rows, batches larger than the
// pool.
void CheckManyShapes(const PoolKind& kind, int num_cases);
// Threads that admit, deliver, give up, assemble and release at once.
void CheckThreads(const PoolKind& kind, const PoolShape& shape, int num_threads,
                  int batches_per_thread);

}  // namespace vicinity::testing
