// Reading and writing DIR/manifest.textproto.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/manifest.pb.h"

namespace vicinity {

inline constexpr uint32_t kFormatVersion = 1;

// The file's text form ends in a checksum line; a torn, changed or newer manifest is refused.
// Checks relative paths too: none may leave the directory.
absl::StatusOr<proto::Manifest> ReadManifest(const std::string& directory);

// Sets format_version and fingerprint, and writes atomically.
absl::Status WriteManifest(const std::string& directory, proto::Manifest manifest);

// XXH3-64 over schema, book and the data files' entries: the same for the same content.
uint64_t Fingerprint(const proto::Manifest& manifest);

}  // namespace vicinity
