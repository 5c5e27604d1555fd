#include "partition/overlay/change_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/overlay/failpoint.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// A record: its length, XXH3 of its bytes seeded with its number, its bytes. Number 0 is the
// identity, number v the change that made version v.
struct RecordHead {
  uint64_t size;
  uint64_t sum;
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "heads are stored as they lie");

// Far more than a request may be.
constexpr uint64_t kMostRecordBytes = uint64_t{64} << 20;

std::string Record(uint64_t number, const std::string& bytes) {
  const RecordHead head = {bytes.size(), Checksum(bytes, number)};
  std::string record(reinterpret_cast<const char*>(&head), sizeof(head));
  record.append(bytes);
  return record;
}

// False: the file ends before the record does.
absl::StatusOr<bool> ReadRecord(std::ifstream* file, const std::string& path, uint64_t number,
                                std::string* bytes) {
  RecordHead head = {};
  if (!file->read(reinterpret_cast<char*>(&head), sizeof(head))) return false;
  const auto damaged = [&] {
    return absl::DataLossError(
        absl::StrCat(path, ": ", number == 0 ? "its beginning" : absl::StrCat("version ", number),
                     " is not what was written"));
  };
  if (head.size > kMostRecordBytes) return damaged();
  bytes->resize(head.size);
  if (!file->read(bytes->data(), static_cast<std::streamsize>(head.size))) return false;
  if (Checksum(*bytes, number) != head.sum) return damaged();
  return true;
}

}  // namespace

absl::StatusOr<std::string> ReadChangeFileIdentity(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  std::string identity;
  VICINITY_ASSIGN_OR_RETURN(const bool whole, ReadRecord(&file, path, 0, &identity));
  if (whole) return identity;
  return absl::DataLossError(absl::StrCat(path, ": it ends within its beginning"));
}

absl::StatusOr<ChangeFileFacts> ReadChangeFile(
    const std::string& path, const std::function<absl::Status(proto::Change change)>& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  ChangeFileFacts facts;
  std::string bytes;
  VICINITY_ASSIGN_OR_RETURN(bool whole, ReadRecord(&file, path, 0, &facts.identity));
  while (whole) {
    facts.bytes = static_cast<int64_t>(file.tellg());
    VICINITY_ASSIGN_OR_RETURN(whole, ReadRecord(&file, path, facts.last_version + 1, &bytes));
    if (!whole) break;
    proto::Change change;
    if (!change.ParseFromString(bytes) || change.version() != facts.last_version + 1) {
      return absl::DataLossError(
          absl::StrCat(path, ": version ", facts.last_version + 1, " is no change"));
    }
    facts.last_term = change.term();
    if (take) VICINITY_RETURN_IF_ERROR(take(std::move(change)));
    ++facts.last_version;
  }
  std::error_code error;
  facts.half_written =
      std::filesystem::file_size(path, error) != static_cast<uint64_t>(facts.bytes);
  return facts;
}

absl::StatusOr<std::unique_ptr<ChangeFile>> ChangeFile::Open(const std::string& path,
                                                             const std::string& identity) {
  ChangeFileFacts facts;
  if (std::filesystem::exists(path)) {
    VICINITY_ASSIGN_OR_RETURN(facts, ReadChangeFile(path, nullptr));
  }
  if (facts.bytes > 0 && facts.identity != identity) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": these are changes of ", facts.identity, ", and not of ", identity));
  }
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, path, "open");
  Pass(Failpoint::kFileMade);
  std::unique_ptr<ChangeFile> file(new ChangeFile(path, fd));
  file->last_version_ = facts.last_version;
  file->last_term_ = facts.last_term;
  file->bytes_ = facts.bytes;
  if (ftruncate(fd, facts.bytes) != 0) return ErrnoStatus(errno, path, "ftruncate");
  Pass(Failpoint::kFileCut);
  if (lseek(fd, facts.bytes, SEEK_SET) < 0) return ErrnoStatus(errno, path, "lseek");
  if (facts.bytes == 0) VICINITY_RETURN_IF_ERROR(file->Write(Record(0, identity)));
  Pass(Failpoint::kFileBegun);
  VICINITY_RETURN_IF_ERROR(SyncDirectory(std::filesystem::path(path).parent_path().string()));
  return file;
}

ChangeFile::~ChangeFile() { close(fd_); }

absl::Status ChangeFile::Append(const proto::Change& change) {
  if (change.version() != last_version_ + 1) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": version ", change.version(),
                                                   ", where ", last_version_ + 1, " comes next"));
  }
  Pass(Failpoint::kFileAppending);
  VICINITY_RETURN_IF_ERROR(Write(Record(change.version(), change.SerializeAsString())));
  Pass(Failpoint::kFileAppended);
  ++last_version_;
  last_term_ = change.term();
  return absl::OkStatus();
}

absl::Status ChangeFile::Write(const std::string& record) {
  for (size_t done = 0; done < record.size();) {
    const ssize_t wrote = write(fd_, record.data() + done, record.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return ErrnoStatus(errno, path_, "write");
    done += static_cast<size_t>(wrote);
  }
  bytes_ += static_cast<int64_t>(record.size());
  return absl::OkStatus();
}

absl::Status ChangeFile::Sync() {
  Pass(Failpoint::kFileSyncing);
  if (fdatasync(fd_) != 0) return ErrnoStatus(errno, path_, "fdatasync");
  Pass(Failpoint::kFileSynced);
  return absl::OkStatus();
}

}  // namespace vicinity
