#include "server/service_manager.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

constexpr timeval kLongestSend = {2, 0};

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<int64_t> Number(const char* name, const std::string& text) {
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number > 0) return number;
  return absl::InvalidArgumentError(absl::StrCat(
      name, "=", text, ": not a number above 0; the service manager sets it, nobody else should"));
}

absl::StatusOr<sockaddr_un> AddressOf(const std::string& socket, socklen_t* size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((socket[0] != '/' && socket[0] != '@') || socket.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("NOTIFY_SOCKET=", socket,
                                                   ": neither a path nor @name of fewer than ",
                                                   sizeof(address.sun_path), " bytes"));
  }
  std::memcpy(address.sun_path, socket.data(), socket.size());
  if (socket[0] == '@') address.sun_path[0] = '\0';
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  return address;
}

// A socket that sends to the manager alone; -1 for none.
absl::StatusOr<int> Connect(const std::string& socket) {
  if (socket.empty()) return -1;
  socklen_t size = 0;
  VICINITY_ASSIGN_OR_RETURN(const sockaddr_un address, AddressOf(socket, &size));
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::UnavailableError(absl::StrCat("socket: ", std::strerror(errno)));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kLongestSend, sizeof(kLongestSend));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    const int error = errno;
    close(fd);
    return absl::UnavailableError(
        absl::StrCat("NOTIFY_SOCKET=", socket, ": ", std::strerror(error)));
  }
  return fd;
}

}  // namespace

absl::StatusOr<ServiceManagerOptions> ServiceManagerOptions::FromEnvironment() {
  ServiceManagerOptions options;
  options.socket = Variable("NOTIFY_SOCKET");
  const std::string period = Variable("WATCHDOG_USEC");
  if (options.socket.empty() || period.empty()) return options;
  VICINITY_ASSIGN_OR_RETURN(const int64_t microseconds, Number("WATCHDOG_USEC", period));
  const std::string watched = Variable("WATCHDOG_PID");
  if (!watched.empty()) {
    VICINITY_ASSIGN_OR_RETURN(const int64_t pid, Number("WATCHDOG_PID", watched));
    if (pid != getpid()) return options;  // it waits for another process
  }
  options.watchdog = std::chrono::microseconds(microseconds);
  return options;
}

absl::StatusOr<std::unique_ptr<ServiceManager>> ServiceManager::Create(
    const ServiceManagerOptions& options, spdlog::logger* log) {
  VICINITY_ASSIGN_OR_RETURN(const int fd, Connect(options.socket));
  return std::unique_ptr<ServiceManager>(new ServiceManager(fd, options, log));
}

ServiceManager::ServiceManager(int fd, const ServiceManagerOptions& options, spdlog::logger* log)
    : fd_(fd), options_(options), log_(log) {}

ServiceManager::~ServiceManager() {
  StopWatching();
  if (fd_ >= 0) close(fd_);
}

void ServiceManager::Starting(absl::string_view status) { Tell("", status); }
void ServiceManager::Ready(absl::string_view status) { Tell("READY=1\n", status); }
void ServiceManager::Stopping(absl::string_view status) { Tell("STOPPING=1\n", status); }

void ServiceManager::Tell(absl::string_view state, absl::string_view status) {
  if (fd_ < 0) return;
  std::string text(state);
  if (!status.empty()) absl::StrAppend(&text, "STATUS=", status, "\n");
  if (send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size())) {
    return;
  }
  const int error = errno;
  {
    const MutexLock lock(&mu_);
    if (std::exchange(unheard_, true)) return;
  }
  log_->warn("the service manager takes no messages at {}: {}", options_.socket,
             std::strerror(error));
}

absl::Status ServiceManager::WatchOver(std::function<bool(std::chrono::nanoseconds)> is_alive) {
  if (fd_ < 0 || options_.watchdog.count() <= 0) return absl::OkStatus();
  {
    const MutexLock lock(&mu_);
    watching_ = true;
  }
  VICINITY_ASSIGN_OR_RETURN(
      watcher_, StartThread([this, is_alive = std::move(is_alive)] { Watch(is_alive); }));
  return absl::OkStatus();
}

void ServiceManager::StopWatching() {
  {
    const MutexLock lock(&mu_);
    watching_ = false;
  }
  changed_.NotifyAll();
  if (watcher_.joinable()) watcher_.join();
}

void ServiceManager::Watch(const std::function<bool(std::chrono::nanoseconds)>& is_alive) {
  const std::chrono::nanoseconds limit = options_.watchdog / 3;
  bool was_alive = true;
  do {
    const auto begun = std::chrono::steady_clock::now();
    const bool alive = is_alive(limit);
    if (alive) Tell("WATCHDOG=1\n", "");
    if (was_alive && !alive) {
      log_->error(
          "the server does not answer itself within {} ms; unless it does again the service "
          "manager ends it",
          std::chrono::duration_cast<std::chrono::milliseconds>(limit).count());
    }
    was_alive = alive;
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun;
    if (!WaitFor(limit - took)) return;
  } while (true);
}

bool ServiceManager::WaitFor(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const MutexLock lock(&mu_);
  while (watching_) {
    const std::chrono::nanoseconds left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return true;
    changed_.WaitFor(&mu_, left);
  }
  return false;
}

}  // namespace vicinity
