// What the file system says of a file without reading it: whether it is still the same, unchanged.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace vicinity {

struct FileIdentity {
  int64_t device = 0;
  int64_t inode = 0;  // 0: there is no such file
  int64_t size = 0;
  int64_t modified_ns = 0;  // Unix time
  int64_t changed_ns = 0;   // the same, of its attributes, too; nobody can set it

  bool exists() const { return inode != 0; }
  bool IsSameFile(const FileIdentity& other) const {
    return device == other.device && inode == other.inode;
  }
  bool operator==(const FileIdentity& other) const {
    return IsSameFile(other) && size == other.size && modified_ns == other.modified_ns &&
           changed_ns == other.changed_ns;
  }
  bool operator!=(const FileIdentity& other) const { return !(*this == other); }
};

FileIdentity IdentityOf(const struct stat& info);

// The clock by which the kernel dates files, which is behind the real one by up to 10 ms.
int64_t FileClockNow();  // Unix time in ns

// A folder kept open, so that its files are looked up without walking a path.
//
// Threads: immutable.
class OpenFolder {
 public:
  static absl::StatusOr<std::shared_ptr<const OpenFolder>> Open(const std::string& path);
  ~OpenFolder();
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  FileIdentity Look(const std::string& name) const;

 private:
  explicit OpenFolder(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace vicinity
