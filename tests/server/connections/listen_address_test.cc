#include "server/connections/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// Listens on a port of the kernel's choice on 127.0.0.1.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, raw, length) == 0 && listen(fd_, 1) == 0 && getsockname(fd_, raw, &length) == 0) {
      port_ = ntohs(address.sin_port);
    }
  }
  ~Listener() { close(fd_); }
  int port() const { return port_; }

 private:
  const int fd_;
  int port_ = 0;
};

TEST_CASE("a free port may be listened on, and still after it was asked about", "[listen]") {
  VICINITY_CHECK_OK(CheckListenAddress({"127.0.0.1", 0}));
  int port = 0;
  {
    const Listener listener;
    port = listener.port();
    REQUIRE(port != 0);
  }
  VICINITY_CHECK_OK(CheckListenAddress({"127.0.0.1", port}));
  VICINITY_CHECK_OK(CheckListenAddress({"127.0.0.1", port}));
}

TEST_CASE("a port in use is told with the process that holds it", "[listen]") {
  const Listener listener;
  REQUIRE(listener.port() != 0);
  const absl::Status status = CheckListenAddress({"127.0.0.1", listener.port()});
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  const std::string text(status.message());
  CHECK_THAT(text, Catch::Contains(absl::StrCat("127.0.0.1:", listener.port())));
  CHECK_THAT(text, Catch::Contains("Address already in use"));
  const std::string me = absl::StrCat("pid ", getpid(), " (");
  CHECK_THAT(text, Catch::Contains(me));
  CHECK_THAT(ListenersOn(listener.port()), Catch::StartsWith(me));
}

TEST_CASE("an address of another host is told with this host's addresses", "[listen]") {
  // 192.0.2.0/24 is for documentation: no host has it.
  const absl::Status status = CheckListenAddress({"192.0.2.1", 0});
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("192.0.2.1:0"));
  CHECK_THAT(std::string(status.message()), Catch::Contains("127.0.0.1"));
}

TEST_CASE("a host that is no address and no known name is refused", "[listen]") {
  VICINITY_CHECK_CODE(CheckListenAddress({"no-such-host.invalid", 0}),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("nobody listens on a port that was let go", "[listen]") {
  int port = 0;
  {
    const Listener listener;
    port = listener.port();
  }
  CHECK(ListenersOn(port).empty());
}

}  // namespace
}  // namespace vicinity
