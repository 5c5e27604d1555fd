// How handlers make their replies, whoever carries them away.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity {

// True: nobody waits for the answer any more. Handlers that work long before they answer ask
// every millisecond or so.
using IsGone = absl::FunctionRef<bool()>;

inline absl::Status GoneError() {
  return absl::CancelledError("the caller is gone or its deadline is over");
}

// What ChunkSource::Next has made.
enum class Piece {
  kNothing,  // no chunk: the reply has none
  kMore,     // a chunk, and others follow
  kLast,     // the reply's last chunk
};

// A reply that is made when it is asked for, chunk by chunk, so that no thread waits while one is
// on its way.
//
// Threads:  any, one at a time.
// Lifetime: the server's state and the request that it was opened with outlive it.
template <typename Chunk>
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // Makes the next chunk. Whoever has sent one may have moved its bytes away: every field is filled
  // in anew. After kNothing, kLast or an error it is asked no more.
  virtual absl::StatusOr<Piece> Next(Chunk* chunk, IsGone is_gone) = 0;
};

}  // namespace vicinity
