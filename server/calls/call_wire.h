// What carries a call: a stream of gRPC's, or one of a bulk connection.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/connections/connection_guard.h"
#include "server/security/credentials.h"

namespace vicinity {

// How a call ends, as its caller is to know it.
struct CallOutcome {
  absl::Status status;
  std::chrono::milliseconds retry_after{0};  // 0: not said
  bool stopping = false;                     // the server is about to stop
};

// One call, seen from the server. What is started here ends with the event of the same name at the
// call (server/calls/served_call.h), in any thread, perhaps before the start has returned.
//
// Threads: IsCancelled, deadline and Cancel any; the rest one at a time.
class CallWire {
 public:
  virtual ~CallWire() = default;

  virtual std::string method() const = 0;  // its path
  // Who calls, as gRPC writes it: "ipv4:127.0.0.1:4711". Of a bulk connection whoever got its
  // ticket.
  virtual std::string peer() const = 0;
  // Of its connection; never null.
  virtual std::shared_ptr<ConnectionAccount> account() const = 0;
  virtual ServerTrust::Proof proof() const = 0;
  // What the caller says of its trace, whatever it is; empty: nothing, or several things.
  virtual std::string traceparent() const = 0;
  virtual std::chrono::system_clock::time_point deadline() const = 0;

  virtual bool IsCancelled() const = 0;
  // What is started ends soon, as if the caller had gone.
  virtual void Cancel() = 0;

  virtual void StartRead(grpc::ByteBuffer* request) = 0;
  // The message stays until the write has ended.
  virtual void StartWrite(const grpc::ByteBuffer* message) = 0;
  // The last that is started; done when the caller has taken it, or is gone.
  virtual void StartWriteAndFinish(const grpc::ByteBuffer* message, const CallOutcome& outcome) = 0;
  virtual void Finish(const CallOutcome& outcome) = 0;
};

}  // namespace vicinity
