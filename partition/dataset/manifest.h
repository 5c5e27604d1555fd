// Reading and writing DIR/manifest.textproto.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// 2: data files have sums of their pages (partition/dataset/page_sums.h). Version 1, which has
// none, is still read, and stays what it is when a ranking is added.
inline constexpr uint32_t kFormatVersion = 2;

std::string ManifestPath(const std::string& directory);  // DIR/manifest.textproto

// The file's text form ends in a checksum line. DataLoss: torn or changed, unknown fields, a path
// that leaves the directory, a fingerprint that is not the content's. FailedPrecondition: newer
// than this build. NotFound: no manifest there. Schema and book are for their own readers to check.
absl::StatusOr<proto::Manifest> ReadManifest(const std::string& directory);

// Sets the fingerprint, and format_version where it is 0, and writes atomically. InvalidArgument
// for such paths.
absl::Status WriteManifest(const std::string& directory, proto::Manifest manifest);

// The files that are mapped as the shard: what its schema makes, and its part of stored indexes.
std::vector<const proto::FileEntry*> FilesOfShard(const proto::Manifest& manifest, ShardId shard);

// XXH3-64 over schema, book and the data files' entries: the same for the same content.
uint64_t Fingerprint(const proto::Manifest& manifest);

}  // namespace vicinity
