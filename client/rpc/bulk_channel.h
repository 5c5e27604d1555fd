// One connection of a server's bulk channel, as its client has it.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/rpc/call_ending.h"
#include "client/rpc/call_settings.h"
#include "client/shards/fan_out.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/frame.h"
#include "proto/bulk/frame_reader.h"
#include "proto/bulk/frame_sender.h"
#include "proto/common/mutex.h"

namespace vicinity {

//   opening --OPENED--> open --GOODBYE, Retire--> retired --last call over--> closed
//      |                  |                           |
//      +--refused, late---+------broken rule, gone----+--> closed, and its calls with it
//
// Requests are sent by who makes the call; answers are read, and `on_message` and `done` called, in
// the loop's thread, one at a time. A message lies in the connection's buffer until on_message
// returns: nothing copies it before.
//
// Threads:  Reserve, Start, is_open, over_unix, Retire and Close any; the rest the loop's.
// Lifetime: shared by who makes calls, its calls and the loop's handlers; the loop outlives it.
// Memory:   1 MiB of the buffer, and a larger message while it is there.
class BulkChannel final : public std::enable_shared_from_this<BulkChannel>,
                          private bulk::FrameReader::Handler,
                          private bulk::FrameSender::Owner {
 public:
  struct Options {
    std::string ticket;
    bool over_unix = false;  // `fd` is a Unix socket
    std::chrono::milliseconds open_timeout{5000};
    // While calls are under way, as ConnectionOptions says.
    std::chrono::milliseconds keepalive_time{30'000};
    std::chrono::milliseconds keepalive_timeout{10'000};
  };

  // Takes `fd`, which is connected and does not block, and which `stream` reads and writes.
  BulkChannel(asio::io_context* loop, int fd, std::unique_ptr<bulk::ByteStream> stream,
              Options options);

  // Once. `done` when the server has let it in, or Unavailable; at once if it was closed before.
  void Open(Done done);

  // Takes the place of one more call, for a Start that is to follow. False: it has none, or is not
  // open.
  bool Reserve();
  // As StartCall says, in the place that was reserved. Unavailable if it is not open any more;
  // InvalidArgument for a request that is larger than the server takes.
  void Start(const grpc::ByteBuffer& request, const CallSettings& settings,
             std::function<absl::Status(grpc::ByteBuffer*)> on_message, Done done);
  bool is_open() const;
  bool over_unix() const { return options_.over_unix; }
  // It is not closed, nor about to be.
  bool IsUsed() const;
  // No further calls; with the last one it is closed.
  void Retire();
  // Its calls fail: Unavailable with `why`.
  void Close(const absl::Status& why);

 private:
  struct Call;
  enum class Stage { kOpening, kOpen, kRetired, kClosed };

  absl::Status Enter(const std::shared_ptr<Call>& call, size_t request_bytes);
  void OnCancelled(const std::shared_ptr<Call>& call);
  absl::Status OnHeader(const bulk::FrameHeader& header, std::string_view head) override;
  absl::Status OnFrame(const bulk::FrameHeader& header, std::string_view head,
                       std::string_view payload) override;
  void AwaitWritable() override;
  void OnBroken(const absl::Status& status) override { Close(status); }

  void AwaitReadable();
  void Read();
  absl::StatusOr<bool> ReadFrames();
  absl::StatusOr<bool> Begin();
  absl::Status OnOpened(std::string_view head);
  absl::Status OnMessage(const std::shared_ptr<Call>& call, std::string_view payload);
  absl::Status OnEnd(const std::shared_ptr<Call>& call, const bulk::FrameHeader& header,
                     std::string_view head, std::string_view payload);
  void OnGoodbye();
  std::shared_ptr<Call> Find(uint64_t id) const;
  // It ends here, before the server has ended it, which is told.
  void GiveUp(const std::shared_ptr<Call>& call, const CallEnding& ending);
  void Finish(const std::shared_ptr<Call>& call, const CallEnding& ending);
  void SendFrame(bulk::FrameKind kind, uint64_t call, uint32_t credit = 0);
  void CloseIfOver();
  void End(const absl::Status& why);
  void ArmDeadline();
  void LookAtDeadlines();
  void ArmKeepalive(std::chrono::milliseconds after);
  void LookWhetherAlive();

  asio::io_context* const loop_;
  asio::posix::stream_descriptor socket_;
  asio::steady_timer opens_;
  asio::steady_timer deadlines_;
  asio::steady_timer keepalive_;
  const Options options_;
  const std::unique_ptr<bulk::ByteStream> stream_;
  bulk::FrameReader reader_;
  bulk::FrameSender sender_;
  // The loop's thread's.
  bool has_begun_ = false;  // OPEN has been sent
  Done opened_;             // until it is told
  bool heard_ = false;
  bool pinged_ = false;
  mutable Mutex mu_;
  Stage stage_ ABSL_GUARDED_BY(mu_) = Stage::kOpening;
  absl::Status why_closed_ ABSL_GUARDED_BY(mu_);
  size_t max_calls_ ABSL_GUARDED_BY(mu_) = 0;
  size_t max_request_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  size_t reserved_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t last_call_ ABSL_GUARDED_BY(mu_) = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Call>> calls_ ABSL_GUARDED_BY(mu_);
  std::unordered_set<uint64_t> given_up_ ABSL_GUARDED_BY(mu_);  // whose END is still to come
  // For when the deadlines are looked at; the epoch: they are not.
  std::chrono::steady_clock::time_point looks_at_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
