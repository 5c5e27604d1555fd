#include "proto/wire_parts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <limits>

namespace vicinity {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// As protobuf has it, which reads nothing that is deeper.
constexpr int kMostDepth = 100;

WireFormatLite::WireType WireTypeOf(const FieldDescriptor& field) {
  return WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field.type()));
}

class PartCounter {
 public:
  PartCounter(const WireParts& most, CodedInputStream* input) : most_(most), input_(input) {}

  // The fields of a message up to its end. Of a group, whose fields all are unknown (`type` is
  // null), that is a tag with the number `group`. False: it is no message, or there are too many.
  bool CountFields(const Descriptor* type, int group, int depth);

  const WireParts& found() const { return found_; }
  bool has_too_many() const { return found_.parts > most_.parts || found_.numbers > most_.numbers; }

 private:
  bool CountField(const FieldDescriptor& field, int depth);
  bool CountUnknown(uint32_t tag, int depth);
  bool CountPacked(const FieldDescriptor& field);
  // The length of what follows, which is inside of what it is part of: protobuf would read on
  // behind the end, and find out later.
  bool ReadLength(int* length);
  bool SkipValue(WireFormatLite::WireType type);
  bool AddPart() { return ++found_.parts <= most_.parts; }
  bool AddNumbers(int64_t count) { return (found_.numbers += count) <= most_.numbers; }

  const WireParts most_;
  CodedInputStream* const input_;
  WireParts found_;
};

bool PartCounter::CountFields(const Descriptor* type, int group, int depth) {
  if (depth > kMostDepth) return false;
  while (const uint32_t tag = input_->ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const WireFormatLite::WireType wire = WireFormatLite::GetTagWireType(tag);
    if (number == 0) return false;
    if (wire == WireFormatLite::WIRETYPE_END_GROUP) return number == group;
    const FieldDescriptor* const field =
        type == nullptr ? nullptr : type->FindFieldByNumber(number);
    const bool is_packed = field != nullptr && field->is_packable() &&
                           wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (is_packed) {
      if (!CountPacked(*field)) return false;
    } else if (field != nullptr && wire == WireTypeOf(*field)) {
      if (!CountField(*field, depth)) return false;
    } else if (!CountUnknown(tag, depth)) {
      return false;
    }
  }
  return group == 0 && input_->ConsumedEntireMessage();
}

bool PartCounter::CountField(const FieldDescriptor& field, int depth) {
  if (field.type() == FieldDescriptor::TYPE_MESSAGE) {
    int length = 0;
    if (!AddPart() || !ReadLength(&length)) return false;
    const CodedInputStream::Limit outer = input_->PushLimit(length);
    if (!CountFields(field.message_type(), 0, depth + 1)) return false;
    input_->PopLimit(outer);
    return true;
  }
  if (field.type() == FieldDescriptor::TYPE_GROUP) {
    return AddPart() && CountFields(field.message_type(), field.number(), depth + 1);
  }
  const WireFormatLite::WireType wire = WireTypeOf(field);
  if (field.is_repeated()) {
    const bool is_text = wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!(is_text ? AddPart() : AddNumbers(1))) return false;
  }
  return SkipValue(wire);
}

bool PartCounter::CountUnknown(uint32_t tag, int depth) {
  if (!AddPart()) return false;
  if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_START_GROUP) {
    return SkipValue(WireFormatLite::GetTagWireType(tag));
  }
  return CountFields(nullptr, WireFormatLite::GetTagFieldNumber(tag), depth + 1);
}

bool PartCounter::CountPacked(const FieldDescriptor& field) {
  int length = 0;
  if (!ReadLength(&length)) return false;
  const WireFormatLite::WireType wire = WireTypeOf(field);
  if (wire == WireFormatLite::WIRETYPE_FIXED32)
    return AddNumbers(length / 4) && input_->Skip(length);
  if (wire == WireFormatLite::WIRETYPE_FIXED64)
    return AddNumbers(length / 8) && input_->Skip(length);
  const CodedInputStream::Limit outer = input_->PushLimit(length);
  uint64_t unused = 0;
  while (input_->BytesUntilLimit() > 0) {
    if (!AddNumbers(1) || !input_->ReadVarint64(&unused)) return false;
  }
  input_->PopLimit(outer);
  return true;
}

bool PartCounter::ReadLength(int* length) {
  return input_->ReadVarintSizeAsInt(length) && *length <= input_->BytesUntilLimit();
}

bool PartCounter::SkipValue(WireFormatLite::WireType type) {
  uint64_t unused = 0;
  int length = 0;
  switch (type) {
    case WireFormatLite::WIRETYPE_VARINT:
      return input_->ReadVarint64(&unused);
    case WireFormatLite::WIRETYPE_FIXED64:
      return input_->Skip(8);
    case WireFormatLite::WIRETYPE_FIXED32:
      return input_->Skip(4);
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
      return ReadLength(&length) && input_->Skip(length);
    default:
      return false;
  }
}

}  // namespace

std::optional<WireParts> CountWireParts(const Descriptor& type, int64_t size, const WireParts& most,
                                        google::protobuf::io::ZeroCopyInputStream* bytes) {
  if (size > std::numeric_limits<int>::max()) return std::nullopt;
  CodedInputStream input(bytes);
  input.PushLimit(static_cast<int>(size));
  PartCounter counter(most, &input);
  if (!counter.CountFields(&type, 0, 0) && !counter.has_too_many()) return std::nullopt;
  return counter.found();
}

}  // namespace vicinity
