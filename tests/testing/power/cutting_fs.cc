#include "tests/testing/power/cutting_fs.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace vicinity::testing {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus NoPower() { return IOStatus::IOError("the power is cut"); }

std::optional<std::string> ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

void WriteContent(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

class CuttingFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  CuttingFile(std::unique_ptr<FSWritableFile> file, std::shared_ptr<CuttingFs::Written> written,
              CuttingFs* fs)
      : FSWritableFileOwnerWrapper(std::move(file)), written_(std::move(written)), fs_(*fs) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = fs_.Wrote(written_.get(), data.size());
    return status.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug) : status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Synced(FSWritableFileOwnerWrapper::Flush(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Synced(FSWritableFileOwnerWrapper::Flush(options, debug));
  }

 private:
  IOStatus Synced(IOStatus status) {
    if (fs_.cut()) return NoPower();
    if (status.ok()) fs_.Synced(written_.get());
    return status;
  }

  const std::shared_ptr<CuttingFs::Written> written_;
  CuttingFs& fs_;
};

class CuttingFolder final : public rocksdb::FSDirectoryWrapper {
 public:
  CuttingFolder(std::unique_ptr<rocksdb::FSDirectory> folder, CuttingFs* fs)
      : FSDirectoryWrapper(std::move(folder)), fs_(*fs) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    if (fs_.cut()) return NoPower();
    fs_.SyncedFolder();
    return IOStatus::OK();
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& /*dir_options*/) override {
    return Fsync(options, debug);
  }

 private:
  CuttingFs& fs_;
};

}  // namespace

CuttingFs::CuttingFs(bool heeds_syncs)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), heeds_syncs_(heeds_syncs) {}

void CuttingFs::Cut() {
  const std::lock_guard<std::mutex> lock(mu_);
  cut_ = true;
}

bool CuttingFs::cut() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return cut_;
}

IOStatus CuttingFs::Wrote(Written* file, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (cut_) return NoPower();
  file->size += bytes;
  return IOStatus::OK();
}

void CuttingFs::Synced(Written* file) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (heeds_syncs_) file->synced = file->size;
}

void CuttingFs::SyncedFolder() {
  const std::lock_guard<std::mutex> lock(mu_);
  changes_.clear();
}

std::shared_ptr<CuttingFs::Written> CuttingFs::Track(const std::string& path, uint64_t size) {
  const std::lock_guard<std::mutex> lock(mu_);
  auto written = std::make_shared<Written>(Written{size, size});
  files_[path] = written;
  return written;
}

IOStatus CuttingFs::NewWritableFile(const std::string& path, const FileOptions& options,
                                    std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) {
  if (cut()) return NoPower();
  const std::optional<std::string> before = ContentOf(path);
  std::unique_ptr<FSWritableFile> real;
  IOStatus status = target()->NewWritableFile(path, options, &real, debug);
  if (!status.ok()) return status;
  *file = std::make_unique<CuttingFile>(std::move(real), Track(path, 0), this);
  const std::lock_guard<std::mutex> lock(mu_);
  changes_.push_back({Change::kMade, path, "", before});
  return status;
}

IOStatus CuttingFs::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                       std::unique_ptr<FSWritableFile>* file,
                                       IODebugContext* debug) {
  if (cut()) return NoPower();
  std::unique_ptr<FSWritableFile> real;
  IOStatus status = target()->ReopenWritableFile(path, options, &real, debug);
  if (!status.ok()) return status;
  *file = std::make_unique<CuttingFile>(std::move(real),
                                        Track(path, std::filesystem::file_size(path)), this);
  return status;
}

// Would write over a file in place; RocksDB asks for it where logs are recycled, which we do not.
IOStatus CuttingFs::ReuseWritableFile(const std::string& path, const std::string& /*old_path*/,
                                      const FileOptions& /*options*/,
                                      std::unique_ptr<FSWritableFile>* /*file*/,
                                      IODebugContext* /*debug*/) {
  return IOStatus::NotSupported(path);
}

IOStatus CuttingFs::NewDirectory(const std::string& path, const IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> real;
  IOStatus status = target()->NewDirectory(path, options, &real, debug);
  if (status.ok()) *directory = std::make_unique<CuttingFolder>(std::move(real), this);
  return status;
}

IOStatus CuttingFs::DeleteFile(const std::string& path, const IOOptions& options,
                               IODebugContext* debug) {
  if (cut()) return NoPower();
  const std::optional<std::string> before = ContentOf(path);
  IOStatus status = target()->DeleteFile(path, options, debug);
  const std::lock_guard<std::mutex> lock(mu_);
  if (status.ok()) changes_.push_back({Change::kDeleted, path, "", before});
  files_.erase(path);
  return status;
}

IOStatus CuttingFs::RenameFile(const std::string& from, const std::string& to,
                               const IOOptions& options, IODebugContext* debug) {
  if (cut()) return NoPower();
  const std::optional<std::string> before = ContentOf(to);
  IOStatus status = target()->RenameFile(from, to, options, debug);
  if (!status.ok()) return status;
  const std::lock_guard<std::mutex> lock(mu_);
  changes_.push_back({Change::kRenamed, to, from, before});
  if (const auto file = files_.find(from); file != files_.end()) {
    files_[to] = file->second;
    files_.erase(from);
  }
  return status;
}

void CuttingFs::Undo(const Change& change) {
  if (change.kind == Change::kMade) std::filesystem::remove(change.path);
  if (change.kind == Change::kRenamed) {
    // What was renamed lost its bytes with its name where they were not synced.
    if (std::filesystem::exists(change.path)) std::filesystem::rename(change.path, change.from);
  }
  if (change.content.has_value()) WriteContent(change.path, *change.content);
}

void CuttingFs::Drop(std::mt19937_64* random) {
  const std::lock_guard<std::mutex> lock(mu_);
  for (const auto& [path, file] : files_) {
    if (file->synced == file->size || !std::filesystem::exists(path)) continue;
    const uint64_t kept = file->synced + (*random)() % (file->size - file->synced + 1);
    if (kept < std::filesystem::file_size(path)) std::filesystem::resize_file(path, kept);
  }
  const size_t kept = changes_.empty() ? 0 : (*random)() % (changes_.size() + 1);
  for (size_t i = changes_.size(); i > kept; --i) Undo(changes_[i - 1]);
}

}  // namespace vicinity::testing
