// Which slot holds a node's row, asked on the device: an open-addressing table of 64-bit ids.
//
// The host changes the table (device_index.h) and sends the cells that changed, so no thread here
// ever searches for room: lookups find an unchanging table between two such writes.
#pragma once

#include <cassert>
#include <cstdint>

#include "cache/device/base/atomics.h"
#include "cache/device/base/kernel.h"
#include "proto/common/device_code.h"

namespace vicinity {

inline constexpr uint64_t kNoId = ~uint64_t{0};  // of an empty cell

// 2^(64 - shift) cells, of which some are empty. Fibonacci hashing, as in cache/pool/row_index.h.
struct IndexTable {
  uint64_t* ids = nullptr;
  int32_t* slots = nullptr;
  int shift = 63;

  VICINITY_HOST_DEVICE uint64_t num_cells() const { return uint64_t{1} << (64 - shift); }
  VICINITY_HOST_DEVICE uint64_t Home(uint64_t id) const {
    return (id * 0x9e3779b97f4a7c15u) >> shift;
  }
};

struct IndexCell {
  uint64_t cell = 0;
  uint64_t id = kNoId;
  int64_t slot = -1;
};

// Each cell is written once.
struct WriteCells {
  IndexTable table;
  const IndexCell* cells = nullptr;
  int64_t num_cells = 0;
};

VICINITY_HOST_DEVICE inline void WriteCellsThread(const WriteCells& work, int64_t thread) {
  const IndexCell& cell = work.cells[thread];
  assert(cell.cell < work.table.num_cells());
  work.table.ids[cell.cell] = cell.id;
  work.table.slots[cell.cell] = static_cast<int32_t>(cell.slot);
}

// slots[i]: where the row of ids[i] is, -1 if it is not there. Adds to counts[0] what was found,
// to counts[1] what was not.
struct LookUpIds {
  IndexTable table;
  const int64_t* ids = nullptr;
  int64_t num_ids = 0;
  int32_t* slots = nullptr;
  uint64_t* counts = nullptr;
};

inline constexpr int64_t kIdsAThread = 4;  // so that a counter is written less often
inline int64_t ThreadsOf(const LookUpIds& work) {
  return (work.num_ids + kIdsAThread - 1) / kIdsAThread;
}

VICINITY_HOST_DEVICE inline int32_t FindSlot(const IndexTable& table, uint64_t id) {
  const uint64_t mask = table.num_cells() - 1;
  for (uint64_t cell = table.Home(id);; cell = (cell + 1) & mask) {
    const uint64_t found = table.ids[cell];
    if (found == id) return table.slots[cell];
    if (found == kNoId) return -1;
  }
}

// Takes every num_threads-th id, so that neighbouring threads read side by side.
VICINITY_HOST_DEVICE inline void LookUpIdsThread(const LookUpIds& work, int64_t thread) {
  const int64_t num_threads = (work.num_ids + kIdsAThread - 1) / kIdsAThread;
  uint64_t found = 0;
  uint64_t all = 0;
  for (int64_t i = thread; i < work.num_ids; i += num_threads) {
    const auto id = static_cast<uint64_t>(work.ids[i]);
    // The id that marks empty cells is none: it would be found in each.
    const int32_t slot = id == kNoId ? -1 : FindSlot(work.table, id);
    work.slots[i] = slot;
    found += slot >= 0 ? 1 : 0;
    ++all;
  }
  AtomicAdd(&work.counts[0], found);
  AtomicAdd(&work.counts[1], all - found);
}

// Copies counters to pinned memory, each in one store, so that the host may look at any time.
struct PublishCounts {
  const uint64_t* from = nullptr;
  volatile uint64_t* to = nullptr;
  int64_t num_counts = 0;
};

VICINITY_HOST_DEVICE inline void PublishCountsThread(const PublishCounts& work, int64_t thread) {
  work.to[thread] = work.from[thread];
}

// What streams take (DeviceStream::Launch).
Kernel KernelOf(const WriteCells& work);
Kernel KernelOf(const LookUpIds& work);
Kernel KernelOf(const PublishCounts& work);
// Into a cudaStream_t; a cudaError_t, kNoCuda in builds without CUDA.
int LaunchOnCuda(void* stream, const WriteCells& work);
int LaunchOnCuda(void* stream, const LookUpIds& work);
int LaunchOnCuda(void* stream, const PublishCounts& work);

}  // namespace vicinity
