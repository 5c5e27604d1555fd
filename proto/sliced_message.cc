#include "proto/sliced_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>

#include "proto/common/checksum.h"

namespace vicinity {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

grpc::Slice ToSlice(std::string bytes) {
  auto* owned = new std::string(std::move(bytes));
  return grpc::Slice(
      &(*owned)[0], owned->size(), [](void* string) { delete static_cast<std::string*>(string); },
      owned);
}

// What comes before the bytes of a field.
void AppendStart(int field, uint32_t size, std::string* out) {
  uint8_t start[10];
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray(
      WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), start);
  end = CodedOutputStream::WriteVarint32ToArray(size, end);
  out->append(reinterpret_cast<const char*>(start), end - start);
}

bool ReadSliced(CodedInputStream* input, SlicedBytes* bytes) {
  uint32_t left = 0;
  if (!input->ReadVarint32(&left)) return false;
  while (left > 0) {
    const void* data = nullptr;
    int size = 0;
    if (!input->GetDirectBufferPointer(&data, &size)) return false;
    const uint32_t taken = std::min(left, static_cast<uint32_t>(size));
    bytes->Append({static_cast<const char*>(data), taken});
    input->Skip(static_cast<int>(taken));
    left -= taken;
  }
  return true;
}

}  // namespace

grpc::ByteBuffer PackMessage(google::protobuf::MessageLite* message,
                             absl::Span<const BulkField> bulk) {
  std::vector<std::pair<int, std::string>> taken;
  for (const BulkField& field : bulk) {
    if (!field.bytes->empty()) taken.emplace_back(field.number, std::move(*field.bytes));
    field.bytes->clear();
  }
  std::string start = message->SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (auto& [field, bytes] : taken) {
    AppendStart(field, static_cast<uint32_t>(bytes.size()), &start);
    slices.emplace_back(start);
    slices.push_back(ToSlice(std::move(bytes)));
    start.clear();
  }
  if (slices.empty()) slices.push_back(ToSlice(std::move(start)));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

uint64_t SlicedBytes::Checksum() const {
  if (pieces_.size() == 1) return vicinity::Checksum(pieces_.front());
  RunningChecksum sum;
  for (const std::string_view piece : pieces_) sum.Append(piece);
  return sum.value();
}

void SlicedBytes::CopyTo(void* to) const {
  if (!empty()) Cursor(*this).Read(static_cast<char*>(to), size_);
}

bool SlicedMessage::Parse(grpc::ByteBuffer* buffer, google::protobuf::MessageLite* small) {
  fields_.clear();
  grpc::ProtoBufferReader reader(buffer);
  if (!reader.status().ok()) return false;
  std::string rest;
  {
    CodedInputStream input(&reader);
    google::protobuf::io::StringOutputStream to_rest(&rest);
    CodedOutputStream copy(&to_rest);
    while (const uint32_t tag = input.ReadTag()) {
      const int field = WireFormatLite::GetTagFieldNumber(tag);
      if (field < kFirstBulkField || field > kLastBulkField ||
          WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!WireFormatLite::SkipField(&input, tag, &copy)) return false;
        continue;
      }
      // Of a field that comes twice the last one counts.
      const auto same = [field](const auto& one) { return one.first == field; };
      fields_.erase(std::remove_if(fields_.begin(), fields_.end(), same), fields_.end());
      fields_.emplace_back(field, SlicedBytes());
      if (!ReadSliced(&input, &fields_.back().second)) return false;
    }
    if (!input.ConsumedEntireMessage()) return false;
  }
  return small->ParseFromString(rest);
}

const SlicedBytes& SlicedMessage::operator[](int field) const {
  static const SlicedBytes* const kNone = new SlicedBytes();
  for (const auto& [number, bytes] : fields_) {
    if (number == field) return bytes;
  }
  return *kNone;
}

int64_t SlicedMessage::BulkBytes() const {
  int64_t bytes = 0;
  for (const auto& one : fields_) bytes += static_cast<int64_t>(one.second.size());
  return bytes;
}

std::vector<BytesBeside> SlicedMessage::Sums() const {
  std::vector<BytesBeside> sums;
  for (const auto& [field, bytes] : fields_) {
    sums.push_back({field, bytes.size(), bytes.Checksum()});
  }
  return sums;
}

}  // namespace vicinity
