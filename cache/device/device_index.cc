#include "cache/device/device_index.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kNumCounts = 2;

}  // namespace

DeviceIndex::DeviceIndex(RowMover* mover, int64_t max_rows, int shift)
    : mover_(mover), max_rows_(max_rows) {
  table_.shift = shift;
  host_ids_.assign(table_.num_cells(), kNoId);
  host_slots_.assign(table_.num_cells(), -1);
}

absl::StatusOr<std::unique_ptr<DeviceIndex>> DeviceIndex::Create(RowMover* mover,
                                                                 int64_t max_rows) {
  int shift = 60;
  while (shift > 24 && (int64_t{1} << (64 - shift)) < 2 * max_rows) --shift;
  std::unique_ptr<DeviceIndex> index(new DeviceIndex(mover, max_rows, shift));
  const auto num_cells = static_cast<int64_t>(index->table_.num_cells());
  Device* const device = mover->device();
  VICINITY_ASSIGN_OR_RETURN(index->ids_,
                            device->Allocate(MemoryKind::kDevice, num_cells * sizeof(uint64_t)));
  VICINITY_ASSIGN_OR_RETURN(index->slots_,
                            device->Allocate(MemoryKind::kDevice, num_cells * sizeof(int32_t)));
  VICINITY_ASSIGN_OR_RETURN(index->counts_,
                            device->Allocate(MemoryKind::kDevice, kNumCounts * sizeof(uint64_t)));
  VICINITY_ASSIGN_OR_RETURN(index->published_,
                            device->Allocate(MemoryKind::kPinned, kNumCounts * sizeof(uint64_t)));
  std::memset(index->published_.data(), 0, index->published_.bytes());
  index->table_.ids = index->ids_.as<uint64_t>();
  index->table_.slots = index->slots_.as<int32_t>();
  VICINITY_RETURN_IF_ERROR(mover->stream()->Fill(index->ids_.data(), 0xff, index->ids_.bytes()));
  VICINITY_RETURN_IF_ERROR(mover->stream()->Fill(index->counts_.data(), 0, index->counts_.bytes()));
  return index;
}

// The cell that holds the id, or the empty one where it would be put.
uint64_t DeviceIndex::Find(uint64_t id) const {
  const uint64_t mask = table_.num_cells() - 1;
  uint64_t cell = table_.Home(id);
  while (host_ids_[cell] != id && host_ids_[cell] != kNoId) cell = (cell + 1) & mask;
  return cell;
}

void DeviceIndex::SetCell(uint64_t cell, uint64_t id, int32_t slot) {
  host_ids_[cell] = id;
  host_slots_[cell] = slot;
  changed_.push_back(cell);
}

// Later cells of the run move up, so that no lookup ever walks over a tombstone.
void DeviceIndex::RemoveCell(uint64_t cell) {
  const uint64_t mask = table_.num_cells() - 1;
  uint64_t hole = cell;
  for (uint64_t i = (hole + 1) & mask; host_ids_[i] != kNoId; i = (i + 1) & mask) {
    // It may fill the hole unless its home lies behind it, in (hole, i].
    if (((i - table_.Home(host_ids_[i])) & mask) < ((i - hole) & mask)) continue;
    SetCell(hole, host_ids_[i], host_slots_[i]);
    hole = i;
  }
  SetCell(hole, kNoId, -1);
}

absl::Status DeviceIndex::Set(absl::Span<const SlotOfId> rows) {
  MutexLock lock(&mu_);
  for (const SlotOfId& row : rows) {
    const auto id = static_cast<uint64_t>(row.id);
    const uint64_t cell = Find(id);
    if (host_ids_[cell] == kNoId) {
      if (num_rows_ == max_rows_) {
        VICINITY_RETURN_IF_ERROR(SendChanges());
        return absl::ResourceExhaustedError(absl::StrCat("an index of ", max_rows_, " rows"));
      }
      ++num_rows_;
    }
    SetCell(cell, id, row.slot);
  }
  return SendChanges();
}

absl::Status DeviceIndex::Erase(absl::Span<const SlotOfId> rows) {
  MutexLock lock(&mu_);
  for (const SlotOfId& row : rows) {
    const uint64_t cell = Find(static_cast<uint64_t>(row.id));
    if (host_ids_[cell] == kNoId || host_slots_[cell] != row.slot) continue;
    --num_rows_;
    RemoveCell(cell);
  }
  return SendChanges();
}

absl::Status DeviceIndex::SendChanges() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  const auto num_changed = static_cast<int64_t>(changed_.size());
  const int64_t step =
      std::max<int64_t>(1, mover_->ring()->chunk_bytes() / static_cast<int64_t>(sizeof(IndexCell)));
  for (int64_t first = 0; first < num_changed; first += step) {
    const int64_t n = std::min(step, num_changed - first);
    VICINITY_ASSIGN_OR_RETURN(StagingRing::Lease lease, mover_->ring()->Take());
    auto* const cells = reinterpret_cast<IndexCell*>(lease.host());
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t cell = changed_[first + i];
      cells[i] = {cell, host_ids_[cell], host_slots_[cell]};
    }
    VICINITY_RETURN_IF_ERROR(
        lease.Send(n * static_cast<int64_t>(sizeof(IndexCell)), mover_->stream()));
    WriteCells work;
    work.table = table_;
    work.cells = reinterpret_cast<const IndexCell*>(lease.device());
    work.num_cells = n;
    VICINITY_RETURN_IF_ERROR(mover_->stream()->Launch(KernelOf(work)));
    VICINITY_RETURN_IF_ERROR(lease.Done(mover_->stream()));
  }
  changed_.clear();
  return absl::OkStatus();
}

absl::Status DeviceIndex::LookUp(const int64_t* ids, int64_t num_ids, int32_t* slots,
                                 const CopyRows* then) {
  LookUpIds work;
  work.table = table_;
  work.ids = ids;
  work.num_ids = num_ids;
  work.slots = slots;
  work.counts = counts_.as<uint64_t>();
  MutexLock lock(&mu_);
  VICINITY_RETURN_IF_ERROR(mover_->stream()->Launch(KernelOf(work)));
  if (then != nullptr) VICINITY_RETURN_IF_ERROR(mover_->stream()->Launch(KernelOf(*then)));
  PublishCounts publish;
  publish.from = work.counts;
  publish.to = published_.as<uint64_t>();
  publish.num_counts = kNumCounts;
  return mover_->stream()->Launch(KernelOf(publish));
}

LookUpCounts DeviceIndex::counts() const {
  // Single aligned words, which the device writes whole.
  const auto* const counts = published_.as<uint64_t>();
  return {static_cast<int64_t>(__atomic_load_n(&counts[0], __ATOMIC_RELAXED)),
          static_cast<int64_t>(__atomic_load_n(&counts[1], __ATOMIC_RELAXED))};
}

}  // namespace vicinity
