// The checksums that requests and replies carry from end to end; service.proto says of what.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace vicinity {

// A `bytes` field that lies beside its message and is empty in it.
struct BytesBeside {
  int field = 0;          // its number
  uint64_t size = 0;      // bytes
  uint64_t checksum = 0;  // XXH3-64 of them
};

// What `request` has to carry in `checksum`. `method` is its name: "FetchRows".
//
// Cost: the bytes fields read once; besides less than a microsecond for a small message.
uint64_t RequestChecksum(std::string_view method, const google::protobuf::Message& request,
                         absl::Span<const BytesBeside> beside = {});

// What `reply`, to a request whose checksum is `asked`, has to carry in `checksum`.
uint64_t ReplyChecksum(uint64_t asked, const google::protobuf::Message& reply,
                       absl::Span<const BytesBeside> beside = {});

}  // namespace vicinity
