#include "tests/testing/damage.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "partition/manifest.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"

namespace vicinity::testing {
namespace {

void Require(bool worked, const std::string& path) {
  if (worked) return;
  std::perror(path.c_str());
  std::abort();
}

absl::Status ResealFile(const std::string& directory, proto::FileEntry* file) {
  VICINITY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(directory + "/" + file->path()));
  file->set_size(bytes.size());
  file->set_checksum(Checksum(bytes));
  return absl::OkStatus();
}

}  // namespace

void FlipBit(const std::string& path, int64_t offset, int bit) {
  const int fd = open(path.c_str(), O_RDWR);
  char byte = 0;
  Require(fd >= 0 && pread(fd, &byte, 1, offset) == 1, path);
  byte = static_cast<char>(byte ^ (1 << bit));
  Require(pwrite(fd, &byte, 1, offset) == 1, path);
  close(fd);
}

void Overwrite(const std::string& path, int64_t offset, std::string_view bytes) {
  const int fd = open(path.c_str(), O_RDWR);
  Require(fd >= 0 &&
              pwrite(fd, bytes.data(), bytes.size(), offset) == static_cast<ssize_t>(bytes.size()),
          path);
  close(fd);
}

void CutTo(const std::string& path, int64_t size) {
  Require(truncate(path.c_str(), size) == 0, path);
}

absl::Status Reseal(const std::string& directory) {
  VICINITY_ASSIGN_OR_RETURN(proto::Manifest manifest, ReadManifest(directory));
  for (proto::ShardEntry& shard : *manifest.mutable_shards()) {
    for (proto::FileEntry& file : *shard.mutable_files()) {
      VICINITY_RETURN_IF_ERROR(ResealFile(directory, &file));
    }
  }
  for (proto::Ranking& ranking : *manifest.mutable_rankings()) {
    for (proto::FileEntry& file : *ranking.mutable_files()) {
      VICINITY_RETURN_IF_ERROR(ResealFile(directory, &file));
    }
  }
  return WriteManifest(directory, std::move(manifest));
}

}  // namespace vicinity::testing
