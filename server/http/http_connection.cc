#include "server/http/http_connection.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "server/http/http_pages.h"
#include "server/http/request_head.h"

namespace vicinity {
namespace {

constexpr size_t kPieceBytes = 4 << 10;
// A reply goes out in pieces, so that one connection takes no more than a turn.
constexpr size_t kMostSentAtOnce = 256 << 10;
// Of an other end that goes on sending after its last reply.
constexpr size_t kMostDrained = 64 << 10;

}  // namespace

HttpConnection::HttpConnection(int fd, TlsSessions::Session session, const HttpTimes& times,
                               Clock::time_point now)
    : fd_(fd),
      session_(std::move(session)),
      times_(times),
      events_(POLLIN),
      deadline_(now + times.head) {}

HttpConnection::~HttpConnection() { close(fd_); }

void HttpConnection::GoOn(Clock::time_point now) {
  if (now >= deadline_) phase_ = Phase::kOver;
  switch (phase_) {
    case Phase::kReading:
      return ReadHead(now);
    case Phase::kSending:
      return SendSome(now);
    case Phase::kEnding:
      return DrainToEnd();
    case Phase::kAsking:
    case Phase::kOver:
      return;
  }
}

size_t HttpConnection::Result(int64_t result, short blocked_for) {
  if (result > 0) return static_cast<size_t>(result);
  if (session_ == nullptr) {
    const bool blocked = result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (blocked) events_ = blocked_for;
    if (!blocked) phase_ = Phase::kOver;
    return 0;
  }
  // Either may have to wait for either, while keys are agreed upon.
  const int error = SSL_get_error(session_.get(), static_cast<int>(result));
  if (error == SSL_ERROR_WANT_READ) {
    events_ = POLLIN;
  } else if (error == SSL_ERROR_WANT_WRITE) {
    events_ = POLLOUT;
  } else {
    phase_ = Phase::kOver;
  }
  ERR_clear_error();
  return 0;
}

size_t HttpConnection::Read(char* to, size_t size) {
  const int64_t result = session_ == nullptr ? recv(fd_, to, size, 0)
                                             : SSL_read(session_.get(), to, static_cast<int>(size));
  return Result(result, POLLIN);
}

size_t HttpConnection::Write(const char* from, size_t size) {
  const int64_t result = session_ == nullptr
                             ? send(fd_, from, size, MSG_NOSIGNAL)
                             : SSL_write(session_.get(), from, static_cast<int>(size));
  return Result(result, POLLOUT);
}

void HttpConnection::ReadHead(Clock::time_point now) {
  char piece[kPieceBytes];
  while (phase_ == Phase::kReading) {
    if (HeadLength(received_) > 0) {
      phase_ = Phase::kAsking;
      return;
    }
    if (received_.size() > kMaxHeadBytes) {
      return Reply(HttpPages::PlainReply(431, "Request Header Fields Too Large"), false, now);
    }
    const size_t bytes = Read(piece, sizeof(piece));
    if (bytes == 0) return;
    // A new request's time begins.
    if (received_.empty()) deadline_ = std::min(deadline_, now + times_.head);
    received_.append(piece, bytes);
  }
}

std::string HttpConnection::TakeHead() {
  const size_t length = HeadLength(received_);
  std::string head = received_.substr(0, length);
  received_.erase(0, length);
  return head;
}

void HttpConnection::Reply(std::string bytes, bool keep, Clock::time_point now) {
  reply_ = std::move(bytes);
  sent_ = 0;
  keep_ = keep;
  phase_ = Phase::kSending;
  deadline_ = now + times_.reply;
  SendSome(now);
}

void HttpConnection::SendSome(Clock::time_point now) {
  size_t left = kMostSentAtOnce;
  while (sent_ < reply_.size() && left > 0) {
    const size_t bytes = Write(reply_.data() + sent_, std::min(reply_.size() - sent_, left));
    if (bytes == 0) return;
    sent_ += bytes;
    left -= bytes;
  }
  events_ = POLLOUT;
  if (sent_ < reply_.size()) return;
  reply_ = std::string();
  sent_ = 0;
  if (!keep_) return End(now);
  phase_ = Phase::kReading;
  events_ = POLLIN;
  deadline_ = now + (received_.empty() ? times_.idle : times_.head);
  // The next request may have come already, or lie within TLS: no event would tell.
  ReadHead(now);
}

// A socket that is closed with bytes unread resets the connection, and the reply with it.
void HttpConnection::End(Clock::time_point now) {
  if (session_ != nullptr) SSL_shutdown(session_.get());
  ERR_clear_error();
  shutdown(fd_, SHUT_WR);
  phase_ = Phase::kEnding;
  events_ = POLLIN;
  deadline_ = now + times_.end;
}

void HttpConnection::DrainToEnd() {
  char piece[kPieceBytes];
  while (phase_ == Phase::kEnding) {
    const ssize_t bytes = recv(fd_, piece, sizeof(piece), 0);
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    drained_ += bytes > 0 ? static_cast<size_t>(bytes) : 0;
    if (bytes <= 0 || drained_ > kMostDrained) phase_ = Phase::kOver;
  }
}

}  // namespace vicinity
