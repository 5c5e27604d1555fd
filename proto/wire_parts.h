// What the bytes of a message hold, counted before a message is made of them.
//
// An empty message within another takes two bytes on the wire and some hundred in memory, so bytes
// that are few make a message that is large. Who takes bytes from strangers counts first.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstdint>
#include <optional>

namespace vicinity {

struct WireParts {
  // Messages within it, at any depth, texts of repeated fields, and fields that the message's type
  // does not know, which protobuf keeps: what gets memory of its own.
  int64_t parts = 0;
  // Numbers in repeated fields, at any depth.
  int64_t numbers = 0;
};

// Counts in the next `size` bytes, which should be a message of the type `type`. Stops as soon as
// there is more of something than `most` says; what it returns says so. Nothing if they are no
// such message up to there: then protobuf does not read it either. What protobuf reads is counted.
//
// Threads: any.
// Cost:    goes with the number of fields and of numbers in repeated ones. The bytes of texts and
//          of bulk arrays are skipped.
std::optional<WireParts> CountWireParts(const google::protobuf::Descriptor& type, int64_t size,
                                        const WireParts& most,
                                        google::protobuf::io::ZeroCopyInputStream* bytes);

}  // namespace vicinity
