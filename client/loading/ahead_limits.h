// What a loader may know ahead takes memory: how it is counted, for the loader and for what
// foretells it (client/planning/loader_forecast.h).
#pragma once

#include <cstdint>

namespace vicinity {

// Sampled batches whose ids are announced to the cache: this part of LoaderOptions::window_bytes,
// on top of the window.
inline constexpr int64_t kAnnouncedShare = 2;
// Of it, for each id and column that has a cache, beside the batch's own lists
// (cache/pool/look_ahead_planner.h).
inline constexpr int64_t kAnnouncedIdBytes = 48;

}  // namespace vicinity
