// Which fields of service.proto's messages are bulk arrays.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace vicinity {

// A `bytes` field with a number from the first to the last is one. No other field has such a
// number, in any message: who reads a message takes what has one for bulk (proto/sliced_message.h).
// In a message that has any, no other field has a higher one.
inline constexpr int kFirstBulkField = 13;
inline constexpr int kLastBulkField = 31;

struct BulkField {
  int number;
  std::string* bytes;
};

// Those of a message, by rising number: an overload for each that has any, made from service.proto.
#include "proto/bulk_fields_list.inc"
template <typename Message>
std::vector<BulkField> BulkFields(Message*) {
  return {};
}

// Bytes in those of any message.
inline int64_t BulkBytes(const google::protobuf::Message& message) {
  const google::protobuf::Descriptor* type = message.GetDescriptor();
  int64_t bytes = 0;
  std::string unused;
  for (int i = 0; i < type->field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *type->field(i);
    if (field.type() != google::protobuf::FieldDescriptor::TYPE_BYTES) continue;
    if (field.number() < kFirstBulkField || field.number() > kLastBulkField) continue;
    bytes += static_cast<int64_t>(
        message.GetReflection()->GetStringReference(message, type->field(i), &unused).size());
  }
  return bytes;
}

}  // namespace vicinity
