// What one connection of an attack says, and how it listens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace vicinity::testing {

// When a connection of an attack counts as made, and what it has done until then.
enum class Opening {
  kHandshake,  // TLS and all, where there is TLS
  kTcpOnly,    // the attack is before that
};

// Threads: one at a time. An Attacker makes one for each connection and asks it for more whenever
//          the socket takes more, something was heard, or a tenth of a second has passed.
class HostileSession {
 public:
  virtual ~HostileSession() = default;

  // Appends what is to be said now; nothing: waits.
  virtual void Say(std::string* out) = 0;
  virtual void Hear(absl::string_view /*bytes*/) {}
  // False: what comes stays unread, until nothing more fits into the sockets' buffers.
  virtual bool reads() const { return true; }
  // True once the connection has served its purpose: the attacker ends it, and makes another.
  virtual bool done() const { return false; }
};

// What attacks know of the server.
struct AttackTarget {
  int64_t max_connections = 1024;  // that it takes
  std::string rows_request;        // a FetchRows, serialized: a few KiB, for many more
};

// One way to harm a server.
struct Attack {
  std::string name;
  Opening opening = Opening::kHandshake;
  int num_connections = 8;
  // A server has to end each of its connections within a second. Otherwise it need only hold out:
  // what the connections cost is bounded, however long they stay.
  bool must_be_cut = true;
  std::function<std::unique_ptr<HostileSession>()> make_session;
};

}  // namespace vicinity::testing
