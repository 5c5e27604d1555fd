// What a message holds, counted in the message: the oracle of proto/wire_parts.h.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstdint>
#include <vector>

#include "proto/wire_parts.h"

namespace vicinity::testing {

inline int64_t UnknownParts(const google::protobuf::UnknownFieldSet& unknown) {
  int64_t parts = unknown.field_count();
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField& field = unknown.field(i);
    if (field.type() == google::protobuf::UnknownField::TYPE_GROUP) {
      parts += UnknownParts(field.group());
    }
  }
  return parts;
}

inline void AddParsedParts(const google::protobuf::Message& message, WireParts* found) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  found->parts += UnknownParts(reflection.GetUnknownFields(message));
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      if (!is_message) continue;
      ++found->parts;
      AddParsedParts(reflection.GetMessage(message, field), found);
      continue;
    }
    const int size = reflection.FieldSize(message, field);
    const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    (is_message || is_text ? found->parts : found->numbers) += size;
    for (int i = 0; is_message && i < size; ++i) {
      AddParsedParts(reflection.GetRepeatedMessage(message, field, i), found);
    }
  }
}

inline WireParts ParsedParts(const google::protobuf::Message& message) {
  WireParts found;
  AddParsedParts(message, &found);
  return found;
}

}  // namespace vicinity::testing
