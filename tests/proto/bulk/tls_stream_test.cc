#include "proto/bulk/tls_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/security/certificates.h"
#include "proto/security/tls_sessions.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"

namespace vicinity::bulk {
namespace {

using testing::CertificateAuthority;
using testing::IssuedCertificate;

constexpr int kWait = 10'000;  // milliseconds

bool Await(int fd, short what) {
  pollfd waits{fd, what, 0};
  return poll(&waits, 1, kWait) == 1;
}

std::string RandomBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Both ends of a connection over a socket that holds little.
class TlsStreamTest {
 protected:
  TlsStreamTest() {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds_.data()) == 0);
    const int holds = 16 << 10;
    for (const int fd : fds_) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &holds, sizeof(holds));
  }
  ~TlsStreamTest() {
    for (const int fd : fds_) close(fd);
  }

  static TlsSessions::Options OptionsOf(TlsEnd end, const TlsMaterial& material) {
    TlsSessions::Options options;
    options.end = end;
    options.material = [material] { return material; };
    options.wants_certificates = false;
    options.only_newest = true;
    return options;
  }
  void Make(const std::string& host = "localhost", TlsStream::Check check = nullptr) {
    const IssuedCertificate issued = authority_.Issue({});
    TlsMaterial server;
    server.ca = authority_.certificate();
    server.certificate = issued.certificate;
    server.key = issued.key;
    TlsMaterial client;
    client.ca = authority_.certificate();
    TlsSessions servers(OptionsOf(TlsEnd::kServer, server));
    TlsSessions clients(OptionsOf(TlsEnd::kClient, client));
    ends_[0] = std::make_unique<TlsStream>(fds_[0], clients.New(host), std::move(check));
    ends_[1] = std::make_unique<TlsStream>(fds_[1], servers.New());
  }
  // The first that an end says, when both are asked in turns, but for "not yet".
  absl::Status Begin() {
    for (int i = 0; i < 10; ++i) {
      int begun = 0;
      for (const auto& end : ends_) {
        const absl::StatusOr<bool> done = end->Begin();
        if (!done.ok()) return done.status();
        begun += *done ? 1 : 0;
      }
      if (begun == 2) return absl::OkStatus();
    }
    return absl::InternalError("it does not begin");
  }

  // Writes all in pieces of any size. `from` is not to be changed while bytes of it are not taken.
  void WriteAll(int end, const std::string& bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (size_t gone = 0; gone < bytes.size();) {
      std::vector<iovec> pieces;
      size_t at = gone;
      for (int i = 0; i < 5 && at < bytes.size(); ++i) {
        const size_t size = std::min<size_t>(bytes.size() - at, random() % (i == 3 ? 70'000 : 50));
        pieces.push_back({const_cast<char*>(bytes.data()) + at, size});
        at += size;
      }
      if (at == gone) continue;
      const absl::StatusOr<size_t> count = ends_[end]->Write(pieces);
      if (!count.ok()) return;
      gone += *count;
      if (*count == 0 && !Await(fds_[end], POLLOUT)) return;
    }
  }
  std::string ReadSome(int end, size_t size) {
    std::string bytes(size, '\0');
    for (size_t come = 0; come < size;) {
      const size_t first = std::min<size_t>(size - come, 40'000);
      const iovec pieces[] = {{bytes.data() + come, first},
                              {bytes.data() + come + first, size - come - first}};
      const absl::StatusOr<size_t> count = ends_[end]->Read(pieces);
      if (!count.ok() || (*count == 0 && !Await(fds_[end], POLLIN))) return "";
      come += *count;
    }
    return bytes;
  }

  const CertificateAuthority authority_{"ours"};
  std::array<int, 2> fds_{};
  std::array<std::unique_ptr<TlsStream>, 2> ends_;
};

TEST_CASE_METHOD(TlsStreamTest, "bytes go both ways at once, whatever the socket holds",
                 "[tls_stream]") {
  Make();
  VICINITY_REQUIRE_OK(Begin());
  const std::array<std::string, 2> sent = {RandomBytes(5'000'000, 1), RandomBytes(3'000'000, 2)};
  std::array<std::string, 2> come;
  std::vector<std::thread> threads;
  for (int end : {0, 1}) {
    threads.emplace_back([&, end] { WriteAll(end, sent[end], 3 + end); });
    threads.emplace_back([&, end] { come[end] = ReadSome(end, sent[1 - end].size()); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK((come[1] == sent[0]));
  CHECK((come[0] == sent[1]));
}

TEST_CASE_METHOD(TlsStreamTest, "what is said to be taken gets there without another word",
                 "[tls_stream]") {
  Make();
  VICINITY_REQUIRE_OK(Begin());
  const std::string sent = RandomBytes(200'000, 1);
  std::string come;
  const auto read = [&] {
    char some[10'000];
    const iovec piece = {some, sizeof(some)};
    for (size_t count = 1; count > 0;) {
      VICINITY_ASSERT_OK_AND_ASSIGN(count, ends_[1]->Read({&piece, 1}));
      come.append(some, count);
    }
  };
  size_t gone = 0;
  for (int i = 0; i < 1000 && gone < sent.size(); ++i) {
    const iovec piece = {const_cast<char*>(sent.data()) + gone, sent.size() - gone};
    VICINITY_ASSERT_OK_AND_ASSIGN(const size_t count, ends_[0]->Write({&piece, 1}));
    gone += count;
    if (count == 0) {
      // It is more by one than was said, and no byte less.
      read();
      CHECK(come.size() <= gone + 1);
    }
  }
  CHECK(gone == sent.size());
  read();
  CHECK((come == sent));
}

TEST_CASE_METHOD(TlsStreamTest, "who is not to be trusted is told so, and gets nothing",
                 "[tls_stream]") {
  SECTION("its certificate is for another host") {
    Make("elsewhere");
    const absl::Status refused = Begin();
    VICINITY_CHECK_CODE(refused, absl::StatusCode::kUnavailable);
    CHECK_THAT(std::string(refused.message()), Catch::Contains("hostname mismatch"));
    // The server hears why.
    const absl::StatusOr<bool> heard = ends_[1]->Begin();
    VICINITY_CHECK_CODE(heard.status(), absl::StatusCode::kUnavailable);
    CHECK_THAT(std::string(heard.status().message()), Catch::Contains("alert"));
  }
  SECTION("whoever looks at the session says no") {
    Make("localhost", [](const SSL&) { return absl::UnauthenticatedError("revoked"); });
    VICINITY_CHECK_CODE(Begin(), absl::StatusCode::kUnauthenticated);
  }
  SECTION("it does not speak TLS") {
    Make();
    const std::string plain(100, 'x');
    REQUIRE(write(fds_[0], plain.data(), plain.size()) == 100);
    VICINITY_CHECK_CODE(ends_[1]->Begin().status(), absl::StatusCode::kUnavailable);
  }
}

TEST_CASE_METHOD(TlsStreamTest, "what has come before the end is read, then the end",
                 "[tls_stream]") {
  Make();
  VICINITY_REQUIRE_OK(Begin());
  WriteAll(0, "the last words", 1);
  SECTION("the other end has gone") { shutdown(fds_[0], SHUT_RDWR); }
  SECTION("what follows is damaged") {
    const std::string damaged("\x17\x03\x03\x00\x20 and now something else that is no record", 45);
    REQUIRE(write(fds_[0], damaged.data(), damaged.size()) == 45);
  }
  char some[100];
  const iovec piece = {some, sizeof(some)};
  VICINITY_ASSERT_OK_AND_ASSIGN(const size_t count, ends_[1]->Read({&piece, 1}));
  CHECK(std::string(some, count) == "the last words");
  VICINITY_CHECK_CODE(ends_[1]->Read({&piece, 1}).status(), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(ends_[1]->Read({&piece, 1}).status(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity::bulk
