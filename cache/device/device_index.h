// A device's table of which slot holds a node's row, kept by the host.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/device/base/device.h"
#include "cache/device/copy_rows.h"
#include "cache/device/index_work.h"
#include "cache/device/row_mover.h"
#include "proto/common/mutex.h"

namespace vicinity {

struct SlotOfId {
  int64_t id = 0;
  int32_t slot = 0;
};

struct LookUpCounts {
  int64_t found = 0;
  int64_t absent = 0;
};

// The host has the table too, changes it there, and sends the cells that changed. All of it goes
// through the mover's stream: a lookup finds what was set before it was asked for.
//
// Threads:  any number. Lifetime: the mover outlives it; all lookups are over when it goes.
// Memory:   24 to 48 bytes a row on the host, 24 to 48 on the device.
class DeviceIndex {
 public:
  // For at most `max_rows` rows at once.
  static absl::StatusOr<std::unique_ptr<DeviceIndex>> Create(RowMover* mover, int64_t max_rows);

  // Ids from 0 on; the slot of an id that is there already is replaced. ResourceExhausted if there
  // were more than max_rows.
  absl::Status Set(absl::Span<const SlotOfId> rows);
  // Takes ids out, but only those that are in that slot.
  absl::Status Erase(absl::Span<const SlotOfId> rows);

  // `ids` and `slots` are device memory. slots[i]: of ids[i], -1 if it is not there. `then` (null:
  // nothing) comes behind it in the stream before any id is taken out: it may read the slots.
  absl::Status LookUp(const int64_t* ids, int64_t num_ids, int32_t* slots,
                      const CopyRows* then = nullptr);

  // Of the lookups that the device has done; asks nobody and waits for nothing.
  LookUpCounts counts() const;

 private:
  DeviceIndex(RowMover* mover, int64_t max_rows, int shift);

  uint64_t Find(uint64_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetCell(uint64_t cell, uint64_t id, int32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveCell(uint64_t cell) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sends the cells that changed.
  absl::Status SendChanges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  RowMover* const mover_;
  const int64_t max_rows_;
  DeviceMemory ids_;
  DeviceMemory slots_;
  DeviceMemory counts_;     // on the device: found, absent
  DeviceMemory published_;  // pinned: the same, some time ago
  IndexTable table_;        // on the device

  // Held while changes go into the stream, so that their order is the host's, and lookups, which
  // must not come between two parts of a change.
  Mutex mu_;
  std::vector<uint64_t> host_ids_ ABSL_GUARDED_BY(mu_);
  std::vector<int32_t> host_slots_ ABSL_GUARDED_BY(mu_);
  int64_t num_rows_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<uint64_t> changed_ ABSL_GUARDED_BY(mu_);  // cells, perhaps more than once
};

}  // namespace vicinity
