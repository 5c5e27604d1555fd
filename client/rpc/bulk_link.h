// A server's bulk channel as a client uses it: opened with tickets, some connections of it, and
// opened anew when they are gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "client/rpc/bulk_channel.h"
#include "client/rpc/call_settings.h"
#include "client/shards/fan_out.h"
#include "proto/bulk.pb.h"
#include "proto/common/mutex.h"
#include "proto/security/tls_sessions.h"

namespace vicinity {

// One connection is the short lane's, and a thread of its own reads it: a small answer waits
// neither for large ones before it nor for the thread to put them in their places (with one thread
// for all, 99 of 100 answers of 16 rows beside large ones took 5 ms in place of one). Another
// thread reads all others. Both are there from the first opening on.
//
// Threads:  any number, but for the destructor.
// Lifetime: the destructor closes it. Calls must be over before, and no answer to a question for
//           tickets may come after Close.
class BulkLink {
 public:
  struct Options {
    std::string host;  // of the server, for TCP
    // For TCP; null: plaintext, as the server's gRPC port is then.
    std::shared_ptr<TlsSessions> tls;
    int connections = 2;
    proto::BulkSocket over = proto::BULK_SOCKET_ANY;
    std::chrono::milliseconds connect_timeout{5000};
    std::chrono::milliseconds keepalive_time{30'000};
    std::chrono::milliseconds keepalive_timeout{10'000};
  };
  using OnTickets = std::function<void(const absl::Status&, const proto::OpenBulkReply&)>;
  // Makes the call Bulk.Open.
  using AskTickets = std::function<void(const proto::OpenBulkRequest&, OnTickets)>;

  BulkLink(Options options, AskTickets ask);
  ~BulkLink();
  BulkLink(const BulkLink&) = delete;
  BulkLink& operator=(const BulkLink&) = delete;

  // Opens what is missing. Unimplemented or Unavailable, as the server says, if there is no
  // channel; Unavailable if it cannot be reached. One at a time: another is Unavailable.
  void Open(Done done);

  // One of the connections of a lane, or of another lane's, with a place that is reserved for a
  // call (BulkChannel::Start); null: none now. What is missing is opened meanwhile, once Open was
  // called: soon, then less and less often.
  std::shared_ptr<BulkChannel> Next(CallLane lane, uint32_t turn);

  // Its connections take no further calls; others are opened, with new tickets.
  void Renew();
  // Asks for no tickets any more, and ends what there is. Waits for a name that is being looked up.
  void Close();

  int num_open() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
