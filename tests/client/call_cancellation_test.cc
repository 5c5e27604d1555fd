#include "client/call_cancellation.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "client/graph.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// Takes connections, and says nothing to whoever made them.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in any = {};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(any);
    REQUIRE(bind(socket_, reinterpret_cast<sockaddr*>(&any), size) == 0);
    REQUIRE(listen(socket_, 8) == 0);
    REQUIRE(getsockname(socket_, reinterpret_cast<sockaddr*>(&any), &size) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(any.sin_port));
  }
  ~SilentServer() {
    if (taken_ >= 0) close(taken_);
    close(socket_);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  const std::string& address() const { return address_; }
  void WaitForConnection() { taken_ = accept(socket_, nullptr, nullptr); }

 private:
  const int socket_;
  int taken_ = -1;
  std::string address_;
};

// Of a cluster with one server, which is waited for as long as a test may last.
GraphOptions OptionsOf(const testing::TempDir& folder, const std::string& address) {
  GraphOptions options;
  options.cluster_file = folder.path() + "/cluster.textproto";
  std::ofstream(options.cluster_file)
      << "data: '/nowhere' num_shards: 1 servers { name: 'a' listen: '" << address
      << "' shards: 0 }\n";
  options.connect_timeout = std::chrono::minutes(10);
  return options;
}

ErrorCode OpenWith(const GraphOptions& options) { return Graph::Open(options).error().code(); }

TEST_CASE("a graph that waits for its servers is given up from another thread", "[cancellation]") {
  const testing::TempDir folder;
  SilentServer server;
  const GraphOptions options = OptionsOf(folder, server.address());
  const auto given_up = std::make_unique<CallCancellation>();
  ErrorCode code = ErrorCode::kOk;
  std::thread opening([&] {
    given_up->Enter();
    code = OpenWith(options);
  });
  server.WaitForConnection();
  given_up->Cancel();
  opening.join();
  CHECK(code == ErrorCode::kCancelled);
}

TEST_CASE("calls that begin after the cancelling end, too, until the thread leaves",
          "[cancellation]") {
  const testing::TempDir folder;
  GraphOptions options = OptionsOf(folder, "127.0.0.1:1");
  options.connect_timeout = std::chrono::milliseconds(200);
  const CallCancellation given_up;
  const CallCancellation other;
  given_up.Cancel();
  given_up.Enter();
  CHECK(OpenWith(options) == ErrorCode::kCancelled);
  other.Enter();
  CHECK(OpenWith(options) == ErrorCode::kUnavailable);
  other.Cancel();
  CHECK(OpenWith(options) == ErrorCode::kCancelled);
  CallCancellation::Leave();
  CHECK(OpenWith(options) == ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity
