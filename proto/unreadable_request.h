// What a server says of a request that is no message.
#pragma once

namespace vicinity {

// The text of the INVALID_ARGUMENT. Who knows that its request was one when it left takes it for
// damaged on the way.
inline constexpr char kUnreadableRequest[] = "the request cannot be parsed";

}  // namespace vicinity
