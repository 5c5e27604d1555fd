// One operation as a row of pieces: what is too large for one call is made by several.
#pragma once

#include <cstdint>
#include <functional>

#include "client/shards/fan_out.h"

namespace vicinity {

// Starts piece `index`; calls `done` as any call does.
using StartPiece = std::function<void(int64_t index, Done done)>;

// Runs pieces 0 .. num_pieces - 1 in this order, at most `width` > 0 at a time. After the first
// that fails no more are started. Calls `done` once, with the first error, when no piece is running
// any more.
//
// `start` is kept until then. No piece waits for another's thread: the next is started where one
// ends.
void RunPieces(int64_t num_pieces, int width, StartPiece start, Done done);

}  // namespace vicinity
