// A stream of bytes in memory, which gives and takes pieces of any size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "proto/bulk/byte_stream.h"

namespace vicinity::testing {

// Threads: one at a time.
class PiecesStream final : public bulk::ByteStream {
 public:
  std::string to_read;      // what is still to come
  std::string written;      // so far
  size_t piece = SIZE_MAX;  // bytes that one Read or Write moves at most
  size_t room = SIZE_MAX;   // bytes that Write takes until it says that it takes none
  bool is_broken = false;

  absl::StatusOr<size_t> Read(absl::Span<const iovec> pieces) override {
    if (is_broken) return absl::UnavailableError("broken");
    size_t moved = 0;
    for (const iovec& each : pieces) {
      const size_t count = std::min({each.iov_len, to_read.size(), piece - moved});
      if (count > 0) std::memcpy(each.iov_base, to_read.data(), count);
      to_read.erase(0, count);
      moved += count;
    }
    return moved;
  }

  absl::StatusOr<size_t> Write(absl::Span<const iovec> pieces) override {
    if (is_broken) return absl::UnavailableError("broken");
    size_t moved = 0;
    for (const iovec& each : pieces) {
      const size_t count = std::min({each.iov_len, piece - moved, room - moved});
      written.append(static_cast<const char*>(each.iov_base), count);
      moved += count;
    }
    if (room != SIZE_MAX) room -= moved;
    return moved;
  }
};

}  // namespace vicinity::testing
