// A request's message, made of the bytes that came for it.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// Messages within a request, at any depth, texts in lists, and fields that nobody knows: what 1,024
// relations need, one for every edge type that a schema may have, with a condition of 256 terms
// each. In memory a part takes a hundred bytes.
inline constexpr int64_t kMaxRequestParts = 1'024 * 260;
// Numbers in a request's lists (not in its bulk arrays): what as many conditions on 1,024 numbers
// need.
inline constexpr int64_t kMaxRequestNumbers = 1'024 * 1'024;

// Reads `bytes` into `request`, which is empty, and clears them. `method` is for the error.
//
//   Aborted           they are no such message: UnreadableRequest
//   InvalidArgument   they have more parts, or more numbers in lists, than that. It is found out
//                     before the message is made, which then takes no memory.
absl::Status ReadRequest(absl::string_view method, grpc::ByteBuffer* bytes,
                         google::protobuf::Message* request);

absl::Status UnreadableRequest();

}  // namespace vicinity
