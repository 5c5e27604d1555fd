// A request as it came over the wire, before anything parses it: where its head ends, and what of
// it the parser gets to see.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace vicinity {

// Of a request's line and headers together.
inline constexpr size_t kMaxHeadBytes = 16 << 10;

// The bytes of the first request's head in `received`, its empty line included; 0: it has not all
// come.
size_t HeadLength(absl::string_view received);

// The head with no other headers than Host, Authorization and Connection. Nobody who asks may have
// replies compressed (which costs the server far more than the asker), cut into overlapping ranges,
// or a body read. Empty if there are line ends of another kind, by which one header could hide in
// another, or NUL.
std::string StrippedHead(absl::string_view head);

// Whether a body follows, which nobody reads: the connection cannot go on after the reply.
bool HasBody(absl::string_view head);

}  // namespace vicinity
