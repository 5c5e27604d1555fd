// Frames out of a stream of bytes, as they come.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/frame.h"

namespace vicinity::bulk {

// Payloads are read straight into one buffer, which is used again and again, so that it stays in
// the processor's cache; what comes behind a payload by the same read lies apart.
//
// Threads: one at a time.
// Memory:  4 KiB, and the largest payload so far; of it at most `keep_bytes` from one frame to the
//          next. Memory for a payload is there before its bytes, but touched only by them.
class FrameReader {
 public:
  // What is done with frames. An error from it ends the reading, and is what ReadFrom returns.
  class Handler {
   public:
    // A frame begins: header and head are right, the payload is still to come.
    virtual absl::Status OnHeader(const FrameHeader& header, std::string_view head) = 0;
    // It is there. The payload lies there until this returns.
    virtual absl::Status OnFrame(const FrameHeader& header, std::string_view head,
                                 std::string_view payload) = 0;

   protected:
    ~Handler() = default;
  };

  // `sender`: who is at the other end.
  FrameReader(Sender sender, size_t keep_bytes) : sender_(sender), keep_bytes_(keep_bytes) {}

  // Reads until a read brings less than it could (true: there is nothing left for now), or some two
  // megabytes have come (false), so that others have their turn. Errors: the stream's,
  // DecodeHeader's, CheckHeader's, the handler's; after one there is nothing to be read any more.
  absl::StatusOr<bool> ReadFrom(ByteStream* stream, Handler* handler);

 private:
  static constexpr size_t kAheadBytes = 4096;

  // False: there was less than there was room for.
  absl::StatusOr<bool> Fill(ByteStream* stream);
  // Takes apart what has come; false: more is needed.
  absl::StatusOr<bool> Advance(Handler* handler);
  size_t Take(char* to, size_t count);
  void MakeRoom();

  const Sender sender_;
  const size_t keep_bytes_;
  // Read and not yet taken apart: ahead_[first_ahead_, end_ahead_).
  std::array<char, kAheadBytes> ahead_;
  size_t first_ahead_ = 0;
  size_t end_ahead_ = 0;
  // The frame that is being read: its bytes so far.
  HeaderBytes header_bytes_;
  size_t num_header_ = 0;
  FrameHeader header_;  // once they are all there
  bool has_header_ = false;
  std::string head_;
  size_t num_head_ = 0;
  bool has_head_ = false;  // and its checksum is right
  std::unique_ptr<char[]> payload_;
  size_t capacity_ = 0;
  size_t num_payload_ = 0;
  size_t total_ = 0;  // bytes of this turn
};

}  // namespace vicinity::bulk
