// A connection of the bulk channel without the client library: whatever frames one likes, and what
// the server says to them.
#pragma once

#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/bulk.pb.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/frame.h"
#include "proto/bulk/frame_reader.h"
#include "proto/security/tls_sessions.h"

namespace vicinity::testing {

// What Bulk.Open of the server at `address` answers. No credentials: it is asked in plaintext.
absl::StatusOr<proto::OpenBulkReply> AskForTickets(
    const std::string& address, uint32_t count, proto::BulkSocket over,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials = nullptr);

// Threads: one at a time. Ends the test case where it cannot connect.
class RawBulk final : private bulk::FrameReader::Handler {
 public:
  struct Frame {
    bulk::FrameHeader header;
    std::string head;
    std::string payload;
  };

  // Connects, and says nothing. `tls`: of a client, for TLS with 127.0.0.1; null: there is none.
  explicit RawBulk(const proto::OpenBulkReply& place, TlsSessions* tls = nullptr);
  // Connects and opens with the ticket.
  RawBulk(const proto::OpenBulkReply& place, const std::string& ticket);
  ~RawBulk();
  RawBulk(const RawBulk&) = delete;
  RawBulk& operator=(const RawBulk&) = delete;

  // With TLS before all else: shakes hands. Not OK: why there is no connection.
  absl::Status Greet();

  void SendBytes(std::string_view bytes);
  // Fills in the sizes.
  void Send(bulk::FrameHeader header, const std::string& head = "",
            const std::string& payload = "");
  void Open(const std::string& ticket);
  // A call of "/vicinity.proto.Graph/`method`".
  void Request(uint64_t call, const std::string& method, const std::string& payload,
               uint32_t credit = 1 << 20, uint32_t timeout_ms = 60'000);
  void SendAbout(bulk::FrameKind kind, uint64_t call, uint32_t credit = 0);

  // The next frame. None: the server has ended the connection, or (is_ended() is false) has said
  // nothing for so long.
  std::optional<Frame> Next(std::chrono::milliseconds limit = std::chrono::seconds(60));
  bool is_ended() const { return is_ended_; }
  // Whether the server has ended the connection; reads nothing.
  bool HasEnded() const;
  // Nothing but the end comes.
  bool Ends();

 private:
  absl::Status OnHeader(const bulk::FrameHeader& header, std::string_view head) override;
  absl::Status OnFrame(const bulk::FrameHeader& header, std::string_view head,
                       std::string_view payload) override;

  int fd_ = -1;
  std::unique_ptr<bulk::ByteStream> stream_;
  bulk::FrameReader reader_;
  std::deque<Frame> frames_;
  bool is_ended_ = false;
};

}  // namespace vicinity::testing
