#include "server/calls/open_bulk.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/calls/call_wire.h"
#include "server/connections/peer_address.h"
#include "server/security/bulk_tickets.h"

namespace vicinity {
namespace {

using Socket = BulkTickets::Socket;

constexpr uint32_t kMostConnections = 16;

absl::StatusOr<Socket> ChooseSocket(const BulkTickets::Places& places, const std::string& peer,
                                    proto::BulkSocket asked) {
  const bool wants_unix = asked != proto::BULK_SOCKET_TCP;
  const bool wants_tcp = asked != proto::BULK_SOCKET_UNIX;
  const std::optional<PeerAddress> address = PeerOfText(peer);
  const bool is_here = address.has_value() && IsOfThisHost(*address);
  if (wants_unix && is_here && !places.unix_name.empty()) return Socket::kUnix;
  if (wants_tcp && places.port != 0) return Socket::kTcp;
  return absl::UnavailableError(
      absl::StrCat("the bulk channel cannot be had over ",
                   !wants_tcp    ? "a Unix socket"
                   : !wants_unix ? "TCP"
                                 : "TCP, and over a Unix socket only on the server's host",
                   " (vicinityd --bulk), by ", peer));
}

}  // namespace

absl::StatusOr<proto::OpenBulkReply> OpenBulk(const CallOrigin& origin,
                                              const proto::OpenBulkRequest& request) {
  if (origin.bulk == nullptr) {
    return absl::UnimplementedError("the server has no bulk channel (vicinityd --bulk)");
  }
  if (request.connections() > kMostConnections) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tickets for ", request.connections(), " connections, the limit is ", kMostConnections));
  }
  if (!proto::BulkSocket_IsValid(request.over())) {
    return absl::InvalidArgumentError(absl::StrCat("no kind of socket is ", request.over()));
  }
  const std::string peer = origin.wire->peer();
  absl::StatusOr<Socket> socket = ChooseSocket(origin.bulk->places(), peer, request.over());
  if (!socket.ok()) return socket.status();
  proto::OpenBulkReply reply;
  if (*socket == Socket::kUnix) {
    reply.set_unix_name(origin.bulk->places().unix_name);
  } else {
    reply.set_port(static_cast<uint32_t>(origin.bulk->places().port));
  }
  const auto now = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < std::max<uint32_t>(request.connections(), 1); ++i) {
    std::optional<std::string> ticket =
        origin.bulk->Issue({peer, origin.wire->proof()}, *socket, now);
    if (!ticket.has_value()) return absl::UnavailableError("the system gives no random numbers");
    reply.add_tickets(*std::move(ticket));
  }
  reply.set_valid_ms(std::chrono::milliseconds(BulkTickets::kValid).count());
  return reply;
}

}  // namespace vicinity
