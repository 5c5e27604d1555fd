// Ways to damage files, for tests of those who must notice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace vicinity::testing {

// Each ends the process if the file cannot be changed, for the test would then test nothing.
void FlipBit(const std::string& path, int64_t offset, int bit = 0);
void Overwrite(const std::string& path, int64_t offset, std::string_view bytes);
void CutTo(const std::string& path, int64_t size);

template <typename T>
void OverwriteValue(const std::string& path, int64_t offset, T value) {
  Overwrite(path, offset, {reinterpret_cast<const char*>(&value), sizeof(value)});
}

// Makes the manifest's sizes and checksums right for the files as they are now, so that only those
// who look at the content can tell.
absl::Status Reseal(const std::string& directory);

// Makes a sound dataset one of format version 1, as builds before page sums wrote them; its
// rankings and indexes are forgotten.
absl::Status MakeVersion1(const std::string& directory);

}  // namespace vicinity::testing
