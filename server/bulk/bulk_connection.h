// One connection of the bulk channel, from its ticket to its end.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/frame.h"
#include "proto/bulk/frame_reader.h"
#include "proto/bulk/frame_sender.h"
#include "proto/common/mutex.h"
#include "server/bulk/bulk_call.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/security/bulk_tickets.h"

namespace vicinity {

// What all connections of a server's bulk channel have in common.
struct BulkTerms {
  const ServiceContext* service = nullptr;
  BulkTickets* tickets = nullptr;
  uint32_t max_calls = 100;  // of a connection at once
  std::chrono::milliseconds opens_within{10'000};
  // As connections of gRPC's: who calls has to prove anew then who it is.
  std::chrono::milliseconds lives_for = std::chrono::minutes(30);
};

//   waiting for its ticket --OPEN--> open --GOODBYE--> draining --no call left--> ended
//           |                          |                  |
//           +---late, not good, gone---+--broken rule, ---+--> ended, and its calls with it
//                                         cut off, gone
//
// Threads:  its loop's reads and tells its calls; sending and Close may be any thread's.
// Lifetime: shared by its port, its loop's handlers and its calls. The loop outlives it.
// Memory:   some 6 KiB while nothing is asked; 16 KiB of a request's buffer; what its calls have.
class BulkConnection final : public std::enable_shared_from_this<BulkConnection>,
                             public BulkCallOwner,
                             private bulk::FrameReader::Handler,
                             private bulk::FrameSender::Owner {
 public:
  // Takes `fd`, which is connected, and which `stream` reads and writes. `on_end` is called once,
  // in the loop's thread.
  BulkConnection(asio::io_context* loop, int fd, std::unique_ptr<bulk::ByteStream> stream,
                 BulkTickets::Socket socket, std::shared_ptr<ConnectionAccount> account,
                 const BulkTerms& terms, std::function<void(BulkConnection*)> on_end);

  // These three in the loop's thread.
  void Start();
  // No call that comes from now on is answered; with the last one that is there the connection
  // ends.
  void Drain();
  void End(const absl::Status& why);

  std::shared_ptr<ConnectionAccount> account() const override { return account_; }
  std::shared_ptr<const BulkTickets::Bearer> bearer() const override { return bearer_; }
  void Send(bulk::FrameSender::Frame frame) override;
  void Ends() override;
  void Forget(uint64_t call) override;
  void CutOffSoon(std::weak_ptr<BulkCall> call) override;
  void Close(const absl::Status& why) override;

 private:
  absl::Status OnHeader(const bulk::FrameHeader& header, std::string_view head) override;
  absl::Status OnFrame(const bulk::FrameHeader& header, std::string_view head,
                       std::string_view payload) override;
  void AwaitWritable() override;
  void OnBroken(const absl::Status& status) override { Close(status); }

  void AwaitReadable();
  void Read();
  absl::StatusOr<bool> ReadFrames();
  absl::Status OnOpen(std::string_view head);
  absl::Status OnRequest(const bulk::FrameHeader& header, std::string_view head);
  absl::Status OnPing(const bulk::FrameHeader& header);
  void Refuse(uint64_t call, const absl::Status& status);
  std::shared_ptr<BulkCall> Find(uint64_t call);
  void SendFrame(bulk::FrameHeader header, std::string head = "");

  asio::io_context* const loop_;
  asio::posix::stream_descriptor socket_;
  asio::steady_timer age_;  // until it must be open, then until it is old
  const BulkTickets::Socket kind_;
  const std::shared_ptr<ConnectionAccount> account_;
  const BulkTerms terms_;
  const std::function<void(BulkConnection*)> on_end_;
  const std::unique_ptr<bulk::ByteStream> stream_;
  bulk::FrameReader reader_;
  bulk::FrameSender sender_;
  // The loop's thread's.
  std::shared_ptr<const BulkTickets::Bearer> bearer_;  // null: not open yet
  bool has_begun_ = false;                             // frames may come
  bool has_ended_ = false;
  std::chrono::steady_clock::time_point pings_since_;
  int pings_ = 0;
  Mutex mu_;
  std::unordered_map<uint64_t, std::shared_ptr<BulkCall>> calls_ ABSL_GUARDED_BY(mu_);
  size_t num_ending_ ABSL_GUARDED_BY(mu_) = 0;  // of them, those whose END is on its way
  bool drains_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vicinity
