// Named moments in the life of what is kept of changes, between one step on the disk and the next:
// where a test ends the process, to see that what is there then opens again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace vicinity {

enum class Failpoint : size_t {
  // The high-water mark.
  kMarkHalfMade,
  kMarkFilled,
  kMarkRising,
  kMarkRaised,
  // A shard's store: as it is opened, and around what is written.
  kStoreFolderMade,
  kStoreLocked,
  kStoreMarkOpened,
  kStoreDbOpened,
  kStoreIdentified,
  kStoreMade,
  kStoreOpened,
  kStoreWriting,
  kStoreWritten,
  kStoreSyncing,
  kStoreSynced,
  kStoreWriterSaving,
  kStoreWriterSaved,
  // A live shard.
  kShardReplaying,
  kShardReplayed,
  kShardPrepared,
  kShardCommitted,
  kShardVisible,
  kShardSetAside,
  // A file of changes, a backup of all shards, and what is restored of one.
  kFileMade,
  kFileCut,
  kFileBegun,
  kFileAppending,
  kFileAppended,
  kFileSyncing,
  kFileSynced,
  kBackupShardKept,
  kRestoreRepeating,
  kRestoreShardSynced,
  // A fold.
  kFoldBegun,
  kFoldNodesCopied,
  kFoldEdgesCopied,
  kFoldFinishing,
  kFoldFinished,
  kCount,
};

constexpr std::array<const char*, static_cast<size_t>(Failpoint::kCount)> kFailpointNames = {
    "mark.half_made",
    "mark.filled",
    "mark.rising",
    "mark.raised",
    "store.folder_made",
    "store.locked",
    "store.mark_opened",
    "store.db_opened",
    "store.identified",
    "store.made",
    "store.opened",
    "store.writing",
    "store.written",
    "store.syncing",
    "store.synced",
    "store.writer_saving",
    "store.writer_saved",
    "shard.replaying",
    "shard.replayed",
    "shard.prepared",
    "shard.committed",
    "shard.visible",
    "shard.set_aside",
    "file.made",
    "file.cut",
    "file.begun",
    "file.appending",
    "file.appended",
    "file.syncing",
    "file.synced",
    "backup.shard_kept",
    "restore.repeating",
    "restore.shard_synced",
    "fold.begun",
    "fold.nodes_copied",
    "fold.edges_copied",
    "fold.finishing",
    "fold.finished",
};

// Who is told of each, from whichever thread comes by: a test, which sets it before anything is
// opened. In a product it is null and stays so: no flag, variable or request leads here, and
// passing a failpoint is the load of a pointer.
inline std::atomic<void (*)(Failpoint)> failpoint_listener{nullptr};

inline void Pass(Failpoint point) {
  auto* const listener = failpoint_listener.load(std::memory_order_relaxed);
  if (listener != nullptr) listener(point);
}

}  // namespace vicinity
