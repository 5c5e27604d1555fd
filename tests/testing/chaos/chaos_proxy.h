// A TCP proxy on the loopback device that makes networks bad on purpose, since the test machines'
// kernels have no means to delay packets.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/mutex.h"
#include "tests/testing/chaos/chaos_flow.h"

namespace vicinity::testing {

enum class Direction { kToServer = 0, kToClient = 1 };

// Since the start.
struct ChaosCounters {
  int64_t accepted = 0;             // connections
  int64_t open = 0;                 // now
  int64_t unreachable = 0;          // accepted, but the server refused: the client got a reset
  int64_t resets = 0;               // connections that ended by RST through the proxy's own doing
  std::array<int64_t, 2> bytes{};   // passed on, by direction
  std::array<int64_t, 2> pieces{};  // in so many writes
  std::array<int64_t, 2> corrupted{};  // bytes changed
};

// Threads:  one of its own moves the bytes; any thread may call any method.
// Lifetime: the destructor resets all connections and frees the port.
// Memory:   per direction of a connection kBufferBytes; beyond that the sender has to wait. At most
//           kMaxConnections at once, further ones wait in the kernel's backlog.
class ChaosProxy {
 public:
  static constexpr size_t kBufferBytes = 256 << 10;
  static constexpr size_t kMaxConnections = 1024;

  // Listens on 127.0.0.1 and a free port. Each connection gets one of its own to `server`, which
  // need not be there yet: its port must be an IPv4 address's. What jitters, and which bits flip,
  // depends on `seed`, the connection's number and the bytes' positions.
  static absl::StatusOr<std::unique_ptr<ChaosProxy>> Start(const HostPort& server, uint64_t seed);
  ~ChaosProxy();
  ChaosProxy(const ChaosProxy&) = delete;
  ChaosProxy& operator=(const ChaosProxy&) = delete;

  const HostPort& address() const { return address_; }

  // Where connections made from now on lead.
  void SetServer(const HostPort& server);

  // In force for every byte that arrives after the call, on open connections and new ones. Lifting
  // `swallow` resets the connections that lost bytes: no network delivers a stream with a hole.
  void Set(Direction direction, const Toxics& toxics);
  void SetBoth(const Toxics& toxics);
  void Heal();  // no toxics, and accepts again

  // While off, new connections wait in the kernel's backlog: made, but never answered.
  void SetAccepting(bool on);

  // Of all connections there are: RST to both sides at once, what is under way is lost; FIN to both
  // sides at once; FIN to the receiver of one direction after what is under way, while the other
  // goes on.
  void ResetAll();
  void CutAll();
  void HalfCloseAll(Direction direction);

  ChaosCounters counters() const;

 private:
  struct Connection;

  ChaosProxy(HostPort server, uint64_t seed, int listener, int wake, int port);
  void Run();
  void Wake() const;
  void AcceptSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Connect(int client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MoveAll(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // False: it is over and closed.
  bool Move(Connection* connection, SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Count(const Connection& connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t seed_;
  const int listener_;
  const int wake_;  // an eventfd that ends the thread's wait
  const HostPort address_;

  mutable Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool accepting_ ABSL_GUARDED_BY(mu_) = true;
  HostPort server_ ABSL_GUARDED_BY(mu_);
  std::array<Toxics, 2> toxics_ ABSL_GUARDED_BY(mu_);
  std::list<std::unique_ptr<Connection>> connections_ ABSL_GUARDED_BY(mu_);
  ChaosCounters counters_ ABSL_GUARDED_BY(mu_);  // of what is over; `open` unused

  std::thread thread_;  // last: it uses all above
};

}  // namespace vicinity::testing
