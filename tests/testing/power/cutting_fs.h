// A file system below RocksDB that forgets, as a machine whose power is cut does, what nobody
// waited for: bytes that were not synced, files and names whose folder was not.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace vicinity::testing {

// Writes go to the real files at once, and what of them would be on disk is remembered. Names
// change in order, as with a journal: some of the last changes may be lost, never one in between.
//
// Threads: any number, but for Drop().
class CuttingFs final : public rocksdb::FileSystemWrapper {
 public:
  // `heeds_syncs` false: as a disk that says it has what it has not.
  explicit CuttingFs(bool heeds_syncs);
  const char* Name() const override { return "CuttingFs"; }

  // From now on every write fails.
  void Cut();
  // Once nobody has a file open any more: takes back what was not on disk, or some of it.
  void Drop(std::mt19937_64* random);

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  // Of the files and folders that it gave out:
  struct Written {
    uint64_t size = 0;
    uint64_t synced = 0;
  };
  rocksdb::IOStatus Wrote(Written* file, uint64_t bytes);
  void Synced(Written* file);
  void SyncedFolder();
  bool cut() const;

 private:
  // A change of names since folders were last synced.
  struct Change {
    enum Kind { kMade, kRenamed, kDeleted } kind;
    std::string path;
    std::string from{};                    // of kRenamed
    std::optional<std::string> content{};  // what `path` had before
  };
  std::shared_ptr<Written> Track(const std::string& path, uint64_t size);
  void Undo(const Change& change);

  const bool heeds_syncs_;
  mutable std::mutex mu_;
  bool cut_ = false;
  std::map<std::string, std::shared_ptr<Written>> files_;
  std::vector<Change> changes_;
};

}  // namespace vicinity::testing
