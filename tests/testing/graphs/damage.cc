#include "tests/testing/graphs/damage.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/types/span.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/page_sums.h"
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

// Sums and roots of a file whose header can be believed; 0 for any other.
uint64_t ResealPages(const std::string& path, std::string* bytes) {
  FileHeader header;
  if (bytes->size() < sizeof(header)) return 0;
  std::memcpy(&header, bytes->data(), sizeof(header));
  if (!ReadHeader(path, *bytes, static_cast<FileKind>(header.kind)).ok()) return 0;
  const PageLayout layout =
      LayoutOf(static_cast<int64_t>(sizeof(header) + header.num_rows * header.row_bytes));
  const uint64_t checksum = SealPages(layout, absl::MakeSpan(*bytes));
  Overwrite(path, 0, *bytes);
  return checksum;
}

absl::Status ResealFile(const std::string& directory, proto::FileEntry* file) {
  const std::string path = directory + "/" + file->path();
  VICINITY_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  file->set_pages_checksum(ResealPages(path, &bytes));
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

absl::Status MakeVersion1(const std::string& directory) {
  VICINITY_ASSIGN_OR_RETURN(proto::Manifest manifest, ReadManifest(directory));
  manifest.set_format_version(1);
  manifest.clear_rankings();
  manifest.clear_indexes();
  for (proto::ShardEntry& shard : *manifest.mutable_shards()) {
    for (proto::FileEntry& file : *shard.mutable_files()) {
      const std::string path = directory + "/" + file.path();
      VICINITY_ASSIGN_OR_RETURN(std::string bytes,
                                ReadFile(path, static_cast<int64_t>(file.size())));
      FileHeader header;
      std::memcpy(&header, bytes.data(), sizeof(header));
      header = MakeHeader(static_cast<FileKind>(header.kind), header.num_rows, header.row_bytes, 1);
      bytes.resize(sizeof(header) + header.num_rows * header.row_bytes);
      std::memcpy(&bytes[0], &header, sizeof(header));
      VICINITY_RETURN_IF_ERROR(WriteFileAtomically(path, bytes));
      file.set_size(bytes.size());
      file.set_checksum(Checksum(bytes));
      file.clear_pages_checksum();
    }
  }
  return WriteManifest(directory, std::move(manifest));
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
  for (proto::Index& index : *manifest.mutable_indexes()) {
    for (proto::FileEntry& file : *index.mutable_files()) {
      VICINITY_RETURN_IF_ERROR(ResealFile(directory, &file));
    }
  }
  return WriteManifest(directory, std::move(manifest));
}

}  // namespace vicinity::testing
