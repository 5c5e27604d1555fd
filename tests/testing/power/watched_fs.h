// A file system below RocksDB that tells of each of its calls, so that a test can end the process
// there.
#pragma once

#include <rocksdb/file_system.h>

#include <functional>
#include <memory>
#include <string>

namespace vicinity::testing {

// A call's name is that of the kind of file and of what is about to be done: "log.append". Kinds:
// log (RocksDB's write-ahead log), sst (sorted rows), manifest, temporary (which becomes one of the
// next), current, options, identity, folder and other. What is done: make, append, sync, rename (to
// a file of that kind), delete; and "torn", when the first half of an append has been written and
// the second has not.
//
// Threads: any number, as `before` may be called from.
class WatchedFs final : public rocksdb::FileSystemWrapper {
 public:
  using Before = std::function<void(const std::string& call)>;

  explicit WatchedFs(Before before);
  const char* Name() const override { return "WatchedFs"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
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

 private:
  const Before before_;
};

}  // namespace vicinity::testing
