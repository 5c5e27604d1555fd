#include "proto/message_size.h"

#include <google/protobuf/descriptor.h>

#include <string>

namespace vicinity {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

int64_t RepeatedElements(const Message& message) {
  const Descriptor* const type = message.GetDescriptor();
  int64_t elements = 0;
  for (int i = 0; i < type->field_count(); ++i) {
    if (!type->field(i)->is_repeated()) continue;
    elements += message.GetReflection()->FieldSize(message, type->field(i));
  }
  return elements;
}

int64_t RepeatedStringBytes(const Message& message) {
  const Descriptor* const type = message.GetDescriptor();
  const Reflection* const reflection = message.GetReflection();
  int64_t bytes = 0;
  std::string unused;
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* const field = type->field(i);
    if (!field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
    for (int k = 0; k < reflection->FieldSize(message, field); ++k) {
      bytes += static_cast<int64_t>(
          reflection->GetRepeatedStringReference(message, field, k, &unused).size());
    }
  }
  return bytes;
}

}  // namespace vicinity
