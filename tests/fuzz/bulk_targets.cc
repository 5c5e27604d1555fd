#include "tests/fuzz/bulk_targets.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/bulk.pb.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/frame.h"
#include "proto/bulk/frame_reader.h"

namespace vicinity::fuzz {
namespace {

using bulk::FrameHeader;
using bulk::FrameKind;
using bulk::Sender;

std::string Framed(FrameHeader header, const std::string& head, const std::string& payload) {
  header.head_bytes = static_cast<uint16_t>(head.size());
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  const bulk::HeaderBytes bytes = bulk::EncodeHeader(header, head);
  return std::string(bytes.data(), bytes.size()) + head + payload;
}

std::string Framed(FrameKind kind, uint64_t call, const std::string& head = "",
                   const std::string& payload = "") {
  FrameHeader header;
  header.kind = kind;
  header.call = call;
  if (kind == FrameKind::kRequest) header.timeout_ms = 5000;
  if (kind == FrameKind::kRequest || kind == FrameKind::kCredit) header.credit = 4 << 20;
  if (kind == FrameKind::kEnd && !payload.empty()) header.flags = bulk::kHasMessage;
  return Framed(header, head, payload);
}

// Gives the input in pieces of one size.
class Pieces final : public bulk::ByteStream {
 public:
  Pieces(std::string_view bytes, size_t piece) : bytes_(bytes), piece_(piece) {}

  absl::StatusOr<size_t> Read(absl::Span<const iovec> pieces) override {
    size_t moved = 0;
    for (const iovec& each : pieces) {
      const size_t count = std::min({each.iov_len, bytes_.size(), piece_ - moved});
      if (count > 0) std::memcpy(each.iov_base, bytes_.data(), count);
      bytes_.remove_prefix(count);
      moved += count;
    }
    return moved;
  }
  absl::StatusOr<size_t> Write(absl::Span<const iovec>) override { return size_t{0}; }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  const size_t piece_;
};

// Puts what it is told together again, and reads the heads as both ends do.
class Rebuilder final : public bulk::FrameReader::Handler {
 public:
  absl::Status OnHeader(const FrameHeader&, std::string_view) override { return absl::OkStatus(); }
  absl::Status OnFrame(const FrameHeader& header, std::string_view head,
                       std::string_view payload) override {
    bytes += Framed(header, std::string(head), std::string(payload));
    proto::BulkOpen().ParseFromArray(head.data(), static_cast<int>(head.size()));
    proto::BulkOpened().ParseFromArray(head.data(), static_cast<int>(head.size()));
    proto::BulkRequest().ParseFromArray(head.data(), static_cast<int>(head.size()));
    proto::BulkEnd().ParseFromArray(head.data(), static_cast<int>(head.size()));
    return absl::OkStatus();
  }

  std::string bytes;
};

// All that is understood of the input, put together again.
std::string Understood(std::string_view input, Sender sender, size_t piece, size_t kept) {
  Pieces pieces(input, piece);
  bulk::FrameReader reader(sender, kept);
  Rebuilder rebuilder;
  bool goes_on = true;
  while (goes_on && !pieces.empty()) goes_on = reader.ReadFrom(&pieces, &rebuilder).ok();
  return rebuilder.bytes;
}

}  // namespace

FuzzTarget FuzzBulkFrames(const std::string&) {
  FuzzTarget target;
  proto::BulkRequest request;
  request.set_method("/vicinity.proto.Graph/FetchRows");
  proto::BulkEnd end;
  end.set_code(8);
  end.set_text("come again");
  target.seeds = {
      Framed(FrameKind::kOpen, 0,
             std::string("\x08\x01\x12\x02"
                         "ab")) +
          Framed(FrameKind::kRequest, 1, request.SerializeAsString(), "request") +
          Framed(FrameKind::kCredit, 1) + Framed(FrameKind::kCancel, 1) +
          Framed(FrameKind::kPing, 7) + Framed(FrameKind::kPong, 7),
      Framed(FrameKind::kOpened, 0, std::string("\x08\x64", 2)) +
          Framed(FrameKind::kMessage, 1, "", std::string(5000, 'x')) +
          Framed(FrameKind::kEnd, 1, end.SerializeAsString(), "last") +
          Framed(FrameKind::kEnd, 2, end.SerializeAsString()) + Framed(FrameKind::kGoodbye, 0),
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  };
  target.run = [](std::string_view input) {
    for (const Sender sender : {Sender::kClient, Sender::kServer}) {
      const std::string whole = Understood(input, sender, SIZE_MAX, 1 << 20);
      Expect(input.substr(0, whole.size()) == whole, "a frame is not what came");
      Expect(Understood(input, sender, 13, 0) == whole, "frames depend on how their bytes come");
    }
  };
  return target;
}

}  // namespace vicinity::fuzz
