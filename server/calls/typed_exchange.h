// How an operation is made of its handler: the types of its messages, checksums, packing.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/bulk_fields.h"
#include "proto/common/status.h"
#include "proto/message_size.h"
#include "proto/sliced_message.h"
#include "proto/wire_checksum.h"
#include "server/admission/call_gate.h"
#include "server/calls/operations.h"
#include "server/calls/read_request.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// What a request's caller calls itself; empty: it does not say. Specialised for one that does.
template <typename Request>
std::string ClientNameIn(const Request& /*request*/) {
  return "";
}

namespace internal {

// Far more parts than a request that is meant well has.
inline constexpr int64_t kMaxParts = 65'536;

// Requests for data have a ReplyBytes (server/handlers/reply_size.h); what is small counts as
// nothing.
template <typename Request, typename = void>
struct HasReplyBytes : std::false_type {};
template <typename Request>
struct HasReplyBytes<Request, std::void_t<decltype(ReplyBytes(std::declval<const ServerState&>(),
                                                              std::declval<const Request&>()))>>
    : std::true_type {};

// Messages of our own carry checksums; those of gRPC's own services do not.
template <typename Message, typename = void>
struct HasChecksum : std::false_type {};
template <typename Message>
struct HasChecksum<Message, std::void_t<decltype(std::declval<Message>().checksum())>>
    : std::true_type {};

template <typename Message, typename = void>
struct HasFingerprint : std::false_type {};
template <typename Message>
struct HasFingerprint<Message, std::void_t<decltype(std::declval<Message>().fingerprint())>>
    : std::true_type {};

// A reply of one message that its handler has made whole.
template <typename Reply>
class OneReply final : public ChunkSource<Reply> {
 public:
  explicit OneReply(Reply reply) : reply_(std::move(reply)) {}
  absl::StatusOr<Piece> Next(Reply* reply, IsGone) override {
    *reply = std::move(reply_);
    return Piece::kLast;
  }

 private:
  Reply reply_;
};

// Handlers of either kind, as sources.
template <typename Reply>
absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> AsSource(absl::StatusOr<Reply> reply) {
  if (!reply.ok()) return reply.status();
  return std::make_unique<OneReply<Reply>>(*std::move(reply));
}
template <typename Reply>
absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> AsSource(
    absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> source) {
  return source;
}

template <typename Request, typename Reply>
class TypedExchange final : public Exchange {
 public:
  using Open = absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> (*)(const ServerState&,
                                                                       const CallOrigin&,
                                                                       const Request&);

  TypedExchange(absl::string_view name, Open open) : name_(name), open_(open) {}

  absl::Status Parse(grpc::ByteBuffer* bytes) { return ReadRequest(name_, bytes, &request_); }

  int64_t reply_bytes(const ServerState& state) const override {
    if constexpr (HasReplyBytes<Request>::value) return ReplyBytes(state, request_);
    return 0;
  }
  int64_t request_bytes() const override { return BulkBytes(request_); }
  uint64_t fingerprint() const override {
    if constexpr (HasFingerprint<Request>::value) return request_.fingerprint();
    return 0;
  }
  std::string client_name() const override { return ClientNameIn(request_); }
  void ComesFrom(const CallOrigin& origin) override { origin_ = origin; }

  absl::Status Begin(const ServerState& state) override {
    // Before the checksum, which looks at every part: an empty one takes two bytes on the wire.
    if (const int64_t parts = RepeatedElements(request_); parts > kMaxParts) {
      return absl::InvalidArgumentError(absl::StrCat(
          name_, ": the request has ", parts, " relations or homes, the limit is ", kMaxParts));
    }
    VICINITY_RETURN_IF_ERROR(CheckChecksum());
    VICINITY_ASSIGN_OR_RETURN(source_, open_(state, origin_, request_));
    return absl::OkStatus();
  }

  absl::StatusOr<Piece> Next(Message* message, IsGone is_gone) override {
    VICINITY_ASSIGN_OR_RETURN(const Piece piece, source_->Next(&reply_, is_gone));
    if (piece != Piece::kNothing) Pack(message);
    return piece;
  }

 private:
  absl::Status CheckChecksum() {
    if constexpr (HasChecksum<Request>::value) {
      asked_ = RequestChecksum(name_, request_);
      if (request_.checksum() != 0 && request_.checksum() != asked_) {
        return absl::AbortedError(
            absl::StrCat(name_, ": the request was damaged on the way: its checksum is ",
                         absl::Hex(asked_, absl::kZeroPad16), ", the sender's ",
                         absl::Hex(request_.checksum(), absl::kZeroPad16)));
      }
    }
    return absl::OkStatus();
  }

  // Gives the reply its checksum and takes it apart. As bytes gRPC sends it from where it lies;
  // generated code would have it copied once more.
  void Pack(Message* message) {
    if constexpr (HasChecksum<Reply>::value) {
      reply_.set_checksum(ReplyChecksum(asked_, reply_));
    }
    message->payload = BulkBytes(reply_);
    message->copied = message->payload;  // by the handler
    message->bytes = PackMessage(&reply_, BulkFields(&reply_));
  }

  const std::string name_;
  const Open open_;
  CallOrigin origin_;
  Request request_;
  uint64_t asked_ = 0;  // the request's checksum, by which those of the replies go
  std::unique_ptr<ChunkSource<Reply>> source_;
  Reply reply_;
};

template <auto kHandler>
struct HandlerTraits;
template <typename Request, typename Reply,
          absl::StatusOr<Reply> (*kHandler)(const ServerState&, const Request&)>
struct HandlerTraits<kHandler> {
  using RequestType = Request;
  using ReplyType = Reply;
  static constexpr bool kHasStream = false;
  static auto Call(const ServerState& state, const CallOrigin&, const Request& request) {
    return kHandler(state, request);
  }
};
// One that answers by who calls.
template <typename Request, typename Reply,
          absl::StatusOr<Reply> (*kHandler)(const CallOrigin&, const Request&)>
struct HandlerTraits<kHandler> {
  using RequestType = Request;
  using ReplyType = Reply;
  static constexpr bool kHasStream = false;
  static auto Call(const ServerState&, const CallOrigin& origin, const Request& request) {
    return kHandler(origin, request);
  }
};
template <typename Request, typename Reply,
          absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> (*kHandler)(const ServerState&,
                                                                          const Request&)>
struct HandlerTraits<kHandler> {
  using RequestType = Request;
  using ReplyType = Reply;
  static constexpr bool kHasStream = true;
  static auto Call(const ServerState& state, const CallOrigin&, const Request& request) {
    return kHandler(state, request);
  }
};

template <auto kHandler, const char* kPath>
absl::StatusOr<std::unique_ptr<Exchange>> Parse(grpc::ByteBuffer* bytes) {
  using Request = typename HandlerTraits<kHandler>::RequestType;
  using Reply = typename HandlerTraits<kHandler>::ReplyType;
  auto exchange = std::make_unique<TypedExchange<Request, Reply>>(
      MethodName(kPath),
      [](const ServerState& state, const CallOrigin& origin, const Request& request) {
        return AsSource<Reply>(HandlerTraits<kHandler>::Call(state, origin, request));
      });
  VICINITY_RETURN_IF_ERROR(exchange->Parse(bytes));
  return exchange;
}

}  // namespace internal

// The operation of a handler: a function of the server's state, or of who calls, and the request,
// that returns the reply or a ChunkSource of its parts, or why there is none.
template <auto kHandler, const char* kPath, Lane kLane>
constexpr Operation Describes() {
  using Request = typename internal::HandlerTraits<kHandler>::RequestType;
  static_assert(kLane != Lane::kData || internal::HasReplyBytes<Request>::value,
                "who asks for data is admitted by the size of the reply");
  Operation operation{kPath, kLane, &internal::Parse<kHandler, kPath>};
  operation.has_stream = internal::HandlerTraits<kHandler>::kHasStream;
  return operation;
}

constexpr Operation AsConversation(Operation operation) {
  operation.is_conversation = true;
  return operation;
}

constexpr Operation Uncounted(Operation operation) {
  operation.is_counted = false;
  return operation;
}

constexpr Operation AsLogged(Operation operation) {
  operation.is_logged = true;
  return operation;
}

}  // namespace vicinity
