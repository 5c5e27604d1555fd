#include "partition/dataset/file_header.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/checksum.h"

namespace vicinity {
namespace {

constexpr char kMagic[8] = {'V', 'I', 'C', 'I', 'N', 'I', 'T', 'Y'};

uint64_t HeaderChecksum(const FileHeader& header) {
  return Checksum({reinterpret_cast<const char*>(&header), offsetof(FileHeader, checksum)});
}

std::string KindText(uint32_t kind) {
  return absl::StrCat(kind, " (", std::string(FileKindName(static_cast<FileKind>(kind))), ")");
}

// 0: no file is as large.
uint64_t StatedSize(const FileHeader& header) {
  constexpr uint64_t kLargest = uint64_t{1} << 62;
  const unsigned __int128 stated =
      static_cast<unsigned __int128>(header.num_rows) * header.row_bytes + sizeof(header);
  if (stated > kLargest) return 0;
  if (header.format_version == 1) return static_cast<uint64_t>(stated);
  return static_cast<uint64_t>(LayoutOf(static_cast<int64_t>(stated)).file_bytes());
}

}  // namespace

std::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kKeys:
      return "keys";
    case FileKind::kRaggedOffsets:
      return "ragged offsets";
    case FileKind::kRaggedBytes:
      return "ragged bytes";
    case FileKind::kColumn:
      return "column";
    case FileKind::kDirectoryKeys:
      return "directory keys";
    case FileKind::kDirectoryNodes:
      return "directory nodes";
    case FileKind::kOffsets:
      return "offsets";
    case FileKind::kSources:
      return "sources";
    case FileKind::kEdgeIds:
      return "edge ids";
    case FileKind::kWeights:
      return "weights";
    case FileKind::kRanking:
      return "ranking";
    case FileKind::kIndex:
      return "index";
  }
  return "unknown";
}

FileHeader MakeHeader(FileKind kind, int64_t num_rows, int64_t row_bytes, uint32_t format_version) {
  FileHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.format_version = format_version;
  header.kind = static_cast<uint32_t>(kind);
  header.num_rows = static_cast<uint64_t>(num_rows);
  header.row_bytes = static_cast<uint64_t>(row_bytes);
  header.checksum = HeaderChecksum(header);
  return header;
}

absl::StatusOr<FileHeader> ReadHeader(const std::string& path, std::string_view bytes,
                                      FileKind kind) {
  FileHeader header;
  if (bytes.size() < sizeof(header)) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", bytes.size(), " bytes are fewer than a header has (64)"));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return absl::DataLossError(absl::StrCat(path, ": does not begin with VICINITY"));
  }
  if (const uint64_t found = HeaderChecksum(header); found != header.checksum) {
    return absl::DataLossError(absl::StrCat(path, ": header checksum is ", absl::Hex(found),
                                            ", stored is ", absl::Hex(header.checksum)));
  }
  if (header.format_version > kFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": format version ", header.format_version,
                     " is newer than this build's ", kFormatVersion));
  }
  if (header.kind != static_cast<uint32_t>(kind)) {
    return absl::DataLossError(absl::StrCat(path, ": file kind is ", KindText(header.kind),
                                            ", expected ", KindText(static_cast<uint32_t>(kind))));
  }
  if (header.num_rows > INT64_MAX || StatedSize(header) != bytes.size()) {
    return absl::DataLossError(absl::StrCat(path, ": ", header.num_rows, " rows of ",
                                            header.row_bytes, " bytes do not make a file of ",
                                            bytes.size(), " bytes"));
  }
  return header;
}

}  // namespace vicinity
