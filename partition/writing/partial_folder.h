// A folder that appears whole or not at all.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/folder_lock.h"

namespace vicinity {

// Filled as `path`.partial, renamed to `path` when it is done.
//
// Threads:  one at a time.
// Lifetime: the destructor removes a folder that was not published, with all it holds.
class PartialFolder {
 public:
  // Clears what a writer that was killed left there. AlreadyExists: `path` is there, or another
  // process, which the text names, is at work on it, or what lies there is a link or another
  // user's. NotFound: nor is the folder it is to lie in. A slash at the end of `path` is dropped.
  static absl::StatusOr<std::unique_ptr<PartialFolder>> Create(const std::string& path);
  ~PartialFolder();
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;

  const std::string& partial_path() const { return partial_path_; }
  const std::string& final_path() const { return final_path_; }

  absl::Status MakeFolder(const std::string& name);  // inside
  // Renames, and waits until that is on disk. AlreadyExists if somebody made `path` meanwhile; on
  // any failure the folder is as it was.
  absl::Status Publish();

 private:
  PartialFolder(std::string final_path, std::string partial_path, FolderLock lock);
  const std::string final_path_;
  const std::string partial_path_;
  FolderLock lock_;  // of the partial folder: who has it may clear and rename
  bool published_ = false;
};

}  // namespace vicinity
