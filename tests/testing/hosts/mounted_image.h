// A real file system in a file: small enough to be filled, and to be copied as its disk would be
// found after a power cut.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity::testing {

enum class ImageKind { kExt4, kBtrfs };

// Makes a file system of so many bytes in a file, which is sparse. Unavailable, with words, where
// its program is not installed.
absl::Status MakeImage(ImageKind kind, const std::string& image, int64_t bytes);

// Threads:  one at a time, the one that mounted it.
// Lifetime: the mount is seen by the thread that made it and by what it starts, and is gone with
//           them at the latest: each has a mount namespace of its own from the first one on.
class MountedImage {
 public:
  // At a folder that is made if there is none. Unavailable, with words, where nobody may: not root,
  // or in a sandbox.
  static absl::StatusOr<std::unique_ptr<MountedImage>> Mount(const std::string& image,
                                                             const std::string& folder);
  // Files that are still open keep their file system until they are closed.
  ~MountedImage();
  MountedImage(const MountedImage&) = delete;
  MountedImage& operator=(const MountedImage&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  explicit MountedImage(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
};

}  // namespace vicinity::testing
