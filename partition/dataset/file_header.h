// The 64 bytes that every data file begins with: what the file is and how long it must be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/manifest.h"

namespace vicinity {

// Stored in files: numbers are never used again for something else.
enum class FileKind : uint32_t {
  kKeys = 1,
  kRaggedOffsets = 2,
  kRaggedBytes = 3,
  kColumn = 4,  // of nodes or edges
  kDirectoryKeys = 5,
  kDirectoryNodes = 6,
  kOffsets = 7,
  kSources = 8,
  kEdgeIds = 9,
  kRanking = 10,
  kWeights = 11,
  kIndex = 12,
};
std::string_view FileKindName(FileKind kind);  // "edge ids"

// Little-endian, like all data here; the machine must be too (checked at compile time).
struct FileHeader {
  char magic[8];  // "VICINITY"
  uint32_t format_version;
  uint32_t kind;
  uint64_t num_rows;
  uint64_t row_bytes;
  uint8_t reserved[24];  // zero
  uint64_t checksum;     // XXH3-64 of the 56 bytes before
};
static_assert(sizeof(FileHeader) == 64);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

FileHeader MakeHeader(FileKind kind, int64_t num_rows, int64_t row_bytes,
                      uint32_t format_version = kFormatVersion);

// The header of a mapped file whose path is for error texts. DataLoss: shorter than a header, no
// magic, wrong header checksum, another kind, or rows x stride that do not make this size.
// FailedPrecondition: a newer format version.
absl::StatusOr<FileHeader> ReadHeader(const std::string& path, std::string_view bytes,
                                      FileKind kind);

}  // namespace vicinity
