#include "server/scrubber.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "partition/shard.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

// Closes a file at the end of a scope.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// Whatever keeps a file from being read as it should be makes its shard unfit to serve.
absl::Status AsDataLoss(const absl::Status& status) {
  return status.ok() ? status : absl::DataLossError(status.message());
}

}  // namespace

std::unique_ptr<Scrubber> Scrubber::Start(const Dataset& dataset, Which which,
                                          int64_t bytes_per_second, ShardHealth* health,
                                          spdlog::logger* log) {
  std::unique_ptr<Scrubber> scrubber(new Scrubber(dataset, which, bytes_per_second, health, log));
  scrubber->thread_ = std::thread([raw = scrubber.get()] { raw->Run(); });
  return scrubber;
}

Scrubber::Scrubber(const Dataset& dataset, Which which, int64_t bytes_per_second,
                   ShardHealth* health, spdlog::logger* log)
    : directory_(dataset.directory()),
      which_(which),
      bytes_per_second_(bytes_per_second),
      health_(health),
      log_(log),
      next_read_(std::chrono::steady_clock::now()) {
  std::unordered_set<std::string> unchecked;
  for (const proto::FileEntry& file : dataset.unchecked()) unchecked.insert(file.path());
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (const proto::FileEntry& file : dataset.manifest().shards(shard->id().value).files()) {
      if (which == Which::kAll || unchecked.count(file.path()) > 0) {
        files_.push_back({file, shard->id()});
      }
    }
  }
}

int64_t Scrubber::num_bytes() const {
  int64_t bytes = 0;
  for (const File& file : files_) bytes += static_cast<int64_t>(file.entry.size());
  return bytes;
}

Scrubber::~Scrubber() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

bool Scrubber::WaitUntilDone(std::chrono::nanoseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  MutexLock lock(&mu_);
  while (!done_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    changed_.WaitFor(&mu_, left);
  }
  return true;
}

void Scrubber::Run() {
  for (const File& file : files_) {
    const absl::Status status = Check(file);
    if (absl::IsCancelled(status)) return;
    if (status.ok() && which_ == Which::kAll) continue;
    if (status.ok()) {
      health_->AddChecked(file.shard, static_cast<int64_t>(file.entry.size()));
    } else if (health_->MarkFaulty(file.shard, std::string(status.message()))) {
      log_->error("shard {} is not served any more: {}", file.shard.value,
                  std::string(status.message()));
    }
  }
  if (!files_.empty()) log_->info("check of {} files is over", files_.size());
  MutexLock lock(&mu_);
  done_ = true;
  changed_.NotifyAll();
}

absl::Status Scrubber::Check(const File& file) {
  const std::string path = absl::StrCat(directory_, "/", file.entry.path());
  const OpenFile open_file(path);
  if (open_file.fd() < 0) return AsDataLoss(ErrnoStatus(errno, path, "open"));
  RunningChecksum checksum;
  std::string block(kBlockBytes, '\0');
  uint64_t size = 0;
  for (;;) {
    const ssize_t got = read(open_file.fd(), &block[0], block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return AsDataLoss(ErrnoStatus(errno, path, "read"));
    if (got == 0) break;
    checksum.Append(std::string_view(block.data(), static_cast<size_t>(got)));
    size += static_cast<uint64_t>(got);
    if (!Pace(got)) return absl::CancelledError("stopped");
  }
  if (size == file.entry.size() && checksum.value() == file.entry.checksum()) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(path, ": ", size, " bytes with checksum ",
                                          absl::Hex(checksum.value(), absl::kZeroPad16),
                                          ", the manifest says ", file.entry.size(), " with ",
                                          absl::Hex(file.entry.checksum(), absl::kZeroPad16)));
}

bool Scrubber::Pace(int64_t bytes) {
  const std::chrono::duration<double> cost(static_cast<double>(bytes) /
                                           static_cast<double>(bytes_per_second_));
  MutexLock lock(&mu_);
  next_read_ += std::chrono::duration_cast<std::chrono::nanoseconds>(cost);
  for (;;) {
    if (stop_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (next_read_ <= now) {
      next_read_ = now;  // slow disks earn no burst
      return true;
    }
    changed_.WaitFor(&mu_, next_read_ - now);
  }
}

}  // namespace vicinity
