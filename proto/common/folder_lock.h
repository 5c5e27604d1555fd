// One writer at a time in a folder, among the processes of a machine.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vicinity {

// How a lock that another process holds is waited for.
struct LockWait {
  absl::Duration limit = absl::Minutes(1);
  // Called once, when the wait begins, with a sentence that names the holder. May be empty.
  std::function<void(const std::string&)> told;
};

// Held from Take() to the destructor or Release(). The kernel keeps it with the open folder
// (flock), so it leaves no file behind, and a process that dies in any way gives it back. Writers
// on other machines that share the folder over a network are not excluded.
//
// Threads: one at a time.
class FolderLock {
 public:
  // FailedPrecondition naming the holder if it is held for longer than the wait's limit; NotFound
  // if there is no such folder.
  static absl::StatusOr<FolderLock> Take(const std::string& folder, const LockWait& wait = {});
  ~FolderLock() { Release(); }
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  void Release();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;  // -1: released
};

}  // namespace vicinity
