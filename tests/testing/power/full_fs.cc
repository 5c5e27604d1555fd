#include "tests/testing/power/full_fs.h"

#include <utility>

namespace vicinity::testing {
namespace {

using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class FullFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FullFile(std::unique_ptr<FSWritableFile> file, FullFs* fs)
      : FSWritableFileOwnerWrapper(std::move(file)), fs_(fs) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (fs_->Take(static_cast<int64_t>(data.size()))) {
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    const Slice half(data.data(), data.size() / 2);
    IOStatus status = FSWritableFileOwnerWrapper::Append(half, options, debug);
    return status.ok() ? IOStatus::NoSpace("the disk is full") : status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (fs_->refuses_syncs()) return IOStatus::NoSpace("the disk is full");
    return FSWritableFileOwnerWrapper::Sync(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    if (fs_->refuses_syncs()) return IOStatus::NoSpace("the disk is full");
    return FSWritableFileOwnerWrapper::Fsync(options, debug);
  }

 private:
  FullFs* const fs_;
};

}  // namespace

bool FullFs::Take(int64_t bytes) {
  int64_t room = room_;
  while (room >= 0) {
    if (bytes > room) return false;
    if (room_.compare_exchange_weak(room, room - bytes)) return true;
  }
  return true;
}

IOStatus FullFs::NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                 std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) {
  std::unique_ptr<FSWritableFile> real;
  IOStatus status = target()->NewWritableFile(path, options, &real, debug);
  if (status.ok()) *file = std::make_unique<FullFile>(std::move(real), this);
  return status;
}

}  // namespace vicinity::testing
