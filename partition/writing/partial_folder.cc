#include "partition/writing/partial_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/common/folder_lock.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

bool Exists(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

absl::Status ClearFolder(const std::string& path) {
  // Where others may write, too, a link that they planted would have us clear what it points to.
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return ErrnoStatus(errno, path, "look at");
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, ": is no folder of ours; remove it, or write elsewhere"));
  }
  std::error_code error;
  std::filesystem::directory_iterator entries(path, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    std::filesystem::remove_all(entries->path(), error);
    if (error) break;
  }
  return error ? ErrnoStatus(error.value(), path, "clear") : absl::OkStatus();
}

std::string ParentOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PartialFolder>> PartialFolder::Create(const std::string& path) {
  std::string final_path(absl::StripSuffix(path, "/"));
  if (final_path.empty())
    return absl::InvalidArgumentError(absl::StrCat("no folder: \"", path, "\""));
  if (Exists(final_path)) return absl::AlreadyExistsError(absl::StrCat(final_path, ": exists"));
  std::string partial_path = final_path + ".partial";
  if (mkdir(partial_path.c_str(), 0755) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, partial_path, "make folder");
  }
  absl::StatusOr<FolderLock> lock = FolderLock::Take(partial_path, {absl::ZeroDuration(), nullptr});
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::AlreadyExistsError(lock.status().message());
  }
  if (!lock.ok()) return lock.status();
  std::unique_ptr<PartialFolder> folder(
      new PartialFolder(std::move(final_path), std::move(partial_path), *std::move(lock)));
  VICINITY_RETURN_IF_ERROR(ClearFolder(folder->partial_path_));
  return folder;
}

PartialFolder::PartialFolder(std::string final_path, std::string partial_path, FolderLock lock)
    : final_path_(std::move(final_path)),
      partial_path_(std::move(partial_path)),
      lock_(std::move(lock)) {}

PartialFolder::~PartialFolder() {
  if (!published_) {
    std::error_code ignored;  // nobody is left to tell; the next writer clears what stays
    std::filesystem::remove_all(partial_path_, ignored);
  }
}

absl::Status PartialFolder::MakeFolder(const std::string& name) {
  const std::string path = absl::StrCat(partial_path_, "/", name);
  if (mkdir(path.c_str(), 0755) != 0) return ErrnoStatus(errno, path, "make folder");
  return absl::OkStatus();
}

absl::Status PartialFolder::Publish() {
  // rename() itself would replace an empty folder.
  if (Exists(final_path_)) return absl::AlreadyExistsError(absl::StrCat(final_path_, ": exists"));
  if (std::rename(partial_path_.c_str(), final_path_.c_str()) != 0) {
    return ErrnoStatus(errno, final_path_, "rename");
  }
  absl::Status synced = SyncDirectory(ParentOf(final_path_));
  if (!synced.ok() && std::rename(final_path_.c_str(), partial_path_.c_str()) == 0) {
    return synced;  // what may be gone after a power cut is better not there before
  }
  published_ = true;
  lock_.Release();  // from now on it is a folder like any other
  return synced;
}

}  // namespace vicinity
