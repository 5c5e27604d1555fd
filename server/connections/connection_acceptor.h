// Accepts connections as the guard lets them in, and ends those that it cuts off. gRPC 1.51 has no
// limits of its own, and where a process runs out of files it stops accepting for good.
#pragma once

#include <spdlog/logger.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster/cluster_file.h"
#include "server/connections/connection_guard.h"
#include "server/connections/newcomers.h"

namespace vicinity {

// Memory that connections have taken which were cut off is given back to the system.
//
// Threads:  one of its own accepts and looks at connections; any thread may call any method.
// Lifetime: the destructor closes the port. Connections that were taken belong to their taker.
class ConnectionAcceptor {
 public:
  // Takes the connection `fd`, which does not block, and closes it some day.
  using Take = std::function<void(int listener_fd, int fd)>;

  // Listens on every address that the host has; port 0 picks one. Unavailable with what the system
  // said. Nobody is accepted before Start.
  // `log` outlives it and gets a line for whoever is cut off.
  static absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> Listen(const HostPort& address,
                                                                    const ConnectionLimits& limits,
                                                                    spdlog::logger* log);
  ~ConnectionAcceptor();
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

  // Once. Connections that are not let in are reset at once.
  void Start(Take take);
  // Refuses connections from now on; `take` is called no more when it returns.
  void Stop();

  int port() const { return port_; }
  ConnectionGuard* guard() { return &guard_; }
  int64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  ConnectionAcceptor(const ConnectionLimits& limits, spdlog::logger* log, int wake_fd);
  absl::Status Bind(const HostPort& address);
  void Run();
  void AcceptFrom(int listener_fd);
  // Connections are looked at and newcomers let in in rounds, so that neither takes the time that
  // calls need, however many come. False: the last one is not over.
  bool BeginRound(ConnectionGuard::Time now);
  bool MayLetIn() const;
  void Queue(int listener_fd, int fd, const sockaddr_storage& address);
  void Refuse(int fd);
  void LetInSome();
  bool LetIn(const Newcomer& newcomer);
  void LookAtConnections();
  void LookAtSuspects();
  // True: it is there no more.
  bool Look(ConnectionGuard::Id id, int fd, ConnectionGuard::Time now);
  void EndOther(ConnectionGuard::Id id);
  void ForgetClosed();
  void GiveMemoryBackSoon(ConnectionGuard::Time now);
  void GiveMemoryBack(ConnectionGuard::Time now);

  ConnectionGuard guard_;
  spdlog::logger* const log_;
  const int wake_fd_;
  int port_ = 0;
  std::vector<int> listeners_;  // fixed while the thread runs
  Take take_;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> refused_{0};
  // The thread's alone: connections that were taken, by what tells their sockets apart.
  std::map<ConnectionGuard::Id, int> open_;
  ConnectionGuard::Id last_looked_at_ = 0;
  // Of them, those that are new, or owed something when it was last their turn.
  std::set<ConnectionGuard::Id> suspects_;
  ConnectionGuard::Time suspects_looked_at_;
  // When memory is next given back to the system; the epoch: not at all.
  ConnectionGuard::Time gives_back_at_;
  int gives_back_again_ = 0;
  Newcomers newcomers_;
  ConnectionGuard::Time round_began_;  // in which so many were let in, and what that took
  int64_t let_in_ = 0;
  std::chrono::nanoseconds letting_in_{0};
  std::thread thread_;
};

}  // namespace vicinity
