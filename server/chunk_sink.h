// How streaming handlers hand out their reply, whoever carries it away.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace vicinity {

// Takes the next chunk of a reply. The sink may move the chunk's bytes away: a handler fills in
// every field anew for the next one. False: nobody waits for the rest (the caller is gone, its
// deadline is over, or the server stops), so the handler ends with GoneError().
template <typename Chunk>
using ChunkSink = absl::FunctionRef<bool(Chunk* chunk)>;

// True: nobody waits for the answer any more. Handlers that work long before they answer ask
// every millisecond or so.
using IsGone = absl::FunctionRef<bool()>;

inline absl::Status GoneError() {
  return absl::CancelledError("the caller is gone or its deadline is over");
}

}  // namespace vicinity
