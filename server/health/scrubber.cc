#include "server/health/scrubber.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLookInterval{1};
constexpr std::chrono::seconds kLongestOpenDelay{300};

}  // namespace

std::unique_ptr<Scrubber> Scrubber::Start(Dataset* dataset, Which which, int64_t bytes_per_second,
                                          ShardHealth* health, spdlog::logger* log) {
  std::unique_ptr<Scrubber> scrubber(new Scrubber(dataset, which, bytes_per_second, health, log));
  scrubber->thread_ = std::thread([raw = scrubber.get()] { raw->Run(); });
  return scrubber;
}

Scrubber::Scrubber(Dataset* dataset, Which which, int64_t bytes_per_second, ShardHealth* health,
                   spdlog::logger* log)
    : dataset_(dataset),
      which_(which),
      bytes_per_second_(bytes_per_second),
      health_(health),
      log_(log),
      next_look_(std::chrono::steady_clock::now()),
      next_open_(next_look_),
      next_read_(next_look_) {
  for (const ShardId id : dataset->wanted()) {
    for (const proto::FileEntry* const file : FilesOfShard(dataset->manifest(), id)) {
      ++num_files_;
      num_bytes_ += static_cast<int64_t>(file->size());
    }
  }
}

Scrubber::~Scrubber() {
  {
    const MutexLock lock(&mu_);
    stop_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

std::vector<std::string> Scrubber::notes() const {
  const MutexLock lock(&mu_);
  return notes_;
}

bool Scrubber::WaitUntilDone(std::chrono::nanoseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  const MutexLock lock(&mu_);
  while (!done_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    changed_.WaitFor(&mu_, left);
  }
  return true;
}

void Scrubber::Run() {
  for (int64_t passes = 1;; ++passes) {
    if (!RunPass()) return;
    log_->log(passes == 1 ? spdlog::level::info : spdlog::level::debug,
              "check {} of {} files is over", passes, num_files_);
    if (which_ == Which::kForever) health_->SetScrubbed({passes, 0, num_bytes_});
    {
      const MutexLock lock(&mu_);
      done_ = true;
    }
    changed_.NotifyAll();
    if (which_ == Which::kOnce) return;
    // However small the dataset: no more than a pass a second.
    if (!Pace(std::max<int64_t>(bytes_per_second_ - num_bytes_, 0))) return;
  }
}

bool Scrubber::RunPass() {
  done_bytes_ = 0;
  for (const ShardId id : dataset_->wanted()) {
    if (!Pace(0)) return false;
    const Shard* const shard = dataset_->shard(id);
    if (shard != nullptr && !CheckShard(*shard)) return false;
  }
  // Also where nothing was to be read.
  LookAround();
  return true;
}

bool Scrubber::CheckShard(const Shard& shard) {
  for (const std::unique_ptr<VerifiedFile>& file : shard.files()) {
    // What is wrong with it is known; LookAround() sees when that changes.
    if (!file->fault().ok()) continue;
    if (!(file->has_sums() ? CheckFile(file.get()) : CheckUnsummed(shard.id(), file.get()))) {
      return false;
    }
    NoteReplaced(file.get());
  }
  return true;
}

bool Scrubber::CheckFile(VerifiedFile* file) {
  for (int64_t root = 0; root < file->num_roots(); ++root) {
    if (!file->Scrub(root, &buffer_).ok()) return true;  // the next look around says so
    const ByteRange range = file->RootRange(root);
    if (!Pace(range.end - range.begin)) return false;
  }
  return true;
}

// A file of format version 1 can only be checked as a whole.
bool Scrubber::CheckUnsummed(ShardId shard, VerifiedFile* file) {
  RunningChecksum checksum;
  int64_t size = 0;
  bool stopped = false;
  const absl::Status read = ReadInPieces(file->path(), [&](std::string_view piece) -> absl::Status {
    checksum.Append(piece);
    size += static_cast<int64_t>(piece.size());
    stopped = !Pace(static_cast<int64_t>(piece.size()));
    return stopped ? absl::CancelledError("stopped") : absl::OkStatus();
  });
  if (stopped) return false;
  if (absl::IsNotFound(read)) return true;
  if (!read.ok()) {
    file->Condemn(read.message()).IgnoreError();
  } else if (size != file->size() || checksum.value() != file->checksum()) {
    file->Condemn(absl::StrCat(size, " bytes with checksum ", absl::Hex(checksum.value()),
                               ", the manifest says ", file->size(), " with ",
                               absl::Hex(file->checksum())))
        .IgnoreError();
  } else {
    health_->AddChecked(shard, *file);
  }
  return true;
}

void Scrubber::LookAround() {
  if (looking_) return;  // taking a file back paces itself, too
  looking_ = true;
  for (const ShardId id : dataset_->wanted()) LookAgain(id);
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_open_) {
    open_delay_ = std::min(2 * open_delay_, kLongestOpenDelay);
    next_open_ = now + open_delay_;
  }
  next_look_ = now + kLookInterval;
  looking_ = false;
}

void Scrubber::LookAgain(ShardId id) {
  const Shard* const shard = dataset_->shard(id);
  health_->LogFault(id, log_);
  if (shard == nullptr) {
    if (std::chrono::steady_clock::now() < next_open_) return;
    if (dataset_->OpenAgain(id).ok()) health_->LogFault(id, log_);
    return;
  }
  for (const std::unique_ptr<VerifiedFile>& file : shard->files()) {
    if (file->WorthAdopting()) TakeBack(id, file.get());
  }
}

void Scrubber::TakeBack(ShardId id, VerifiedFile* file) {
  const absl::Status adopted = file->Adopt([this](int64_t bytes) { return Pace(bytes); });
  if (adopted.ok()) {
    log_->info("{} is a new file, and sound: it is read from now on", file->path());
    health_->LogFault(id, log_);
  } else if (absl::IsDataLoss(adopted)) {
    log_->warn("not taken: {}", std::string(adopted.message()));
  }
}

void Scrubber::NoteReplaced(VerifiedFile* file) {
  if (!file->replaced()) return;
  const std::string note = absl::StrCat(
      file->path(), ": the file that is served is not there any more; a restart would miss it");
  const MutexLock lock(&mu_);
  if (std::find(notes_.begin(), notes_.end(), note) != notes_.end()) return;
  notes_.push_back(note);
  log_->warn("{}", note);
}

bool Scrubber::Pace(int64_t bytes) {
  done_bytes_ += looking_ ? 0 : bytes;
  if (which_ == Which::kForever) health_->SetScrubDone(std::min(done_bytes_, num_bytes_));
  const std::chrono::duration<double> cost(static_cast<double>(bytes) /
                                           static_cast<double>(bytes_per_second_));
  std::chrono::steady_clock::time_point until;
  {
    const MutexLock lock(&mu_);
    until = next_read_ + std::chrono::duration_cast<std::chrono::nanoseconds>(cost);
  }
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_look_) LookAround();
    const MutexLock lock(&mu_);
    if (stop_) return false;
    if (until <= now) {
      next_read_ = now;  // slow disks earn no burst
      return true;
    }
    changed_.WaitFor(&mu_, std::min<std::chrono::nanoseconds>(until - now, kLookInterval));
  }
}

}  // namespace vicinity
