// A version of a shard, named for good.
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <cstdint>
#include <optional>

namespace vicinity {

// A version that is lost together with the shard's writer is numbered again by the next writer, in
// a later term. So the number and the term in which the version was written name it together.
struct VersionName {
  VersionName() = default;
  // Implicit: of numbers alone, whatever their terms.
  VersionName(uint64_t version) : version(version) {}  // NOLINT(google-explicit-constructor)
  VersionName(uint64_t version, uint64_t term) : version(version), term(term) {}

  bool operator==(const VersionName& other) const {
    return version == other.version && term == other.term;
  }
  bool operator!=(const VersionName& other) const { return !(*this == other); }

  uint64_t version = 0;            // batches that were committed; 0: the files alone
  std::optional<uint64_t> term{};  // none: whichever the version has
};

}  // namespace vicinity
