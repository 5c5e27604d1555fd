#include "client/cli/flags/server_files.h"

#include <filesystem>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/cli/flags/server_call.h"
#include "partition/dataset/manifest.h"
#include "proto/admin.grpc.pb.h"
#include "proto/common/status.h"

namespace vicinity::cli {

using proto::Admin;

absl::Status ServerFiles::Read(const proto::FileEntry& file, const Take& take) {
  std::string tried;
  for (const ServerTarget& target : targets_) {
    uint64_t taken = 0;
    absl::Status status = ReadFrom(target, file.path(), take, &taken);
    if (status.ok() && taken < file.size()) {
      status = absl::DataLossError(absl::StrCat(file.path(), " ends at byte ", taken));
    }
    // What has been taken cannot be given back.
    if (status.ok() || taken > 0) return At(target.name, status);
    absl::StrAppend(&tried, tried.empty() ? "" : "; ", target.name, ": ",
                    std::string(status.message()));
  }
  return absl::UnavailableError(absl::StrCat(file.path(), ": no server has it: ", tried));
}

absl::StatusOr<std::string> ServerFiles::ReadManifestText() const {
  std::string tried;
  for (const ServerTarget& target : targets_) {
    std::string text;
    uint64_t taken = 0;
    const absl::Status status = ReadFrom(
        target, std::filesystem::path(ManifestPath("")).filename(),
        [&text](std::string_view bytes) {
          text.append(bytes);
          return absl::OkStatus();
        },
        &taken);
    if (status.ok()) return text;
    absl::StrAppend(&tried, tried.empty() ? "" : "; ", target.name, ": ",
                    std::string(status.message()));
  }
  return absl::UnavailableError(absl::StrCat("no server has the manifest: ", tried));
}

absl::Status ServerFiles::ReadFrom(const ServerTarget& target, const std::string& path,
                                   const Take& take, uint64_t* taken) const {
  proto::ReadFileRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_path(path);
  for (uint64_t size = 1; *taken < size;) {
    request.set_offset(*taken);
    VICINITY_ASSIGN_OR_RETURN(const proto::ReadFileReply reply,
                              CallServer<Admin>(target, timeout_, &Admin::Stub::ReadFile, request));
    size = reply.size();
    if (reply.data().empty()) break;
    VICINITY_RETURN_IF_ERROR(take(reply.data()));
    *taken += reply.data().size();
  }
  return absl::OkStatus();
}

}  // namespace vicinity::cli
