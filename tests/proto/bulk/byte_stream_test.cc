#include "proto/bulk/byte_stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/testing/status_checks.h"

namespace vicinity::bulk {
namespace {

class ByteStreamTest {
 protected:
  ByteStreamTest() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_) == 0); }
  ~ByteStreamTest() {
    close(fds_[0]);
    if (!closed_) close(fds_[1]);
  }
  void CloseOther() {
    close(fds_[1]);
    closed_ = true;
  }

  int fds_[2];
  bool closed_ = false;
};

TEST_CASE_METHOD(ByteStreamTest, "bytes go from one end to the other", "[byte_stream]") {
  SocketStream here(fds_[0]);
  SocketStream there(fds_[1]);
  char first[3];
  char second[10];
  const iovec to[] = {{first, sizeof(first)}, {second, sizeof(second)}};
  VICINITY_ASSERT_OK_AND_ASSIGN(size_t count, there.Read(to));
  CHECK(count == 0);
  std::string a = "abc";
  std::string b = "defg";
  const iovec from[] = {{a.data(), a.size()}, {b.data(), b.size()}};
  VICINITY_ASSERT_OK_AND_ASSIGN(count, here.Write(from));
  CHECK(count == 7);
  VICINITY_ASSERT_OK_AND_ASSIGN(count, there.Read(to));
  CHECK(count == 7);
  CHECK(std::string(first, 3) + std::string(second, 4) == "abcdefg");
}

TEST_CASE_METHOD(ByteStreamTest, "a full socket takes nothing", "[byte_stream]") {
  SocketStream here(fds_[0]);
  std::string much(1 << 20, 'x');
  const iovec from[] = {{much.data(), much.size()}};
  size_t last = 1;
  for (int i = 0; i < 1000 && last > 0; ++i) {
    VICINITY_ASSERT_OK_AND_ASSIGN(last, here.Write(from));
  }
  CHECK(last == 0);
}

TEST_CASE_METHOD(ByteStreamTest, "an end that is gone is unavailable", "[byte_stream]") {
  SocketStream here(fds_[0]);
  CloseOther();
  char byte = 0;
  const iovec piece[] = {{&byte, 1}};
  VICINITY_CHECK_CODE(here.Read(piece), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(here.Write(piece), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity::bulk
