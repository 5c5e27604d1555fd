#include "proto/wire_checksum.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/reflection.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "proto/common/checksum.h"

namespace vicinity {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// One value of a message: of a repeated field the `index`-th, which is -1 for any other.
struct Value {
  const Message& message;
  const FieldDescriptor* field;
  int index;

  template <typename T>
  T Get(T (Reflection::*one)(const Message&, const FieldDescriptor*) const,
        T (Reflection::*nth)(const Message&, const FieldDescriptor*, int) const) const {
    const Reflection* reflection = message.GetReflection();
    return index < 0 ? (reflection->*one)(message, field)
                     : (reflection->*nth)(message, field, index);
  }
  const std::string& GetString(std::string* scratch) const {
    const Reflection* reflection = message.GetReflection();
    return index < 0 ? reflection->GetStringReference(message, field, scratch)
                     : reflection->GetRepeatedStringReference(message, field, index, scratch);
  }
  const Message& GetMessage() const {
    const Reflection* reflection = message.GetReflection();
    return index < 0 ? reflection->GetMessage(message, field)
                     : reflection->GetRepeatedMessage(message, field, index);
  }
};

// From this number on fields are hints.
constexpr int kFirstHint = 1000;

// In the order of their numbers, which the descriptor's need not be, and without hints.
std::vector<const FieldDescriptor*> FieldsOf(const Message& message) {
  const google::protobuf::Descriptor* type = message.GetDescriptor();
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->number() < kFirstHint) fields.push_back(type->field(i));
  }
  std::sort(fields.begin(), fields.end(), [](const FieldDescriptor* a, const FieldDescriptor* b) {
    return a->number() < b->number();
  });
  return fields;
}

// Collects the words of a message.
class Words {
 public:
  void Add(uint64_t word) { words_.push_back(word); }
  void AddBytes(std::string_view bytes) {
    Add(bytes.size());
    Add(Checksum(bytes));
  }
  // All fields but those of `without`.
  void AddMessage(const Message& message, std::string_view without,
                  absl::Span<const BytesBeside> beside);
  uint64_t Sum() const {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are hashed as they lie");
    return Checksum(
        {reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(uint64_t)});
  }

 private:
  void AddField(const Message& message, const FieldDescriptor* field);
  void AddRepeated(const Message& message, const FieldDescriptor* field);
  void AddValue(const Value& value);
  void AddDouble(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    Add(bits);
  }

  std::vector<uint64_t> words_;
};

void Words::AddMessage(const Message& message, std::string_view without,
                       absl::Span<const BytesBeside> beside) {
  for (const FieldDescriptor* field : FieldsOf(message)) {
    if (field->name() == without) continue;
    const auto found = std::find_if(beside.begin(), beside.end(), [field](const BytesBeside& one) {
      return one.field == field->number();
    });
    if (found == beside.end()) {
      AddField(message, field);
    } else if (found->size > 0) {
      Add(field->number());
      Add(found->size);
      Add(found->checksum);
    }
  }
}

void Words::AddField(const Message& message, const FieldDescriptor* field) {
  if (field->is_repeated()) return AddRepeated(message, field);
  if (!message.GetReflection()->HasField(message, field)) return;
  const size_t before = words_.size();
  Add(field->number());
  AddValue({message, field, -1});
  // One that says nothing is as one that is not there.
  const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (is_message && words_.size() == before + 2) words_.resize(before);
}

void Words::AddRepeated(const Message& message, const FieldDescriptor* field) {
  const int size = message.GetReflection()->FieldSize(message, field);
  if (size == 0) return;
  Add(field->number());
  Add(size);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    // What large messages have many of.
    const auto numbers = message.GetReflection()->GetRepeatedFieldRef<uint64_t>(message, field);
    words_.insert(words_.end(), numbers.begin(), numbers.end());
    return;
  }
  for (int i = 0; i < size; ++i) AddValue({message, field, i});
}

void Words::AddValue(const Value& value) {
  std::string scratch;
  switch (value.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Add(int64_t{value.Get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32)});
    case FieldDescriptor::CPPTYPE_INT64:
      return Add(value.Get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return Add(value.Get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_UINT64:
      return Add(value.Get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AddDouble(value.Get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return AddDouble(value.Get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      return Add(value.Get(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? 1 : 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return Add(int64_t{value.Get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue)});
    case FieldDescriptor::CPPTYPE_STRING:
      return AddBytes(value.GetString(&scratch));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      AddMessage(value.GetMessage(), "", {});
      return Add(0);  // its end
  }
}

}  // namespace

uint64_t RequestChecksum(std::string_view method, const Message& request,
                         absl::Span<const BytesBeside> beside) {
  Words words;
  words.AddBytes(method);
  words.AddMessage(request, "checksum", beside);
  return words.Sum();
}

uint64_t ReplyChecksum(uint64_t asked, const Message& reply, absl::Span<const BytesBeside> beside) {
  Words words;
  words.Add(asked);
  words.AddMessage(reply, "checksum", beside);
  return words.Sum();
}

}  // namespace vicinity
