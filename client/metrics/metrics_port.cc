#include "client/metrics/metrics_port.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/telemetry/metrics_text.h"

namespace vicinity {
namespace {

constexpr size_t kLongestHead = 8192;
constexpr double kRequestSeconds = 2;
constexpr double kReplySeconds = 5;
constexpr int kBacklog = 16;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

absl::Status SystemError(const HostPort& address, const char* what) {
  return absl::UnavailableError(
      absl::StrCat("metrics at ", address.ToString(), ": ", what, ": ", std::strerror(errno)));
}

absl::StatusOr<int> Listen(HostPort* address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code =
      getaddrinfo(address->host.c_str(), absl::StrCat(address->port).c_str(), &hints, &found);
  if (code != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("metrics at ", address->ToString(), ": ", gai_strerror(code)));
  }
  const absl::Cleanup free_found = [found] { freeaddrinfo(found); };
  const int listener =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (listener < 0) return SystemError(*address, "socket");
  absl::Cleanup close_listener = [listener] { close(listener); };
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(listener, found->ai_addr, found->ai_addrlen) != 0) return SystemError(*address, "bind");
  if (listen(listener, kBacklog) != 0) return SystemError(*address, "listen");
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return SystemError(*address, "getsockname");
  }
  address->port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  std::move(close_listener).Cancel();
  return listener;
}

// As in a request's Host line: with or without a port, of IPv6 in brackets.
bool IsNumberOrLocalhost(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "[")) {
    in6_addr v6;
    const size_t end = host.find(']');
    return end != absl::string_view::npos &&
           inet_pton(AF_INET6, std::string(host.substr(0, end)).c_str(), &v6) == 1;
  }
  const std::string name = absl::AsciiStrToLower(host.substr(0, host.find(':')));
  in_addr v4;
  return name == "localhost" || inet_pton(AF_INET, name.c_str(), &v4) == 1;
}

std::string Reply(absl::string_view status, absl::string_view type, absl::string_view body,
                  bool with_body = true) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", type,
                      "\r\nContent-Length: ", body.size(),
                      "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff"
                      "\r\nConnection: close\r\n\r\n",
                      with_body ? body : "");
}

std::string PlainReply(absl::string_view status, absl::string_view text) {
  return Reply(status, "text/plain; charset=utf-8", absl::StrCat(text, "\n"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsPort>> MetricsPort::Start(const HostPort& address,
                                                                std::function<std::string()> text) {
  auto port = std::unique_ptr<MetricsPort>(new MetricsPort(address, std::move(text)));
  port->stop_ = eventfd(0, EFD_CLOEXEC);
  if (port->stop_ < 0) return SystemError(address, "eventfd");
  VICINITY_ASSIGN_OR_RETURN(port->listener_, Listen(&port->address_));
  VICINITY_ASSIGN_OR_RETURN(port->thread_, StartThread([port = port.get()] { port->Run(); }));
  return port;
}

MetricsPort::MetricsPort(HostPort address, std::function<std::string()> text)
    : address_(std::move(address)), text_(std::move(text)) {}

MetricsPort::~MetricsPort() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    // An eventfd takes eight bytes, or none where its count is full already.
    static_cast<void>(!write(stop_, &one, sizeof(one)));
    thread_.join();
  }
  if (listener_ >= 0) close(listener_);
  if (stop_ >= 0) close(stop_);
}

bool MetricsPort::WaitFor(int descriptor, short events, double end_seconds) const {
  while (true) {
    const double left = end_seconds - Now();
    if (left <= 0) return false;
    pollfd waited[2] = {{stop_, POLLIN, 0}, {descriptor, events, 0}};
    const int ready = poll(waited, 2, static_cast<int>(std::min(left * 1e3 + 1, 60e3)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) return waited[0].revents == 0;
  }
}

void MetricsPort::Run() const {
  constexpr double kNoEnd = 1e18;
  while (WaitFor(listener_, POLLIN, kNoEnd)) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection >= 0) {
      Serve(connection);
      close(connection);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      // No descriptors are left, say: a little later there may be.
      WaitFor(stop_, POLLIN, Now() + 0.1);
    }
  }
}

void MetricsPort::Serve(int connection) const {
  std::string head;
  for (const double end = Now() + kRequestSeconds; !absl::StrContains(head, "\r\n\r\n");) {
    if (head.size() > kLongestHead || !WaitFor(connection, POLLIN, end)) return;
    char piece[2048];
    const ssize_t got = recv(connection, piece, sizeof(piece), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
    if (got > 0) head.append(piece, static_cast<size_t>(got));
  }
  const std::string reply = ReplyTo(head);
  const double end = Now() + kReplySeconds;
  for (size_t sent = 0; sent < reply.size();) {
    if (!WaitFor(connection, POLLOUT, end)) return;
    const ssize_t more = send(connection, &reply[sent], reply.size() - sent, MSG_NOSIGNAL);
    if (more < 0 && errno != EAGAIN && errno != EINTR) return;
    if (more > 0) sent += static_cast<size_t>(more);
  }
}

std::string MetricsPort::ReplyTo(const std::string& head) const {
  const std::vector<absl::string_view> lines = absl::StrSplit(head, "\r\n");
  const std::vector<absl::string_view> request = absl::StrSplit(lines[0], ' ');
  if (request.size() != 3 || !absl::StartsWith(request[2], "HTTP/1.")) {
    return PlainReply("400 Bad Request", "this is no request of HTTP/1");
  }
  bool names_host = request[2] != "HTTP/1.0";
  absl::string_view host;
  for (const absl::string_view line : lines) {
    if (!absl::StartsWithIgnoreCase(line, "host:")) continue;
    names_host = true;
    host = absl::StripAsciiWhitespace(line.substr(5));
  }
  if (address_.loopback() && names_host && !IsNumberOrLocalhost(host)) {
    return PlainReply("421 Misdirected Request",
                      "ask for this page by an address of this machine, as 127.0.0.1");
  }
  if (request[0] != "GET" && request[0] != "HEAD") {
    return PlainReply("405 Method Not Allowed", "only GET and HEAD");
  }
  if (request[1].substr(0, request[1].find('?')) != "/metrics") {
    return PlainReply("404 Not Found", "there is /metrics");
  }
  return Reply("200 OK", kMetricsContentType, text_(), request[0] == "GET");
}

}  // namespace vicinity
