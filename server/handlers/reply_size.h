// How large a reply can get, told from the request before anything is allocated or read.
//
// Beside the handler of each request for data there is
//   int64_t ReplyBytes(const ServerState& state, const proto::XRequest& request);
// the payload bytes that the reply has at most, as an estimate where only reading the graph would
// tell. It is 0 for a request that its handler will refuse anyway. Whatever the request says,
// nothing overflows: what is too large is INT64_MAX.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vicinity {

inline constexpr int64_t kIdBytes = 8;

using WideBytes = unsigned __int128;
inline int64_t ClampBytes(WideBytes bytes) {
  return static_cast<int64_t>(std::min<WideBytes>(bytes, WideBytes{INT64_MAX}));
}

}  // namespace vicinity
