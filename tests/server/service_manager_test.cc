#include "server/service_manager.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "server/logging/logging.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;

// The manager's end of the socket, as systemd has it.
class Manager {
 public:
  // At a path, or with "@..." in the abstract namespace.
  explicit Manager(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(name.size() < sizeof(address.sun_path));
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  }
  ~Manager() { close(fd_); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // The next message; "" if none comes within `limit`.
  std::string Next(milliseconds limit = milliseconds(10000)) {
    pollfd wanted = {fd_, POLLIN, 0};
    if (poll(&wanted, 1, static_cast<int>(limit.count())) != 1) return "";
    char text[512];
    const ssize_t got = recv(fd_, text, sizeof(text), 0);
    return got < 0 ? "" : std::string(text, static_cast<size_t>(got));
  }

 private:
  const int fd_;
};

// A folder by a path that is short enough for a socket, wherever it lies.
class ShortFolder {
 public:
  ShortFolder() : fd_(open(folder_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  ~ShortFolder() { close(fd_); }
  ShortFolder(const ShortFolder&) = delete;
  ShortFolder& operator=(const ShortFolder&) = delete;

  std::string File(const std::string& name) const {
    return "/proc/self/fd/" + std::to_string(fd_) + "/" + name;
  }

 private:
  const testing::TempDir folder_;
  const int fd_;
};

class ServiceManagerTest {
 protected:
  ServiceManagerOptions Options(milliseconds watchdog = milliseconds(0)) const {
    ServiceManagerOptions options;
    options.socket = name_;
    options.watchdog = watchdog;
    return options;
  }

  const ShortFolder folder_;
  const std::string name_ = folder_.File("notify");
  Manager manager_{name_};
  const std::shared_ptr<spdlog::logger> log_ = MakeSilentLogger();
};

// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), /*replace=*/1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

TEST_CASE_METHOD(ServiceManagerTest, "a manager is told each step, with words for people",
                 "[service]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto told, ServiceManager::Create(Options(), log_.get()));
  told->Starting("opening shards");
  told->Ready("serving");
  told->Stopping("letting calls end");
  CHECK(manager_.Next() == "STATUS=opening shards\n");
  CHECK(manager_.Next() == "READY=1\nSTATUS=serving\n");
  CHECK(manager_.Next() == "STOPPING=1\nSTATUS=letting calls end\n");
}

TEST_CASE("a manager may listen in the abstract namespace", "[service]") {
  const std::string name = "@vicinity-test-" + std::to_string(getpid());
  Manager manager(name);
  ServiceManagerOptions options;
  options.socket = name;
  const auto log = MakeSilentLogger();
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto told, ServiceManager::Create(options, log.get()));
  told->Ready("");
  CHECK(manager.Next() == "READY=1\n");
}

TEST_CASE_METHOD(ServiceManagerTest, "signs of life come while the server is alive, and only then",
                 "[service]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto told,
                                ServiceManager::Create(Options(milliseconds(60)), log_.get()));
  std::atomic<bool> alive{true};
  std::atomic<int> asked{0};
  VICINITY_REQUIRE_OK(told->WatchOver([&](std::chrono::nanoseconds limit) {
    asked += limit == milliseconds(20) ? 1 : 1000;
    return alive.load();
  }));
  CHECK(manager_.Next() == "WATCHDOG=1\n");
  CHECK(manager_.Next() == "WATCHDOG=1\n");
  alive = false;
  const int before = asked;
  while (asked < before + 3) std::this_thread::yield();
  // Whatever was told before the question that found it dead; then nothing more.
  while (!manager_.Next(milliseconds(0)).empty()) {
  }
  const int later = asked;
  while (asked < later + 3) std::this_thread::yield();
  CHECK(manager_.Next(milliseconds(0)).empty());
  alive = true;
  CHECK(manager_.Next() == "WATCHDOG=1\n");
  told->StopWatching();
  CHECK(asked < 1000);
}

TEST_CASE_METHOD(ServiceManagerTest, "nobody is asked where no manager waits", "[service]") {
  const ServiceManagerOptions options = GENERATE(true, false) ? Options() : ServiceManagerOptions{};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto told, ServiceManager::Create(options, log_.get()));
  VICINITY_CHECK_OK(told->WatchOver([](std::chrono::nanoseconds) -> bool { std::abort(); }));
  told->StopWatching();
  CHECK(manager_.Next(milliseconds(0)).empty());
}

TEST_CASE("a manager that has gone does no harm", "[service]") {
  const ShortFolder folder;
  ServiceManagerOptions options;
  options.socket = folder.File("notify");
  const auto log = MakeSilentLogger();
  std::unique_ptr<ServiceManager> told;
  {
    Manager manager(options.socket);
    VICINITY_ASSERT_OK_AND_ASSIGN(told, ServiceManager::Create(options, log.get()));
  }
  told->Ready("serving");
  told->Stopping("");
}

TEST_CASE("a socket that cannot be is named", "[service]") {
  const auto log = MakeSilentLogger();
  ServiceManagerOptions options;
  options.socket = GENERATE("notify", "unix:/run/notify", std::string(200, '/'));
  VICINITY_CHECK_CODE(ServiceManager::Create(options, log.get()),
                      absl::StatusCode::kInvalidArgument);
  options.socket = "/nonexistent/notify";
  VICINITY_CHECK_CODE(ServiceManager::Create(options, log.get()), absl::StatusCode::kUnavailable);
}

TEST_CASE("the environment says who waits, and for how long", "[service]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(ServiceManagerOptions options,
                                ServiceManagerOptions::FromEnvironment());
  CHECK(options.socket.empty());
  const Variable socket("NOTIFY_SOCKET", "/run/notify");
  const Variable period("WATCHDOG_USEC", "30000000");
  VICINITY_ASSERT_OK_AND_ASSIGN(options, ServiceManagerOptions::FromEnvironment());
  CHECK(options.socket == "/run/notify");
  CHECK(options.watchdog == std::chrono::seconds(30));
  {
    const Variable other("WATCHDOG_PID", std::to_string(getppid()));
    VICINITY_ASSERT_OK_AND_ASSIGN(options, ServiceManagerOptions::FromEnvironment());
    CHECK(options.watchdog.count() == 0);
  }
  const Variable own("WATCHDOG_PID", std::to_string(getpid()));
  VICINITY_ASSERT_OK_AND_ASSIGN(options, ServiceManagerOptions::FromEnvironment());
  CHECK(options.watchdog == std::chrono::seconds(30));
  const Variable wrong("WATCHDOG_USEC", GENERATE("soon", "0", "-1", "1.5"));
  VICINITY_CHECK_CODE(ServiceManagerOptions::FromEnvironment(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
