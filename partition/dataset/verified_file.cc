#include "partition/dataset/verified_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/open_file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kMillisecond = 1'000'000;  // ns

// Twice the longest tick of the kernel's clock: what changes a file later than that after its last
// change gives it another time.
constexpr int64_t kSettle = 20 * kMillisecond;
// Who changes a file that is in use may go on doing so: a long write gives its time at its begin.
constexpr int64_t kSettleAfterChange = 200 * kMillisecond;

constexpr size_t kReadBytes = size_t{1} << 20;

FileIdentity IdentityOfOpen(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? IdentityOf(info) : FileIdentity();
}

// What the system says of a file that the manifest lists: whatever it is, the dataset is damaged,
// but for what only this process lacks.
absl::Status FileError(int error, const std::string& path, absl::string_view what) {
  const absl::Status status = ErrnoStatus(error, path, what);
  if (absl::IsResourceExhausted(status) || absl::IsPermissionDenied(status)) return status;
  return absl::DataLossError(absl::StrCat(status.message(), " (the manifest lists it)"));
}

uint64_t LoadSum(const char* at) {
  uint64_t sum;
  std::memcpy(&sum, at, sizeof(sum));
  return sum;
}

// Descriptors belong to the process, and so does the number of those that are kept open to look at
// files: a quarter of what it may have. Files beyond are looked up in their folders, which takes
// longer.
std::atomic<int64_t> g_num_kept{0};

bool MayKeepOne() {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  return limit.rlim_cur == RLIM_INFINITY ||
         g_num_kept.load() < static_cast<int64_t>(limit.rlim_cur / 4);
}

// -1: none may be kept.
int Keep(int fd) {
  if (!MayKeepOne()) return -1;
  const int kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (kept >= 0) g_num_kept.fetch_add(1);
  return kept;
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

absl::StatusOr<std::unique_ptr<VerifiedFile>> VerifiedFile::Open(const Source& source) {
  const std::string path = absl::StrCat(source.directory, "/", source.entry->path());
  const Descriptor fd = OpenFile(path, O_RDONLY);
  if (!fd.ok()) return FileError(errno, path, "open");
  const FileIdentity identity = IdentityOfOpen(fd.get());
  if (identity.size != static_cast<int64_t>(source.entry->size())) {
    return absl::DataLossError(absl::StrCat(path, ": size is ", identity.size,
                                            " bytes, the manifest says ", source.entry->size()));
  }
  if (identity.size < static_cast<int64_t>(sizeof(FileHeader))) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", identity.size, " bytes are fewer than a header has (64)"));
  }
  char* const data = MapFile(fd, identity.size, PROT_READ);
  if (data == nullptr) return FileError(errno, path, "map");
  std::unique_ptr<VerifiedFile> file(
      new VerifiedFile(source, path, NameOf(source.entry->path()), data, identity));
  file->fd_ = Keep(fd.get());
  VICINITY_RETURN_IF_ERROR(file->CheckStart(source));
  if (file->has_sums_) {
    VICINITY_ASSIGN_OR_RETURN(file->roots_, file->pages_.ReadRoots(fd.get()));
  }
  return file;
}

VerifiedFile::VerifiedFile(const Source& source, std::string path, std::string name, char* data,
                           const FileIdentity& identity)
    : path_(std::move(path)),
      name_(std::move(name)),
      folder_(source.folder),
      faults_(source.faults),
      size_(identity.size),
      checksum_(source.entry->checksum()),
      has_sums_(source.format_version > 1),
      data_(data),
      guard_(data, static_cast<size_t>(identity.size)),
      unsettled_until_ns_(identity.changed_ns + kSettle),
      seen_(identity),
      mapped_(identity) {}

VerifiedFile::~VerifiedFile() {
  if (faults_ != nullptr) faults_->Remove(path_);
  munmap(data_, static_cast<size_t>(size_));
  if (fd_ < 0) return;
  close(fd_);
  g_num_kept.fetch_sub(1);
}

absl::Status VerifiedFile::CheckStart(const Source& source) {
  VICINITY_ASSIGN_OR_RETURN(header_,
                            ReadHeader(path_, {data_, static_cast<size_t>(size_)}, source.kind));
  if (header_.format_version != source.format_version) {
    return absl::DataLossError(absl::StrCat(path_, ": format version ", header_.format_version,
                                            ", the manifest has ", source.format_version));
  }
  row_bytes_ = header_.num_rows * header_.row_bytes;
  if (!has_sums_) {
    whole_ = true;
    return absl::OkStatus();
  }
  layout_ = LayoutOf(static_cast<int64_t>(sizeof(FileHeader) + row_bytes_));
  pages_ = PageReader(path_, layout_, source.entry->pages_checksum());
  bits_ = std::make_unique<std::atomic<uint64_t>[]>(layout_.num_pages / 64 + 1);
  verified_roots_ = std::make_unique<std::atomic<bool>[]>(layout_.num_roots);
  const MutexLock lock(&mu_);
  SetAllBits(false);
  return absl::OkStatus();
}

int64_t VerifiedFile::verified_bytes() const {
  if (!has_sums_) return 0;
  const MutexLock lock(&mu_);
  return num_verified_ == layout_.num_pages ? size_ : std::min(num_verified_ * kPageBytes, size_);
}

uint64_t VerifiedFile::Begin() const {
  const uint64_t generation = generation_.load();
  if (generation % 2 == 0) return generation;
  const MutexLock lock(&mu_);  // keeps I2: waits until the new state is there
  return generation_.load();
}

absl::StatusOr<bool> VerifiedFile::StillAsVerified(uint64_t generation) {
  std::atomic_thread_fence(std::memory_order_acquire);  // what was read was read before this
  if (guard_.was_hit() && generation_.load() == generation) return Fail(Unreadable());
  if (faulty_.load(std::memory_order_acquire)) return fault();
  if (!has_sums_) return generation_.load() == generation;
  const FileIdentity now = LookAtMapped();
  bool same;
  {
    const MutexLock lock(&mu_);
    same = now == seen_;
  }
  if (!same) Refresh();
  return same && generation_.load() == generation;
}

// Of the file that is mapped, if its descriptor was kept; else of the one at its path.
FileIdentity VerifiedFile::LookAtMapped() const { return fd_ >= 0 ? IdentityOfOpen(fd_) : Look(); }

void VerifiedFile::Refresh() {
  absl::Status resized;
  {
    const MutexLock lock(&mu_);
    const FileIdentity now = LookAtMapped();
    if (now == seen_) return;  // somebody else was faster
    generation_.fetch_add(1);
    SetAllBits(false);
    seen_ = now;
    unsettled_until_ns_ = FileClockNow() + kSettleAfterChange;
    generation_.fetch_add(1);
    if (now.IsSameFile(mapped_) && now.size != size_) {
      resized = Damage(absl::StrCat("size is ", now.size, " bytes now, the manifest says ", size_));
    }
  }
  if (!resized.ok()) Fail(resized).IgnoreError();
}

void VerifiedFile::SetAllBits(bool value) {
  whole_ = false;
  for (int64_t word = 0; has_sums_ && word <= layout_.num_pages / 64; ++word) {
    bits_[word] = value ? ~uint64_t{0} : 0;
  }
  for (int64_t root = 0; root < layout_.num_roots; ++root) verified_roots_[root] = value;
  num_verified_ = value ? layout_.num_pages : 0;
  whole_ = value;
}

void VerifiedFile::SetBits(int64_t first, int64_t end, uint64_t generation) {
  const MutexLock lock(&mu_);
  if (generation_.load() != generation) return;  // keeps I1
  for (int64_t page = first; page < end; ++page) {
    const uint64_t bit = uint64_t{1} << page % 64;
    if ((bits_[page / 64].fetch_or(bit, std::memory_order_acq_rel) & bit) == 0) ++num_verified_;
  }
  if (num_verified_ == layout_.num_pages && !faulty_) whole_ = true;
}

absl::Status VerifiedFile::TouchPages(const void* begin, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (!has_sums_) return fault();
  const int64_t at = static_cast<const char*>(begin) - data_;
  const int64_t end = (at + static_cast<int64_t>(bytes) + kPageBytes - 1) / kPageBytes;
  for (int64_t page = at / kPageBytes; page < end; ++page) {
    if (!HasBit(page)) VICINITY_RETURN_IF_ERROR(VerifyPages(page, page + 1));
  }
  return absl::OkStatus();
}

absl::Status VerifiedFile::TouchBlock(int64_t root) {
  if (whole()) return absl::OkStatus();
  const ByteRange range = BlockRange(layout_, root);
  madvise(data_ + range.begin, static_cast<size_t>(range.end - range.begin), MADV_WILLNEED);
  const int64_t first = root * kSumsARoot;
  return VerifyPages(first, std::min(first + kSumsARoot, layout_.num_pages));
}

absl::Status VerifiedFile::VerifyPages(int64_t first, int64_t end) {
  if (faulty_.load(std::memory_order_acquire)) return fault();
  const uint64_t generation = Begin();
  WaitUntilSettled();
  const int64_t root = first / kSumsARoot;
  if (!verified_roots_[root].load(std::memory_order_acquire)) {
    VICINITY_RETURN_IF_ERROR(VerifySums(root, generation));
  }
  for (int64_t page = first; page < end; ++page) {
    if (HasBit(page)) continue;
    const ByteRange range = PageRange(layout_, page);
    const uint64_t found = Checksum(Bytes(range));
    const uint64_t stored = LoadSum(data_ + layout_.data_bytes + 8 * page);
    if (found != stored)
      return Fail(WhyNot(ChecksumMismatch(path_, "the page", range.begin, found, stored)));
  }
  SetBits(first, end, generation);
  return absl::OkStatus();
}

absl::Status VerifiedFile::VerifySums(int64_t root, uint64_t generation) {
  const ByteRange range = SumsRange(layout_, root);
  const uint64_t found = Checksum(Bytes(range));
  if (found != roots_[root])
    return Fail(WhyNot(ChecksumMismatch(path_, "the page sums", range.begin, found, roots_[root])));
  const MutexLock lock(&mu_);
  if (generation_.load() == generation) verified_roots_[root] = true;
  return absl::OkStatus();
}

void VerifiedFile::WaitUntilSettled() {
  int64_t until = unsettled_until_ns_.load();
  while (until != 0) {
    const int64_t left = until - FileClockNow();
    if (left > 0 && left <= kSettleAfterChange) {  // else the clock was set back
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left, 5 * kMillisecond)));
      until = unsettled_until_ns_.load();
    } else if (unsettled_until_ns_.compare_exchange_strong(until, 0)) {
      return;
    }
  }
}

absl::Status VerifiedFile::Damage(const std::string& what) const {
  return absl::DataLossError(absl::StrCat(path_, ": ", what));
}

absl::Status VerifiedFile::Unreadable() const {
  return Damage("could not be read: an I/O error, or it was cut off");
}

absl::Status VerifiedFile::WhyNot(const absl::Status& mismatch) const {
  return guard_.was_hit() ? Unreadable() : mismatch;
}

absl::Status VerifiedFile::Fail(const absl::Status& status) {
  const MutexLock lock(&mu_);
  if (!fault_.ok()) return fault_;
  fault_ = status;
  refused_ = seen_;
  whole_ = false;
  faulty_.store(true, std::memory_order_release);
  if (faults_ != nullptr) faults_->Add(path_, std::string(status.message()));
  return status;
}

absl::Status VerifiedFile::Condemn(absl::string_view what) {
  return Fail(Damage(std::string(what)));
}

absl::Status VerifiedFile::fault() const {
  const MutexLock lock(&mu_);
  return fault_;
}

bool VerifiedFile::replaced() const {
  const FileIdentity now = Look();
  const MutexLock lock(&mu_);
  return !now.IsSameFile(mapped_);
}

std::vector<ByteRange> VerifiedFile::Uncached(const ByteRange& range) const {
  std::vector<unsigned char> cached((range.end - range.begin + kPageBytes - 1) / kPageBytes);
  std::vector<ByteRange> uncached;
  if (mincore(data_ + range.begin, range.end - range.begin, cached.data()) != 0) return uncached;
  for (size_t i = 0; i < cached.size(); ++i) {
    if ((cached[i] & 1) != 0) continue;
    const int64_t begin = range.begin + static_cast<int64_t>(i) * kPageBytes;
    if (uncached.empty() || uncached.back().end != begin) uncached.push_back({begin, begin});
    uncached.back().end = begin + kPageBytes;
  }
  return uncached;
}

absl::Status VerifiedFile::Scrub(int64_t root, std::vector<char>* buffer) {
  const uint64_t generation = Begin();
  WaitUntilSettled();
  const Descriptor fd = OpenFile(path_, O_RDONLY);
  const FileIdentity found = !fd.ok() ? FileIdentity() : IdentityOfOpen(fd.get());
  {
    const MutexLock lock(&mu_);
    if (!found.IsSameFile(mapped_)) return absl::OkStatus();  // replaced() says so
  }
  // Nothing but what is asked for: what was in no cache before has to go again.
  posix_fadvise(fd.get(), 0, 0, POSIX_FADV_RANDOM);
  const std::vector<ByteRange> uncached = Uncached(BlockRange(layout_, root));
  absl::Status status = root == 0 ? pages_.ReadRoots(fd.get()).status() : absl::OkStatus();
  if (status.ok()) status = pages_.CheckBlock(fd.get(), root, roots_[root], buffer);
  for (const ByteRange& range : uncached) {
    posix_fadvise(fd.get(), range.begin, range.end - range.begin, POSIX_FADV_DONTNEED);
  }
  if (!status.ok()) return Fail(status);
  const int64_t first = root * kSumsARoot;
  SetBits(first, std::min(first + kSumsARoot, layout_.num_pages), generation);
  // What has changed since is found out here, if no reader comes before.
  return StillAsVerified(generation).status();
}

absl::Status VerifiedFile::CheckAllOf(int fd, const GoOn& go_on) const {
  std::vector<char> buffer;
  if (has_sums_) {
    VICINITY_RETURN_IF_ERROR(pages_.ReadRoots(fd).status());
    for (int64_t root = 0; root < layout_.num_roots; ++root) {
      VICINITY_RETURN_IF_ERROR(pages_.CheckBlock(fd, root, roots_[root], &buffer));
      const ByteRange range = BlockRange(layout_, root);
      if (!go_on(range.end - range.begin)) return absl::CancelledError("stopped");
    }
    return absl::OkStatus();
  }
  RunningChecksum checksum;
  buffer.resize(kReadBytes);
  for (int64_t at = 0; at < size_; at += static_cast<int64_t>(kReadBytes)) {
    const int64_t end = std::min(at + static_cast<int64_t>(kReadBytes), size_);
    VICINITY_RETURN_IF_ERROR(ReadExactly(fd, path_, {at, end}, buffer.data()));
    checksum.Append({buffer.data(), static_cast<size_t>(end - at)});
    if (!go_on(end - at)) return absl::CancelledError("stopped");
  }
  if (checksum.value() == checksum_) return absl::OkStatus();
  return ChecksumMismatch(path_, "the file", 0, checksum.value(), checksum_);
}

bool VerifiedFile::WorthAdopting() const {
  const FileIdentity now = Look();
  const MutexLock lock(&mu_);
  if (!now.exists() || now == refused_) return false;
  return !fault_.ok() || !now.IsSameFile(mapped_);
}

absl::Status VerifiedFile::Adopt(const GoOn& go_on) {
  const Descriptor fd = OpenFile(path_, O_RDONLY);
  if (!fd.ok()) return ErrnoStatus(errno, path_, "open");
  const FileIdentity found = IdentityOfOpen(fd.get());
  const int64_t age = FileClockNow() - found.changed_ns;
  if (age >= 0 && age < kSettleAfterChange) {
    return absl::UnavailableError(absl::StrCat(path_, ": changed just now"));
  }
  absl::Status status;
  if (found.size != size_) {
    status = Damage(absl::StrCat("size is ", found.size, " bytes, the manifest says ", size_));
  } else {
    status = CheckAllOf(fd.get(), go_on);
  }
  if (absl::IsCancelled(status)) return status;
  const MutexLock lock(&mu_);
  if (IdentityOfOpen(fd.get()) != found || Look() != found) {
    return absl::UnavailableError(absl::StrCat(path_, ": was changed while it was read"));
  }
  refused_ = found;
  VICINITY_RETURN_IF_ERROR(status);
  return TakePlace(fd.get(), found);
}

absl::Status VerifiedFile::TakePlace(int fd, const FileIdentity& identity) {
  generation_.fetch_add(1);
  // The kernel puts one mapping into the other's place in one step: readers see either.
  void* const at =
      mmap(data_, static_cast<size_t>(size_), PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
  if (at != data_) {
    generation_.fetch_add(1);
    return ErrnoStatus(errno, path_, "map");
  }
  if (fd_ >= 0) dup3(fd, fd_, O_CLOEXEC);  // in one step, too
  guard_.Clear();
  seen_ = mapped_ = identity;
  refused_ = FileIdentity();
  fault_ = absl::OkStatus();
  faulty_ = false;
  unsettled_until_ns_ = 0;
  SetAllBits(true);
  generation_.fetch_add(1);
  if (huge_pages_) madvise(data_, static_cast<size_t>(size_), MADV_HUGEPAGE);
  if (faults_ != nullptr) faults_->Remove(path_);
  return absl::OkStatus();
}

void VerifiedFile::AskForHugePages() { huge_pages_ = vicinity::AskForHugePages(data_, size_); }

FilesRead::FilesRead(absl::Span<VerifiedFile* const> files) {
  for (VerifiedFile* const file : files) {
    if (file != nullptr) begun_.push_back({file, file->Begin()});
  }
}

absl::StatusOr<bool> FilesRead::StillAsVerified() const {
  bool good = true;
  for (const Begun& begun : begun_) {
    VICINITY_ASSIGN_OR_RETURN(const bool same, begun.file->StillAsVerified(begun.generation));
    good = good && same;
  }
  return good;
}

absl::Status ChangesTooOften() {
  return absl::UnavailableError("the files of the shard are being changed all the time");
}

}  // namespace vicinity
