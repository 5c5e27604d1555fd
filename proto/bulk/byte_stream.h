// What frames come and go over.
#pragma once

#include <sys/uio.h>

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace vicinity::bulk {

// A connection that does not block.
//
// Threads: one reads, and one writes, at the same time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Before all else, and whenever the socket can be read until it is done: true, bytes may come and
  // go; false, the other end has to say something first. Unavailable, with what is wrong.
  virtual absl::StatusOr<bool> Begin() { return true; }
  // How many bytes were read into the pieces; fewer than they hold: there are no more now.
  // Unavailable, with what the system said, when the other end is gone.
  virtual absl::StatusOr<size_t> Read(absl::Span<const iovec> pieces) = 0;
  // How many of the pieces' bytes were taken; 0: none can be now. Those that were not come again
  // with the next call, before others. Unavailable likewise.
  virtual absl::StatusOr<size_t> Write(absl::Span<const iovec> pieces) = 0;
};

// A connected socket, whose owner outlives this.
class SocketStream final : public ByteStream {
 public:
  explicit SocketStream(int fd) : fd_(fd) {}

  absl::StatusOr<size_t> Read(absl::Span<const iovec> pieces) override;
  absl::StatusOr<size_t> Write(absl::Span<const iovec> pieces) override;

 private:
  const int fd_;
};

}  // namespace vicinity::bulk
