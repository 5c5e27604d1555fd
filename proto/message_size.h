// How much a message repeats, told from its fields, so that no list of them is kept by hand.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>

namespace vicinity {

// Elements of all repeated fields of the message itself, not of those within them.
int64_t RepeatedElements(const google::protobuf::Message& message);

}  // namespace vicinity
