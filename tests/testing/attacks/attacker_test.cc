#include "tests/testing/attacks/attacker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/cluster/cluster_file.h"
#include "tests/testing/attacks/attacks.h"
#include "tests/testing/attacks/hostile_connection.h"
#include "tests/testing/attacks/hostile_session.h"
#include "tests/testing/attacks/http2_frames.h"
#include "tests/testing/hosts/certificate_authority.h"

namespace vicinity::testing {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(20);

// Accepts connections and reads what they say, up to some bytes of each.
class Listener {
 public:
  explicit Listener(size_t most_bytes) : most_bytes_(most_bytes) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(listen(fd_, 100) == 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    address_ = HostPort{"127.0.0.1", ntohs(address.sin_port)};
    thread_ = std::thread([this] { Run(); });
  }
  ~Listener() {
    stop_ = true;
    thread_.join();
    close(fd_);
  }

  const HostPort& address() const { return address_; }
  // The most that any connection has said so far.
  size_t heard() const { return heard_; }
  int64_t ended() const { return ended_; }  // by this end

 private:
  struct Taken {
    int fd;
    size_t heard;
  };

  void Run() {
    std::vector<Taken> taken;
    while (!stop_) {
      std::vector<pollfd> polled = {{fd_, POLLIN, 0}};
      for (const Taken& each : taken) polled.push_back({each.fd, POLLIN, 0});
      poll(polled.data(), polled.size(), 10);
      for (size_t i = taken.size(); i > 0; --i) {
        if (polled[i].revents == 0 || Listen(&taken[i - 1])) continue;
        close(taken[i - 1].fd);
        taken.erase(taken.begin() + static_cast<int64_t>(i) - 1);
      }
      if (polled[0].revents != 0) taken.push_back({accept(fd_, nullptr, nullptr), 0});
    }
    for (const Taken& each : taken) close(each.fd);
  }
  bool Listen(Taken* each) {
    char buffer[16 << 10];
    const ssize_t got = recv(each->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got <= 0) return false;
    each->heard += static_cast<size_t>(got);
    heard_ = std::max(heard_.load(), each->heard);
    if (each->heard < most_bytes_) return true;
    ++ended_;
    return false;
  }

  const size_t most_bytes_;
  int fd_ = -1;
  HostPort address_;
  std::atomic<size_t> heard_{0};
  std::atomic<int64_t> ended_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

template <typename Condition>
bool WaitUntil(const Condition& condition) {
  for (const absl::Time end = absl::Now() + kLimit; absl::Now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

AttackTarget SmallTarget() {
  AttackTarget target;
  target.max_connections = 20;
  target.rows_request = "rows";
  return target;
}

Attack Named(const std::string& name) {
  for (const Attack& attack : AllAttacks(SmallTarget())) {
    if (attack.name == name) return attack;
  }
  FAIL("no attack " << name);
  return {};
}

AttackerOptions Plain(const HostPort& address) {
  AttackerOptions options;
  options.address = address;
  options.tls = false;
  return options;
}

TEST_CASE("frames are read as they were written, wherever they were cut", "[attacker]") {
  const std::string wire =
      MakeFrame(FrameType::kSettings, kNoFlags, 0, MakeSetting(kInitialWindowSize, 7)) +
      MakeCall(0x01020304, "/a.B/C", "message") + MakeReset(5) + MakeWindowUpdate(0, 1 << 30);
  FrameReader reader;
  std::vector<Http2Frame> frames;
  for (const char byte : wire) {
    reader.Add(std::string(1, byte));
    while (const auto frame = reader.Next()) frames.push_back(*frame);
  }
  REQUIRE(frames.size() == 5);
  CHECK(frames[0].type == FrameType::kSettings);
  CHECK(frames[0].payload == std::string("\0\4\0\0\0\7", 6));
  CHECK(frames[1].type == FrameType::kHeaders);
  CHECK(frames[1].flags == kEndHeaders);
  CHECK(frames[1].stream == 0x01020304);
  CHECK(frames[2].flags == kEndStream);
  CHECK(frames[2].payload == std::string("\0\0\0\0\7message", 12));
  CHECK(frames[3].type == FrameType::kReset);
  CHECK(frames[4].payload == std::string("\x40\0\0\0", 4));
}

TEST_CASE("a header's length takes as many bytes as it needs", "[attacker]") {
  const auto head = [](size_t size) { return MakeHeader("", std::string(size, 'x')).substr(2); };
  CHECK(head(126).substr(0, 2) == "\x7ex");
  CHECK(head(127).substr(0, 3) == std::string("\x7f\0x", 3));
  CHECK(head(127 + 128).substr(0, 4) == std::string("\x7f\x80\1x", 4));
}

TEST_CASE("every attack says what it has to say, and goes on as long as it is let", "[attacker]") {
  std::set<std::string> names;
  const std::vector<Attack> attacks = AllAttacks(SmallTarget());
  CHECK(attacks.size() == 26);
  for (const Attack& attack : attacks) {
    CAPTURE(attack.name);
    CHECK(names.insert(attack.name).second);
    if (attack.name == "connect and close") continue;
    Listener listener(SIZE_MAX);
    Attacker attacker(Plain(listener.address()), attack);
    const bool floods = attack.must_be_cut && attack.name != "unknown methods";
    // Floods go on without an answer; calls wait for theirs.
    const size_t enough = floods ? 100'000 : 1;
    CHECK(WaitUntil([&] { return listener.heard() >= enough; }));
    const AttackReport report = attacker.Stop();
    CHECK(report.refused == 0);
    CHECK(report.cut == 0);
    CHECK(report.begun <= attack.num_connections);
  }
}

TEST_CASE("connections that are cut off come back at once", "[attacker]") {
  Listener listener(100'000);
  Attacker attacker(Plain(listener.address()), Named("CONTINUATION"));
  CHECK(WaitUntil([&] { return listener.ended() >= 50; }));
  const AttackReport report = attacker.Stop();
  CHECK(report.cut >= 30);
  CHECK(report.begun >= report.cut + 8);
  CHECK(report.sent_bytes > 30 * 100'000);
  CHECK(report.until_first_cut < kLimit);
  CHECK(report.typical_life <= report.longest_life);
}

TEST_CASE("a connection that serves only to be ended is ended by the attacker", "[attacker]") {
  Listener listener(SIZE_MAX);
  Attacker attacker(Plain(listener.address()), Named("connect and close"));
  std::this_thread::yield();
  CHECK(WaitUntil([&] { return listener.ended() == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const AttackReport report = attacker.Stop();
  CHECK(report.opened > 8);
  CHECK(report.cut == 0);
}

TEST_CASE("an attacker keeps to its share of a processor", "[attacker]") {
  Listener listener(SIZE_MAX);
  AttackerOptions options = Plain(listener.address());
  options.cpu_share = 0.2;
  const absl::Time begun = absl::Now();
  Attacker attacker(options, Named("rapid reset of rows"));
  CHECK(WaitUntil([&] { return absl::Now() - begun > absl::Milliseconds(500); }));
  const AttackReport report = attacker.Stop();
  CHECK(report.cpu_seconds < 0.2 * absl::ToDoubleSeconds(absl::Now() - begun) + 0.05);
  CHECK(report.sent_bytes > 10'000);
}

TEST_CASE("an attacker without its network does not attack", "[attacker]") {
  AttackerOptions options = Plain({"127.0.0.1", 1});
  options.prepare = [] { return absl::UnavailableError("no network"); };
  Attacker attacker(options, Named("CONTINUATION"));
  const AttackReport report = attacker.Stop();
  CHECK(report.prepared.code() == absl::StatusCode::kUnavailable);
  CHECK(report.begun == 0);
}

TEST_CASE("ports where nobody listens are tried again, and counted as refused", "[attacker]") {
  Attacker attacker(Plain({"127.0.0.1", 1}), Named("CONTINUATION"));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const AttackReport report = attacker.Stop();
  CHECK(report.refused > 8);
  CHECK(report.opened == 0);
}

std::unique_ptr<BIO, decltype(&BIO_free)> Memory(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

// One connection by TLS, which wants to see a certificate of the authority, and what it says.
std::string AcceptByTls(int listener, const CertificateAuthority& authority, std::string* shown) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  &SSL_CTX_free);
  const IssuedCertificate own = authority.Issue({});
  const std::string ca = authority.certificate();
  X509* const certificate =
      PEM_read_bio_X509(Memory(own.certificate).get(), nullptr, nullptr, nullptr);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(Memory(own.key).get(), nullptr, nullptr, nullptr);
  X509* const trusted = PEM_read_bio_X509(Memory(ca).get(), nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context.get(), certificate);
  SSL_CTX_use_PrivateKey(context.get(), key);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), trusted);
  X509_free(certificate);
  EVP_PKEY_free(key);
  X509_free(trusted);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const int fd = accept(listener, nullptr, nullptr);
  SSL* const ssl = SSL_new(context.get());
  SSL_set_fd(ssl, fd);
  std::string heard(64, '\0');
  const bool made = SSL_accept(ssl) == 1;
  heard.resize(made ? std::max(0, SSL_read(ssl, heard.data(), 64)) : 0);
  X509* const peer = SSL_get1_peer_certificate(ssl);
  *shown = peer == nullptr ? "none" : "one";
  X509_free(peer);
  SSL_free(ssl);
  close(fd);
  return heard;
}

TEST_CASE("attacks come by TLS, with the certificate that they were given", "[attacker]") {
  const bool certified = GENERATE(true, false);
  CAPTURE(certified);
  const CertificateAuthority authority("authority");
  const IssuedCertificate own = authority.Issue({"DNS:hostile"});
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(listen(listener, 10) == 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  AttackerOptions options;
  options.address = HostPort{"127.0.0.1", ntohs(address.sin_port)};
  if (certified) options.shows = {own.certificate, own.key};
  Attacker attacker(options, Named("CONTINUATION"));
  std::string shown;
  const std::string heard = AcceptByTls(listener, authority, &shown);
  CHECK(shown == (certified ? "one" : "none"));
  CHECK(heard == (certified ? heard.substr(0, 64) : ""));
  if (certified) CHECK(heard.substr(0, kPreface.size()) == kPreface);
  CHECK(attacker.Stop().begun >= 8);
  close(listener);
}

}  // namespace
}  // namespace vicinity::testing
