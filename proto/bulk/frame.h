// clang-format off
// The frames of the bulk channel. These comments are the specification.
//
// The bulk channel carries the calls of service.proto beside gRPC, for less work a byte: the same
// requests and replies, message for message, with the same checksums of what they mean. It is a
// stream of bytes both ways, over TCP or over a Unix socket, that a client opens. What it may do
// there was decided when it asked for a ticket, over gRPC (proto/bulk.proto, Bulk.Open). Where the
// server's gRPC port has TLS, the channel over TCP has TLS 1.3 by the same certificates, of which
// the server shows one and the client none.
//
// A *frame* is a header of 40 bytes, a head (a small protobuf message of proto/bulk.proto) and a
// payload (one message of service.proto, as gRPC would carry it). Little-endian:
//
//   bytes    field
//    0 -  3  magic          "VBK1"; another version has another one
//    4       kind           FrameKind
//    5       flags          kHasMessage, else 0
//    6 -  7  head bytes     4,096 at most
//    8 - 15  call           which call it is about
//   16 - 19  payload bytes  of a request 8 MiB at most, of a reply 64 MiB (kMaxPayload...)
//   20 - 23  timeout        milliseconds
//   24 - 27  credit         bytes
//   28 - 31  0
//   32 - 39  checksum       XXH3-64 of the 32 bytes before, its seed that of the head (0: no head)
//
// Payloads have checksums of their own, inside. A field that the table below has none of is 0.
//
//   kind     from    call  head         payload  timeout  credit  what it says
//
//   OPEN     client  0     BulkOpen     -        -        -       the first frame: the ticket
//   OPENED   server  0     BulkOpened   -        -        -       the answer to it
//   REQUEST  client  new   BulkRequest  request  left     window  a call begins
//   MESSAGE  server  its   -            reply    -        -       of its reply, not the last one
//   END      server  its   BulkEnd      reply    -        -       it is over; with kHasMessage the
//                                                                 last message is in it, too
//   CANCEL   client  its   -            -        -        -       nobody waits for it any more
//   CREDIT   client  its   -            -        -        more    so much more may be sent
//   PING     either  any   -            -        -        -       are you there?
//   PONG     either  same  -            -        -        -       yes
//   GOODBYE  server  0     -            -        -        -       no call that comes from now on is
//                                                                 made; those before are
//
// Calls.      An id is used once on a connection. A call ends with END, whatever happens, or with
//             its connection. Behind CANCEL a client drops what still comes of the call; the
//             server's END tells when its place is free. Of a call that has ended CANCEL and CREDIT
//             say nothing.
// Limits.     So many calls at once, and requests of so many bytes, as OPENED says: one call more
//             is answered RESOURCE_EXHAUSTED.
// Deadline.   `timeout` is what is left of it when the frame is made, at least 1.
// Credit.     A server sends a message of a call while the call has credit left, whole, and takes
//             its bytes off. It begins with REQUEST's and grows by CREDIT's; 1 GiB at most. So a
//             call that is not read costs a window's memory, and keeps no other call of the
//             connection waiting. END without a message needs none.
// Order.      The messages of a call come in order; those of several are mixed, small ones first.
// Ticket.     Good once, for ten seconds, on the kind of socket that it was given for. A connection
//             that is not open within ten seconds ends.
// Reading.    A server ends a connection on which it has a thousand frames that are not taken.
// Liveness.   Who waits for an answer and hears nothing pings; who has not heard anything for a
//             while after that ends the connection. Servers take ten pings a second.
// Errors.     Whoever sees a frame that breaks a rule ends the connection: nothing behind it can be
//             trusted. Its calls are over then, as if the host had gone (UNAVAILABLE).
// Drain.      A server that is to stop says GOODBYE, ends what is under way, then the connection;
//             so it does half an hour after it was opened. A call that comes behind GOODBYE is
//             UNAVAILABLE.
// clang-format on
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/limits.h"

namespace vicinity::bulk {

inline constexpr uint32_t kBulkVersion = 1;
inline constexpr size_t kHeaderBytes = 40;
inline constexpr size_t kMaxHeadBytes = 4096;
inline constexpr int64_t kMaxPayloadOfRequest = kMaxRequestBytes;
// Of a reply: a row or name that alone is wider than a chunk is a message by itself.
inline constexpr int64_t kMaxPayloadOfReply = 2 * kMaxCallBytes;
inline constexpr int64_t kMaxCredit = int64_t{1} << 30;
// What goes first of what waits to be sent.
inline constexpr size_t kSmallFrameBytes = 16 << 10;

enum class FrameKind : uint8_t {
  kOpen = 1,
  kOpened = 2,
  kRequest = 3,
  kMessage = 4,
  kEnd = 5,
  kCancel = 6,
  kCredit = 7,
  kPing = 8,
  kPong = 9,
  kGoodbye = 10,
};

inline constexpr uint8_t kHasMessage = 1;

enum class Sender { kClient, kServer };

struct FrameHeader {
  FrameKind kind = FrameKind::kPing;
  uint8_t flags = 0;
  uint16_t head_bytes = 0;
  uint64_t call = 0;
  uint32_t payload_bytes = 0;
  uint32_t timeout_ms = 0;
  uint32_t credit = 0;
};

using HeaderBytes = std::array<char, kHeaderBytes>;

// `header.head_bytes` is the size of `head`.
HeaderBytes EncodeHeader(const FrameHeader& header, std::string_view head);

// What a header says, if `sender` may say so. Its checksum is not looked at: the head is needed for
// that. Sizes are within their limits. InvalidArgument with the rule and the value that breaks it.
absl::StatusOr<FrameHeader> DecodeHeader(const HeaderBytes& bytes, Sender sender);

// Aborted with both sums if header and head are not what was sent.
absl::Status CheckHeader(const HeaderBytes& bytes, std::string_view head);

}  // namespace vicinity::bulk
