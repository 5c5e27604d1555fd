// The changes of one shard on disk: its change log, and the rows that have other values, in
// RocksDB.
//
// A commit is one write of RocksDB over both, so it is there whole or not at all. docs/formats.md
// tells the keys and values, and why RocksDB is set up as it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/overlay/high_water.h"
#include "partition/overlay/store_number.h"
#include "proto/common/folder_lock.h"

namespace rocksdb {
class Cache;
class ColumnFamilyHandle;
class DB;
class Env;
class WriteBatch;
}  // namespace rocksdb

namespace vicinity {

// Where a row's value of one version is.
struct RowPlace {
  ShardPart part;
  uint64_t row;
  uint64_t version;
};

struct DeltaStoreOptions {
  int64_t cache_bytes = int64_t{256} << 20;  // of blocks read
  int64_t buffer_bytes = int64_t{64} << 20;  // written, before they are sorted onto disk
  int64_t log_bytes = int64_t{512} << 20;    // of RocksDB's write-ahead log, at most about
  rocksdb::Env* env = nullptr;               // RocksDB's file system; null: the machine's
  bool new_is_behind = false;                // a store that is made is marked as IsCatchingUp
  // Told whenever RocksDB meets a full disk, also in the background: from any thread, briefly, and
  // without coming back here. May be null.
  std::function<void()> on_full{};
};

// Threads:  one may commit or reopen, any number may read meanwhile; they wait while it reopens.
// Errors:   DataLoss naming the folder and what is damaged; Unavailable with RocksDB's words for
//           what the disk refuses; ResourceExhausted: it is full.
//
// After a failed commit there is no other, for what a disk has dropped once nobody can promise. A
// disk that was full is the exception: once it has room, Reopen does what a new process would.
class DeltaStore {
 public:
  // What is to be committed together: one or several versions in a row.
  class Commit {
   public:
    explicit Commit(const DeltaStore& store);  // which outlives it
    ~Commit();

    absl::Status PutRow(const RowPlace& place, std::string_view value);
    // Versions rise by one.
    absl::Status PutChange(uint64_t version, std::string_view change);
    // The last version that readers may see.
    absl::Status PutShown(uint64_t version);
    int64_t bytes() const;

   private:
    friend class DeltaStore;
    absl::Status Put(size_t family, const std::string& key, std::string_view value);

    const DeltaStore& store_;
    const std::unique_ptr<rocksdb::WriteBatch> batch_;
    uint64_t last_version_ = 0;
  };

  // Makes the folder's store if there is none. `identity` names the shard and the files beneath:
  // FailedPrecondition with both if the store was made over others, or while another process has
  // it.
  static absl::StatusOr<std::unique_ptr<DeltaStore>> Open(const std::string& folder,
                                                          const std::string& identity,
                                                          const DeltaStoreOptions& options);
  ~DeltaStore();

  // Who writes the shard, in bytes that are its callers': as it was saved last; empty: never.
  absl::StatusOr<std::string> ReadWriter() const;
  // Nothing if it was never put.
  absl::StatusOr<std::optional<uint64_t>> ReadShown() const;
  // As Commit::PutShown, alone. Survives the end of the process, not of the machine.
  absl::Status SaveShown(uint64_t version);
  // Waits until it is on disk.
  absl::Status SaveWriter(std::string_view writer);
  // Whether the store was made empty while others may have had changes, and SaveCaughtUp has not
  // said since that it has them.
  absl::StatusOr<bool> IsCatchingUp() const;
  absl::Status SaveCaughtUp();  // waits until it is on disk
  // Readers' cursors, each in bytes that are its callers'. On disk when they return; by any thread,
  // also while somebody commits.
  absl::Status SaveCursor(std::string_view name, std::string_view cursor);
  absl::Status DropCursor(std::string_view name);
  // Calls take(name, cursor) for all, by name.
  absl::Status ReadCursors(const std::function<absl::Status(std::string_view name,
                                                            std::string_view cursor)>& take) const;

  // Waits until it is on disk if `durable`; else it survives the end of the process, not of the
  // machine.
  absl::Status Write(const Commit& commit, bool durable);

  // Waits until all that was written is on disk.
  absl::Status Sync();

  // Nothing is committed any more since the disk was full.
  bool is_full() const { return absl::IsResourceExhausted(failed_); }
  // Why nothing is committed any more; OK: it is.
  const absl::Status& failed() const { return failed_; }
  // What Reopen may write, about.
  int64_t reopen_bytes() const;
  // Closes RocksDB and opens it again from what is on the disk, as after a kill. What it finds in
  // its logs it writes anew and waits for, so that nothing rests on what a full disk was given.
  // Whether a commit that failed is there tells last_version().
  //
  // If the disk is still full it can be read, and Reopen be called again. After DataLoss (the log
  // ends before what was on disk) and other errors of Open it stays as it is.
  absl::Status Reopen();

  // The last version in the log; 0: none.
  uint64_t last_version() const { return last_version_; }
  // Calls take(version, change) for the whole log in order. DataLoss if a version is missing, or if
  // the log ends before what was known to be on disk.
  absl::Status Replay(
      const std::function<absl::Status(uint64_t version, std::string_view change)>& take) const;
  absl::StatusOr<std::string> ReadChange(uint64_t version) const;
  // Calls take(i, value) for each place; all must be there.
  absl::Status ReadRows(absl::Span<const RowPlace> places,
                        const std::function<void(size_t i, std::string_view value)>& take) const;

  // 0 where RocksDB does not tell. Waits for nobody.
  int64_t number(StoreNumber which) const;

  const std::string& folder() const { return folder_; }

 private:
  friend class Commit;
  DeltaStore(std::string folder, std::string identity, const DeltaStoreOptions& options,
             FolderLock lock, std::unique_ptr<HighWater> high_water);
  absl::Status OpenDb(bool to_write);
  void CloseDb();
  absl::Status CheckIdentity();
  // What became of a commit: `status`, which is remembered.
  absl::Status Failed(absl::Status status);
  absl::Status CheckWritable();
  void MeetFullDisk();  // from any thread
  // Held around what reads RocksDB. Whoever comes while it is opened again waits, so that readers
  // who come one after the other do not keep it from that.
  std::shared_lock<std::shared_mutex> Reading() const;
  // Unavailable if it could not be opened again, not even to be read.
  absl::Status CheckOpen() const;
  // Sets last_version_.
  absl::Status FindEnd();

  const std::string folder_;
  const std::string identity_;
  const DeltaStoreOptions options_;
  FolderLock lock_;
  const std::unique_ptr<HighWater> high_water_;
  // Of RocksDB and its families. Not ours (proto/common/mutex.h), which none can share.
  mutable std::shared_mutex db_mu_;
  mutable std::mutex turn_;  // of who reopens, taken before db_mu_
  std::atomic<bool> reopening_{false};
  std::atomic<bool> met_full_disk_{false};  // since it was opened
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  uint64_t last_version_ = 0;
  absl::Status failed_;
};

}  // namespace vicinity
