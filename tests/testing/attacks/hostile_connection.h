// One connection of an attacker's: never waits, and says nothing of its own.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>

#include "proto/cluster/cluster_file.h"

namespace vicinity::testing {

// A certificate and its key, PEM. Ends the process with a message if they are none.
struct HostileTls {
  std::string certificate;  // both empty: shows none
  std::string key;
};

// What TLS connections share: HTTP/2 by ALPN, the peer believed whoever it is.
std::shared_ptr<SSL_CTX> MakeHostileContext(const HostileTls& tls);

// Threads: one at a time.
class HostileConnection {
 public:
  enum class State { kConnecting, kHandshaking, kOpen, kEnded };

  // To an IPv4 address. No `context`: no TLS.
  HostileConnection(const HostPort& to, const std::shared_ptr<SSL_CTX>& context);
  // A reset, so that no port is kept waiting.
  ~HostileConnection();
  HostileConnection(const HostileConnection&) = delete;
  HostileConnection& operator=(const HostileConnection&) = delete;

  int fd() const { return fd_; }
  State state() const { return state_; }
  std::string* out() { return &out_; }  // to be sent
  int64_t sent() const { return sent_; }
  // It has something to send, or connects still.
  bool wants_to_write() const;

  // The socket is ready, or may be: goes on with what is under way and sends what it can.
  void Advance();
  // What has come. Notices the end, too.
  std::string Read();
  // The peer has ended it, says whoever watches the socket.
  void End() { state_ = State::kEnded; }

 private:
  void Connected();
  void Handshake();
  void Send();
  int64_t SendSome();         // 0: later, -1: never
  int64_t Judge(int result);  // of an SSL_ function

  const int fd_;
  const std::unique_ptr<SSL, void (*)(SSL*)> ssl_;  // null: no TLS
  State state_ = State::kConnecting;
  bool handshake_writes_ = false;
  std::string out_;
  size_t begun_ = 0;  // of out_, sent
  int64_t sent_ = 0;
};

}  // namespace vicinity::testing
