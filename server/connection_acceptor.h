// Accepts connections up to a limit. gRPC 1.51 has none, and where a process runs out of files it
// stops accepting for good.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "partition/cluster_file.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads:  one of its own accepts; any thread may call any method.
// Lifetime: the destructor closes the port. Connections that were taken belong to their taker.
class ConnectionAcceptor {
 public:
  // Takes the connection `fd`, which does not block, and closes it some day.
  using Take = std::function<void(int listener_fd, int fd)>;

  // Listens on every address that the host has; port 0 picks one. Unavailable with what the system
  // said. Nobody is accepted before Start.
  static absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> Listen(const HostPort& address,
                                                                    int64_t max_connections);
  ~ConnectionAcceptor();
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

  // Once. Connections beyond the limit are reset at once.
  void Start(Take take);
  // Refuses connections from now on; `take` is called no more when it returns.
  void Stop();

  int port() const { return port_; }
  int64_t max_connections() const { return max_connections_; }
  // Those taken that are open still. Cost: a system call for each.
  int64_t CountOpen();
  int64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  ConnectionAcceptor(int64_t max_connections, int wake_fd);
  absl::Status Bind(const HostPort& address);
  void Run();
  void AcceptFrom(int listener_fd);
  void Admit(int listener_fd, int fd);
  void ForgetClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int64_t max_connections_;
  const int wake_fd_;
  int port_ = 0;
  std::vector<int> listeners_;  // fixed while the thread runs
  Take take_;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> refused_{0};
  Mutex mu_;
  // Which connection had which number: a number in use by another is that of a closed one.
  std::unordered_map<int, ino_t> open_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace vicinity
