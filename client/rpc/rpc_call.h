// One RPC: its deadline, its cancellation, its checksums, and what its failure is called.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "client/rpc/bulk_channel.h"
#include "client/rpc/call_queue.h"
#include "client/rpc/call_settings.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "proto/bulk_fields.h"
#include "proto/common/status.h"
#include "proto/sliced_message.h"
#include "proto/wire_checksum.h"

namespace vicinity {

// Where calls go: to a channel of gRPC's, or over the bulk channel.
struct CallRoute {
  std::shared_ptr<grpc::Channel> channel;
  CallQueue* queue = nullptr;
  std::shared_ptr<BulkChannel> bulk{};  // null: by gRPC. Shared with the connection that has it
};

// Sends a packed request; hands each message of the answer to `on_message`, one at a time and in
// order, in the queue's thread or the bulk channel's. An error from it ends the call, which then
// fails with it. `done` comes last, when of the call nothing is left. Errors are "`where`: `text`",
// of a deadline that passed here with how long was waited, of one that the server says has passed
// with its text; Aborted for what was damaged on the way.
void StartCall(const CallRoute& route, const grpc::ByteBuffer& request,
               const CallSettings& settings,
               std::function<absl::Status(grpc::ByteBuffer*)> on_message, Done done);

// Aborted: an answer whose checksum is not `sum`, or (none) that cannot be read at all.
absl::Status DamagedAnswerError(uint64_t sum, uint64_t sent);
absl::Status UnreadableAnswerError();

// Internal: not one answer.
absl::Status WrongNumberOfAnswersError(int number);

// Replies that say at which version of a live shard they were made.
template <typename Reply, typename = void>
struct SaysVersion : std::false_type {};
template <typename Reply>
struct SaysVersion<Reply, std::void_t<decltype(std::declval<const Reply&>().version())>>
    : std::is_same<decltype(std::declval<const Reply&>().version()), uint64_t> {};

template <typename Reply>
void NoteVersion(const Reply& reply, const CallContext& context) {
  if constexpr (SaysVersion<Reply>::value) context.Saw({reply.version(), reply.term()});
}

// The call of one method of service.proto: with checksums, and with the bulk fields of `request`
// sent, and those of each `Reply` left, where they lie: `on_reply` gets the reply without them and
// the message that has them. A method with one reply is a stream of one.
template <typename Reply, typename Request>
void StartCall(const CallRoute& route, Request request, const CallSettings& settings,
               std::function<absl::Status(const Reply&, const SlicedMessage&)> on_reply,
               Done done) {
  const uint64_t asked = RequestChecksum(settings.method, request);
  request.set_checksum(asked);
  StartCall(
      route, PackMessage(&request, BulkFields(&request)), settings,
      [asked, context = settings.context,
       on_reply = std::move(on_reply)](grpc::ByteBuffer* buffer) -> absl::Status {
        Reply reply;
        SlicedMessage message;
        if (!message.Parse(buffer, &reply)) return UnreadableAnswerError();
        const uint64_t sum = ReplyChecksum(asked, reply, message.Sums());
        if (sum != reply.checksum()) return DamagedAnswerError(sum, reply.checksum());
        NoteVersion(reply, context);
        return on_reply(reply, message);
      },
      std::move(done));
}

// The same for a method that has one reply: more of them, or none, are Internal.
template <typename Reply, typename Request>
void StartSingleCall(const CallRoute& route, Request request, const CallSettings& settings,
                     std::function<absl::Status(const Reply&, const SlicedMessage&)> on_reply,
                     Done done) {
  auto num_replies = std::make_shared<int>(0);
  StartCall<Reply>(
      route, std::move(request), settings,
      [num_replies, on_reply = std::move(on_reply)](const Reply& reply,
                                                    const SlicedMessage& message) {
        return ++*num_replies > 1 ? WrongNumberOfAnswersError(2) : on_reply(reply, message);
      },
      [num_replies, where = settings.where, done = std::move(done)](const absl::Status& status) {
        done(status.ok() && *num_replies == 0 ? At(where, WrongNumberOfAnswersError(0)) : status);
      });
}

}  // namespace vicinity
