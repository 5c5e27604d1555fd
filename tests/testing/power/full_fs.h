// A file system below RocksDB that gets full, and has room again.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace vicinity::testing {

// Writes go to the real files. Of the one that meets the end half is written.
//
// Threads: any.
class FullFs final : public rocksdb::FileSystemWrapper {
 public:
  FullFs() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FullFs"; }

  // So many bytes may be written from now on; negative: any.
  void SetRoom(int64_t bytes) { room_ = bytes; }
  // Whether syncs say that the disk is full, though all was written.
  void RefuseSyncs(bool refuse) { refuses_syncs_ = refuse; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;

  // Of the files that it gave out: whether so much may be written, and then it is counted.
  bool Take(int64_t bytes);
  bool refuses_syncs() const { return refuses_syncs_; }

 private:
  std::atomic<int64_t> room_{-1};
  std::atomic<bool> refuses_syncs_{false};
};

}  // namespace vicinity::testing
