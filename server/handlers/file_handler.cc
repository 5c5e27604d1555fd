#include "server/handlers/file_handler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/shard_files.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

// Null: no file of a shard that is wanted here, nor of a ranking in its folder.
const proto::FileEntry* FindEntry(const Dataset& dataset, const std::string& path, ShardId* shard) {
  for (const ShardId id : dataset.wanted()) {
    const std::string folder = absl::StrCat(ShardFolder(id), "/");
    if (!absl::StartsWith(path, folder)) continue;
    *shard = id;
    for (const proto::FileEntry* const file : FilesOfShard(dataset.manifest(), id)) {
      if (file->path() == path) return file;
    }
    for (const proto::Ranking& ranking : dataset.manifest().rankings()) {
      for (const proto::FileEntry& file : ranking.files()) {
        if (file.path() == path) return &file;
      }
    }
  }
  return nullptr;
}

absl::StatusOr<std::string> ReadPiece(const std::string& path, uint64_t offset, uint64_t size) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::DataLossError(ErrnoStatus(errno, path, "open").message());
  std::string bytes(size, '\0');
  size_t got = 0;
  absl::Status status;
  while (got < size) {
    const ssize_t more = pread(fd, &bytes[got], size - got, static_cast<off_t>(offset + got));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) {
      status = absl::DataLossError(absl::StrCat(path, ": cannot be read at byte ", offset + got));
      break;
    }
    got += static_cast<size_t>(more);
  }
  close(fd);
  if (!status.ok()) return status;
  return bytes;
}

// As it is on the disk now, which a new ranking may have changed.
absl::StatusOr<proto::ReadFileReply> ReadManifestPiece(const Dataset& dataset, uint64_t offset) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(ManifestPath(dataset.directory())));
  proto::ReadFileReply reply;
  reply.set_size(text.size());
  reply.set_data(text.substr(std::min<uint64_t>(offset, text.size()), kPieceBytes));
  return reply;
}

}  // namespace

absl::StatusOr<proto::ReadFileReply> ReadFilePiece(const Dataset& dataset,
                                                   const proto::ReadFileRequest& request) {
  if (request.fingerprint() != dataset.fingerprint()) {
    return absl::FailedPreconditionError(
        absl::StrCat("this server has the dataset with fingerprint ",
                     absl::Hex(dataset.fingerprint(), absl::kZeroPad16), ", the caller means ",
                     absl::Hex(request.fingerprint(), absl::kZeroPad16)));
  }
  if (request.path() == std::filesystem::path(ManifestPath("")).filename()) {
    return ReadManifestPiece(dataset, request.offset());
  }
  ShardId shard{0};
  const proto::FileEntry* const entry = FindEntry(dataset, request.path(), &shard);
  if (entry == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("\"", request.path(), "\" is no file that is served here"));
  }
  VICINITY_RETURN_IF_ERROR(dataset.fault(shard));
  if (request.offset() > entry->size()) {
    return absl::InvalidArgumentError(absl::StrCat("byte ", request.offset(), " of ",
                                                   request.path(), ", which has ", entry->size()));
  }
  proto::ReadFileReply reply;
  reply.set_size(entry->size());
  VICINITY_ASSIGN_OR_RETURN(
      *reply.mutable_data(),
      ReadPiece(absl::StrCat(dataset.directory(), "/", entry->path()), request.offset(),
                std::min(kPieceBytes, entry->size() - request.offset())));
  return reply;
}

}  // namespace vicinity
