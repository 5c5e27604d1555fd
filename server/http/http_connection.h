// One connection of the HTTP port: bytes in, heads out; replies in, bytes out; nothing that waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "proto/security/tls_sessions.h"

namespace vicinity {

// How long each thing that the other end does may take. Sums to what a connection can hold a place.
struct HttpTimes {
  std::chrono::milliseconds head{5'000};    // from a request's first byte to its head's last
  std::chrono::milliseconds idle{75'000};   // between requests: scrapers come every minute
  std::chrono::milliseconds reply{20'000};  // until a reply has been taken, all of it
  std::chrono::milliseconds end{1'000};     // from the last reply to the other end's close
};

//                 a head          Reply(keep)            all sent
//   reading ------------> asking ------------> sending ------------> reading
//                                                 |  not to be kept
//                                                 +-----------------> ending ----> over
//   any --deadline, error, end of the other side--> over
//
// The first reading includes the handshake of TLS, in the time of a head.
//
// Threads: one at a time. Owns the file, which must not block.
class HttpConnection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Phase { kReading, kAsking, kSending, kEnding, kOver };

  // A null session: no TLS.
  HttpConnection(int fd, TlsSessions::Session session, const HttpTimes& times,
                 Clock::time_point now);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Does what can be done without waiting.
  void GoOn(Clock::time_point now);

  Phase phase() const { return phase_; }
  // poll()'s events that the next step needs. Not while it asks.
  short events() const { return events_; }
  Clock::time_point deadline() const { return deadline_; }
  int fd() const { return fd_; }
  const SSL* session() const { return session_.get(); }
  // Nothing of a request has come since the last reply, or ever.
  bool is_idle() const { return phase_ == Phase::kReading && received_.empty(); }
  size_t unsent_bytes() const { return reply_.size() - sent_; }

  // While it asks: the head of the oldest request that has not been answered. Once.
  std::string TakeHead();
  void Reply(std::string bytes, bool keep, Clock::time_point now);

 private:
  // Bytes that went; 0: it would block, or it is over, as phase_ says.
  size_t Read(char* to, size_t size);
  size_t Write(const char* from, size_t size);
  size_t Result(int64_t result, short blocked_for);
  void ReadHead(Clock::time_point now);
  void SendSome(Clock::time_point now);
  void End(Clock::time_point now);
  void DrainToEnd();

  const int fd_;
  const TlsSessions::Session session_;
  const HttpTimes times_;
  Phase phase_ = Phase::kReading;
  short events_ = 0;
  Clock::time_point deadline_;
  std::string received_;
  std::string reply_;
  size_t sent_ = 0;
  size_t drained_ = 0;
  bool keep_ = false;
};

}  // namespace vicinity
