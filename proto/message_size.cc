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

}  // namespace vicinity
