#include "tests/testing/power/watched_fs.h"

#include <filesystem>
#include <utility>

namespace vicinity::testing {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

bool BeginsWith(const std::string& text, const char* beginning) {
  return text.rfind(beginning, 0) == 0;
}

std::string KindOf(const std::string& path) {
  const std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".log") return "log";
  if (name.extension() == ".sst") return "sst";
  if (name.extension() == ".dbtmp") return "temporary";
  if (BeginsWith(name, "MANIFEST")) return "manifest";
  if (BeginsWith(name, "CURRENT")) return "current";
  if (BeginsWith(name, "OPTIONS")) return "options";
  if (BeginsWith(name, "IDENTITY")) return "identity";
  return "other";
}

class WatchedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WatchedFile(std::unique_ptr<FSWritableFile> file, std::string kind,
              const WatchedFs::Before& before)
      : FSWritableFileOwnerWrapper(std::move(file)), kind_(std::move(kind)), before_(before) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    before_(kind_ + ".append");
    const size_t half = data.size() / 2;
    IOStatus status = FSWritableFileOwnerWrapper::Append(Slice(data.data(), half), options, debug);
    if (!status.ok()) return status;
    before_(kind_ + ".torn");
    return FSWritableFileOwnerWrapper::Append(Slice(data.data() + half, data.size() - half),
                                              options, debug);
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    before_(kind_ + ".sync");
    return FSWritableFileOwnerWrapper::Sync(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    before_(kind_ + ".sync");
    return FSWritableFileOwnerWrapper::Fsync(options, debug);
  }

 private:
  const std::string kind_;
  const WatchedFs::Before& before_;
};

class WatchedFolder final : public rocksdb::FSDirectoryWrapper {
 public:
  WatchedFolder(std::unique_ptr<rocksdb::FSDirectory> folder, const WatchedFs::Before& before)
      : FSDirectoryWrapper(std::move(folder)), before_(before) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    before_("folder.sync");
    return FSDirectoryWrapper::Fsync(options, debug);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& dir_options) override {
    before_("folder.sync");
    return FSDirectoryWrapper::FsyncWithDirOptions(options, debug, dir_options);
  }

 private:
  const WatchedFs::Before& before_;
};

}  // namespace

WatchedFs::WatchedFs(Before before)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), before_(std::move(before)) {}

IOStatus WatchedFs::NewWritableFile(const std::string& path, const FileOptions& options,
                                    std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) {
  before_(KindOf(path) + ".make");
  std::unique_ptr<FSWritableFile> real;
  IOStatus status = target()->NewWritableFile(path, options, &real, debug);
  if (status.ok()) *file = std::make_unique<WatchedFile>(std::move(real), KindOf(path), before_);
  return status;
}

IOStatus WatchedFs::NewDirectory(const std::string& path, const IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> real;
  IOStatus status = target()->NewDirectory(path, options, &real, debug);
  if (status.ok()) *directory = std::make_unique<WatchedFolder>(std::move(real), before_);
  return status;
}

IOStatus WatchedFs::DeleteFile(const std::string& path, const IOOptions& options,
                               IODebugContext* debug) {
  before_(KindOf(path) + ".delete");
  return target()->DeleteFile(path, options, debug);
}

IOStatus WatchedFs::RenameFile(const std::string& from, const std::string& to,
                               const IOOptions& options, IODebugContext* debug) {
  before_(KindOf(to) + ".rename");
  return target()->RenameFile(from, to, options, debug);
}

}  // namespace vicinity::testing
