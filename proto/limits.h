// How much one call moves and one message names at most: what both ends know without asking.
#pragma once

#include <cstdint>

namespace vicinity {

// Of one reply, and of one row. More is asked for by several calls, so that each ends within its
// timeout on slow links, too; what a call may take grows with the number of these.
inline constexpr int64_t kMaxCallBytes = int64_t{32} << 20;

// Of one request message; servers refuse larger ones.
inline constexpr int64_t kMaxRequestBytes = int64_t{8} << 20;

// Ids, of 8 bytes, in one request of ours: gRPC refuses messages above 4 MiB unless told otherwise.
// Servers may have narrower limits, which they tell in their Hello.
inline constexpr int64_t kMaxRequestIds = (int64_t{3} << 20) / 8;

// Names are of any length.
inline constexpr int64_t kMaxRequestNames = 65'536;

// Rows of ragged columns, whose lengths nobody knows before: of 8 KiB each they are what a call
// moves.
inline constexpr int64_t kMaxRequestRagged = 4'096;

// Rows that one request for those that meet a condition looks at: a reply that names all of them
// is what a call moves.
inline constexpr int64_t kMaxRequestLooked = kMaxCallBytes / 8;

// Places of a ranking.
inline constexpr int64_t kMaxRequestRanked = int64_t{1} << 20;

// Versions of a shard whose changes one request asks for.
inline constexpr int64_t kMaxRequestChanges = 65'536;

}  // namespace vicinity
