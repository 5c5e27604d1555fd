// The RPCs of a server's port, a description each: what the transport has to know of them.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

class BulkTickets;
class CallWire;

// Who calls, for the few operations that answer by it.
struct CallOrigin {
  const CallWire* wire = nullptr;  // outlives the exchange
  BulkTickets* bulk = nullptr;     // of the server; null: it has no bulk channel
};

// One call's request, as it came, and the messages of its reply, ready to be sent.
//
// Threads:  any, one at a time.
// Lifetime: the server's state outlives it.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Bytes that the reply can have, for the admission; those of the request's bulk fields.
  virtual int64_t reply_bytes(const ServerState& state) const = 0;
  virtual int64_t request_bytes() const = 0;
  // Of the dataset that it is about; 0: whichever is served.
  virtual uint64_t fingerprint() const = 0;
  // What the caller calls itself; empty: it does not say.
  virtual std::string client_name() const = 0;
  // Before Begin.
  virtual void ComesFrom(const CallOrigin& /*origin*/) {}

  // Checks the request whole: what it says of itself first (Aborted if it was damaged on the way),
  // then all that its handler checks.
  virtual absl::Status Begin(const ServerState& state) = 0;

  // The next message, as ChunkSource::Next; `payload` gets the bytes of its bulk fields, `copied`
  // how many were copied to make it.
  struct Message {
    grpc::ByteBuffer bytes;
    int64_t payload = 0;
    int64_t copied = 0;
  };
  virtual absl::StatusOr<Piece> Next(Message* message, IsGone is_gone) = 0;
};

struct Operation {
  const char* path;  // "/vicinity.proto.Graph/FetchRows"
  Lane lane;
  // Clears the bytes. Fails as ReadRequest does.
  absl::StatusOr<std::unique_ptr<Exchange>> (*parse)(grpc::ByteBuffer* bytes);
  // Every message of the caller gets a reply, until it has no more; else the first alone counts.
  bool is_conversation = false;
  // Who asks for it is in the log, at level info.
  bool is_logged = false;
  bool is_counted = true;
  bool has_stream = false;  // its reply may come in several messages
};

// All of a port. Few: they are searched one by one.
using Operations = absl::Span<const Operation>;

// "FetchRows".
absl::string_view MethodName(absl::string_view path);

// By operation, for CallCounters: without a name for those that are not counted.
std::vector<CountedMethod> CountedMethods(Operations operations);

// Null if there is none.
const Operation* FindOperation(Operations operations, absl::string_view path);

}  // namespace vicinity
