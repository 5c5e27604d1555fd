// A mapped data file of which nothing is believed before its page has been checked.
//
// How a reader comes to bytes that it may give away (ReadVerified does all of it):
//
//   1. generation = Begin()
//   2. Touch(what it will read)     pages not verified yet are checked against their sums
//   3. it reads, and copies
//   4. StillAsVerified(generation)  one look at the file: true: what was copied is right.
//                                   false: the file has changed since; its pages count as never
//                                   verified, so begin again. An error: the file is damaged.
//
// Invariants:
//   I1  A page's bit is set only by who has checked the page since seen_ was taken; whatever
//       changed the file after that has given it another time, which step 4 notices. (Times have
//       a grain: so nobody checks a page within kSettle of the file's last change.)
//   I2  generation_ is odd while bits, seen_ or the mapping are being replaced. A reader that has
//       the same even one before and after has met one state only.
//
// What cannot be noticed: stores through somebody's writable mapping after the first since the
// last sync, which leave no time; a page that the kernel has dropped and read back from a disk
// that meanwhile returns other bytes. The scrubber finds both when it comes by.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "partition/dataset/fault_list.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/page_reader.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/bus_errors.h"
#include "proto/common/file_identity.h"
#include "proto/common/mutex.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// Files of format version 1 have no sums: all of their pages count as verified, and changes are
// not looked for.
//
// Threads:  any number may call anything at once.
// Lifetime: `faults` must outlive it. Addresses stay valid whatever happens to the file.
// Errors:   DataLoss naming file, page and both checksums. Such a fault stays, and is in `faults`,
//           until Adopt() finds a sound file.
class VerifiedFile {
 public:
  struct Source {
    std::string directory;                     // of the dataset
    std::shared_ptr<const OpenFolder> folder;  // where the file lies
    const proto::FileEntry* entry = nullptr;   // only Open reads it
    FileKind kind = FileKind::kKeys;
    uint32_t format_version = 0;  // of the dataset
    FaultList* faults = nullptr;  // null: nobody asks
  };
  // Maps it, and checks size, header and roots: in no time that matters. DataLoss;
  // FailedPrecondition for a newer format.
  static absl::StatusOr<std::unique_ptr<VerifiedFile>> Open(const Source& source);
  ~VerifiedFile();
  VerifiedFile(const VerifiedFile&) = delete;
  VerifiedFile& operator=(const VerifiedFile&) = delete;

  const std::string& path() const { return path_; }
  const FileHeader& header() const { return header_; }
  // Behind the header: num_rows x row_bytes bytes.
  std::string_view rows() const { return {data_ + sizeof(FileHeader), row_bytes_}; }
  int64_t size() const { return size_; }
  uint64_t checksum() const { return checksum_; }  // of all bytes, as the manifest has it
  std::string_view bytes() const { return {data_, static_cast<size_t>(size_)}; }
  bool has_sums() const { return has_sums_; }
  // How many of the pages' bytes have been verified since the last change.
  int64_t verified_bytes() const;

  uint64_t Begin() const;
  // True: every page is verified, and Touch has nothing to do.
  bool whole() const { return whole_.load(std::memory_order_acquire); }
  absl::Status Touch(const void* begin, size_t bytes) {
    return whole() || IsVerified(begin, bytes) ? absl::OkStatus() : TouchPages(begin, bytes);
  }
  // Quick: true if all is in one page, and that is verified.
  bool IsVerified(const void* begin, size_t bytes) const {
    const auto at = static_cast<uint64_t>(static_cast<const char*>(begin) - data_);
    const uint64_t page = at / uint64_t{kPageBytes};
    return bytes > 0 && (at + bytes - 1) / uint64_t{kPageBytes} == page && has_sums_ &&
           HasBit(static_cast<int64_t>(page));
  }
  // As Touch, of all pages that root `root` covers (there are num_roots()); they are asked for from
  // the disk at once.
  absl::Status TouchBlock(int64_t root);
  absl::StatusOr<bool> StillAsVerified(uint64_t generation);

  absl::Status fault() const;
  // For who has found the file damaged by other means; returns the file's first fault.
  absl::Status Condemn(absl::string_view what);
  // True: another file lies at the path, or none; the mapped one is as it was.
  bool replaced() const;

  // For a scrubber. Reads what root `root` covers as a file, not through the mapping, and leaves
  // the system's cache as it was. Pages that pass count as verified.
  int64_t num_roots() const { return layout_.num_roots; }
  ByteRange RootRange(int64_t root) const { return BlockRange(layout_, root); }
  absl::Status Scrub(int64_t root, std::vector<char>* buffer);

  // True: what lies at the path is not what was found damaged or replaced: Adopt() may succeed.
  bool WorthAdopting() const;
  // Reads all of the file at the path. If it is the right one it takes the mapped one's place, at
  // the same addresses, and the fault is over. `go_on` is told of bytes that were read, and may
  // wait; Cancelled when it says false. Unavailable: the file is being written. DataLoss.
  using GoOn = std::function<bool(int64_t bytes)>;
  absl::Status Adopt(const GoOn& go_on);

  // Asks the system for huge pages (MappedFile::AskForHugePages).
  void AskForHugePages();

 private:
  VerifiedFile(const Source& source, std::string path, std::string name, char* data,
               const FileIdentity& identity);

  absl::Status CheckStart(const Source& source);
  absl::Status TouchPages(const void* begin, size_t bytes);
  absl::Status VerifyPages(int64_t first, int64_t end);  // of one block
  absl::Status VerifySums(int64_t root, uint64_t generation);
  void WaitUntilSettled();
  absl::Status CheckAllOf(int fd, const GoOn& go_on) const;
  absl::Status Damage(const std::string& what) const;
  absl::Status Unreadable() const;
  absl::Status WhyNot(const absl::Status& mismatch) const;        // `mismatch`, or why it is one
  std::vector<ByteRange> Uncached(const ByteRange& range) const;  // pages not in memory
  // Keeps the first fault; returns that.
  absl::Status Fail(const absl::Status& status);
  void Refresh();
  absl::Status TakePlace(int fd, const FileIdentity& identity) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  FileIdentity Look() const { return folder_->Look(name_); }
  FileIdentity LookAtMapped() const;
  std::string_view Bytes(const ByteRange& range) const {
    return {data_ + range.begin, static_cast<size_t>(range.end - range.begin)};
  }
  bool HasBit(int64_t page) const {
    return (bits_[page / 64].load(std::memory_order_acquire) >> page % 64 & 1) != 0;
  }
  void SetBits(int64_t first, int64_t end, uint64_t generation);
  void SetAllBits(bool value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;
  const std::string name_;  // in its folder
  const std::shared_ptr<const OpenFolder> folder_;
  FaultList* const faults_;
  const int64_t size_;
  const uint64_t checksum_;  // of all bytes
  const bool has_sums_;
  char* const data_;
  int fd_ = -1;  // of the mapped file; -1: there are too many. Fixed before anybody reads
  GuardedMemory guard_;
  FileHeader header_ = {};
  size_t row_bytes_ = 0;  // of all rows together
  PageLayout layout_;
  PageReader pages_;
  std::vector<uint64_t> roots_;

  std::atomic<uint64_t> generation_{0};
  std::atomic<bool> whole_{false};
  std::atomic<int64_t> unsettled_until_ns_;              // by FileClockNow(); 0: it is settled
  std::unique_ptr<std::atomic<uint64_t>[]> bits_;        // one a page
  std::unique_ptr<std::atomic<bool>[]> verified_roots_;  // whose sums are verified
  std::atomic<bool> faulty_{false};
  std::atomic<bool> huge_pages_{false};

  mutable Mutex mu_;
  int64_t num_verified_ ABSL_GUARDED_BY(mu_) = 0;  // pages
  FileIdentity seen_ ABSL_GUARDED_BY(mu_);
  FileIdentity mapped_ ABSL_GUARDED_BY(mu_);  // of which inode the memory is
  absl::Status fault_ ABSL_GUARDED_BY(mu_);
  FileIdentity refused_ ABSL_GUARDED_BY(mu_);  // what Adopt() need not read again
};

// Runs `read`, which touches and copies from `files` (null ones do not count), again and again
// until what it copied is known to be right. Its error is final, unless a file changed meanwhile.
// Unavailable if a file changes all the time.
inline constexpr int kReadAttempts = 5;
absl::Status ChangesTooOften();

// The files of one read, and their generations when it began.
class FilesRead {
 public:
  explicit FilesRead(absl::Span<VerifiedFile* const> files);
  // As VerifiedFile::StillAsVerified, of all of them.
  absl::StatusOr<bool> StillAsVerified() const;

 private:
  struct Begun {
    VerifiedFile* file;
    uint64_t generation;
  };
  absl::InlinedVector<Begun, 8> begun_;
};

template <typename Read>
absl::Status ReadVerified(absl::Span<VerifiedFile* const> files, const Read& read) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    const FilesRead reading(files);
    const absl::Status status = read();
    const absl::StatusOr<bool> good = reading.StillAsVerified();
    if (!good.ok()) return good.status();
    if (*good) return status;
  }
  return ChangesTooOften();
}

}  // namespace vicinity
