// Messages of service.proto as gRPC carries them, their bulk arrays (the `bytes` fields with
// numbers from 13 to 31) moved in and read where they lie, so that no library copies them.
//
// On the wire it is plain protobuf: any generated code reads and writes the same.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/bulk_fields.h"
#include "proto/wire_checksum.h"

namespace vicinity {

// Makes `message` into a buffer to send; takes the bytes of its `bulk` fields (rising numbers,
// above all others), which are empty then, and frees them when the last byte has been sent.
grpc::ByteBuffer PackMessage(google::protobuf::MessageLite* message,
                             absl::Span<const BulkField> bulk);

// The bytes of one field, in the pieces in which they arrived. Valid as long as their message.
class SlicedBytes {
 public:
  void Append(std::string_view piece) {
    pieces_.push_back(piece);
    size_ += piece.size();
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  uint64_t Checksum() const;
  void CopyTo(void* to) const;

  // Reads from the front on; never beyond the end.
  class Cursor {
   public:
    explicit Cursor(const SlicedBytes& bytes) : next_(bytes.pieces_.data()) {}

    void Read(char* to, size_t count) {
      while (count > piece_.size()) {
        std::memcpy(to, piece_.data(), piece_.size());
        to += piece_.size();
        count -= piece_.size();
        piece_ = *next_++;
      }
      std::memcpy(to, piece_.data(), count);
      piece_.remove_prefix(count);
    }

    // The next `count` bytes: where they lie, or, where they lie in several pieces, in `scratch`.
    const char* Take(size_t count, char* scratch) {
      while (piece_.empty() && count > 0) piece_ = *next_++;
      if (piece_.size() < count) {
        Read(scratch, count);
        return scratch;
      }
      const char* const taken = piece_.data();
      piece_.remove_prefix(count);
      return taken;
    }

   private:
    const std::string_view* next_;
    std::string_view piece_{"", 0};
  };

 private:
  std::vector<std::string_view> pieces_;
  size_t size_ = 0;
};

// A received message.
class SlicedMessage {
 public:
  // Reads all but the bulk fields into `small`. The rest is found below as long as `buffer` lives.
  // False: it is no such message.
  bool Parse(grpc::ByteBuffer* buffer, google::protobuf::MessageLite* small);

  // A bulk field; empty if the message has none of this number.
  const SlicedBytes& operator[](int field) const;

  int64_t BulkBytes() const;

  // As the checksums of the wire need them, all fields that are there.
  std::vector<BytesBeside> Sums() const;

 private:
  std::vector<std::pair<int, SlicedBytes>> fields_;
};

}  // namespace vicinity
