#include "tests/testing/hosts/mounted_image.h"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/common/status.h"
#include "tests/testing/hosts/running_program.h"

namespace vicinity::testing {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(60);

absl::Status Run(const std::vector<std::string>& command) {
  const auto program = RunningProgram::Start(command);
  if (!program.ok()) return absl::UnavailableError(program.status().message());
  VICINITY_ASSIGN_OR_RETURN(const int code, (*program)->WaitForExit(kLimit));
  if (code == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(command[0], " ended with ", code, ": ", (*program)->output()));
}

absl::Status HaveOwnNamespace() {
  thread_local bool has_one = false;
  if (has_one) return absl::OkStatus();
  // Else what is mounted here would be mounted outside, too.
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return absl::UnavailableError(absl::StrCat("no mount namespace: ", std::strerror(errno)));
  }
  has_one = true;
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeImage(ImageKind kind, const std::string& image, int64_t bytes) {
  std::error_code error;
  std::ofstream(image, std::ios::binary).flush();
  std::filesystem::resize_file(image, static_cast<uintmax_t>(bytes), error);
  if (error) return absl::UnavailableError(absl::StrCat(image, ": ", error.message()));
  if (kind == ImageKind::kBtrfs) return Run({"/usr/sbin/mkfs.btrfs", "-q", image});
  return Run({"/usr/sbin/mkfs.ext4", "-q", "-F", "-m", "0", image});
}

absl::StatusOr<std::unique_ptr<MountedImage>> MountedImage::Mount(const std::string& image,
                                                                  const std::string& folder) {
  VICINITY_RETURN_IF_ERROR(HaveOwnNamespace());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  VICINITY_RETURN_IF_ERROR(Run({"/bin/mount", "-o", "loop", image, folder}));
  return std::unique_ptr<MountedImage>(new MountedImage(folder));
}

MountedImage::~MountedImage() {
  if (umount(folder_.c_str()) != 0) umount2(folder_.c_str(), MNT_DETACH);
}

}  // namespace vicinity::testing
