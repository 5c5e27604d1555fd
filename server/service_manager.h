// What the daemon tells the service manager that started it (systemd, with Type=notify).
//
// The protocol is that of sd_notify(3): a datagram of lines to a Unix socket. It is spoken here,
// for libsystemd would bring five more libraries into every package and wheel for these few lines.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/common/mutex.h"

namespace vicinity {

struct ServiceManagerOptions {
  // A path, or @name in the abstract namespace. Empty: there is no manager.
  std::string socket;
  // How long it waits for a sign of life before it ends the process; 0: for ever.
  std::chrono::nanoseconds watchdog{0};

  // From NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, as a manager sets them for this process.
  // InvalidArgument naming the variable and its value.
  static absl::StatusOr<ServiceManagerOptions> FromEnvironment();
};

// Without a manager every method does nothing. A manager that takes no message is no reason to
// stop: the log says so, once.
//
// Threads:  any may call any method; one of its own while WatchOver is in force.
// Lifetime: `log` outlives it.
class ServiceManager {
 public:
  // InvalidArgument for a name that no socket can have; Unavailable if the system gives no socket.
  static absl::StatusOr<std::unique_ptr<ServiceManager>> Create(
      const ServiceManagerOptions& options, spdlog::logger* log);
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // `status` is for people: a line of `systemctl status`.
  void Starting(absl::string_view status);
  void Ready(absl::string_view status);
  void Stopping(absl::string_view status);

  // Says that the process is alive three times in the manager's waiting time, each time that
  // `is_alive(limit)` is true; it must return within about `limit`. Once at most; until
  // StopWatching. ResourceExhausted where no thread can be had.
  absl::Status WatchOver(std::function<bool(std::chrono::nanoseconds limit)> is_alive);
  // Waits for an `is_alive` under way.
  void StopWatching();

 private:
  ServiceManager(int fd, const ServiceManagerOptions& options, spdlog::logger* log);
  void Tell(absl::string_view state, absl::string_view status);
  void Watch(const std::function<bool(std::chrono::nanoseconds)>& is_alive);
  // False when watching is to end.
  bool WaitFor(std::chrono::nanoseconds time);

  const int fd_;  // -1: no manager
  const ServiceManagerOptions options_;
  spdlog::logger* const log_;
  std::thread watcher_;

  Mutex mu_;
  CondVar changed_;
  bool watching_ ABSL_GUARDED_BY(mu_) = false;
  bool unheard_ ABSL_GUARDED_BY(mu_) = false;  // the log has it
};

}  // namespace vicinity
