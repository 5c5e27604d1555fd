// TLS of the bulk channel as a server has it, seen from sockets: how many may shake hands at a
// time, and what those cost that are open. That calls come by it, bulk_port_test.cc says.
#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/rpc/credentials.h"
#include "client/types/credential_options.h"
#include "proto/bulk.pb.h"
#include "proto/bulk/frame.h"
#include "proto/cluster/host_port.h"
#include "proto/security/tls_sessions.h"
#include "server/bulk/bulk_port.h"
#include "server/server.h"
#include "server/server_options.h"
#include "tests/server/bulk/raw_bulk.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using bulk::FrameKind;
using std::chrono::milliseconds;
using testing::RawBulk;

constexpr int kMostTickets = 16;  // of one call

class BulkTlsTest {
 protected:
  BulkTlsTest() {
    VICINITY_REQUIRE_OK(WriteGraph(testing::RandomGraph({}), folder_.File("graph")));
    const testing::CertificateAuthority authority("ours");
    WriteIssued(authority.Issue({}), folder_.File("tls"), "server");
    ServerOptions options;
    options.data = folder_.File("graph");
    options.bulk.tcp = HostPort{"127.0.0.1", 0};
    options.security.tls.certificate = folder_.File("tls/server.pem");
    options.security.tls.key = folder_.File("tls/server.key");
    options.security.open = true;
    options.announce = absl::Milliseconds(1);
    VICINITY_ASSERT_OK_AND_ASSIGN(server_, Server::Start(options));
    CredentialOptions shown;
    shown.ca = folder_.File("ca.pem");
    testing::WriteSecret(shown.ca, authority.certificate());
    VICINITY_ASSERT_OK_AND_ASSIGN(credentials_, ClientCredentials::Load(shown, nullptr));
    VICINITY_ASSERT_OK_AND_ASSIGN(for_grpc_, credentials_->For(server_->address().ToString()));
  }

  proto::OpenBulkReply Tickets(int count) const {
    auto reply = testing::AskForTickets(server_->address().ToString(), count,
                                        proto::BULK_SOCKET_TCP, for_grpc_);
    VICINITY_REQUIRE_OK(reply);
    return *std::move(reply);
  }
  std::unique_ptr<RawBulk> Connect(const proto::OpenBulkReply& place) const {
    return std::make_unique<RawBulk>(place, credentials_->tls_sessions().get());
  }
  static void CheckOpens(RawBulk* connection, const std::string& ticket) {
    connection->Open(ticket);
    const std::optional<RawBulk::Frame> opened = connection->Next();
    REQUIRE(opened.has_value());
    CHECK(opened->header.kind == FrameKind::kOpened);
    connection->SendAbout(FrameKind::kPing, 7);
    const std::optional<RawBulk::Frame> pong = connection->Next();
    REQUIRE(pong.has_value());
    CHECK(pong->header.kind == FrameKind::kPong);
    CHECK(pong->header.call == 7);
  }

  const testing::TempDir folder_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<ClientCredentials> credentials_;
  std::shared_ptr<grpc::ChannelCredentials> for_grpc_;
};

TEST_CASE_METHOD(BulkTlsTest, "of a crowd few shake hands at a time, and the others after them",
                 "[bulk_tls]") {
  const int at_once = 2 * BulkPort::num_threads();
  const int num = 16 * at_once;
  const proto::OpenBulkReply place = Tickets(1);
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<RawBulk>> crowd;
  for (int i = 0; i < num; ++i) crowd.push_back(Connect(place));
  for (const auto& connection : crowd) VICINITY_REQUIRE_OK(connection->Greet());
  // They were let in by rounds of 20 ms, sixteen at the least: all but the first and the last of
  // them are whole.
  CHECK(std::chrono::steady_clock::now() - begun >= 14 * milliseconds(20));
  for (int first = 0; first < num; first += kMostTickets) {
    const proto::OpenBulkReply given = Tickets(std::min(kMostTickets, num - first));
    for (int i = 0; i < given.tickets_size(); ++i) {
      CheckOpens(crowd[first + i].get(), given.tickets(i));
    }
  }
}

TEST_CASE_METHOD(BulkTlsTest, "connections that are idle take little memory with TLS, too",
                 "[bulk_tls]") {
  constexpr int kTimes = 8;
  std::vector<std::unique_ptr<RawBulk>> connections;
  const auto open_some = [&] {
    const proto::OpenBulkReply given = Tickets(kMostTickets);
    for (const std::string& ticket : given.tickets()) {
      connections.push_back(Connect(given));
      VICINITY_REQUIRE_OK(connections.back()->Greet());
      CheckOpens(connections.back().get(), ticket);
    }
  };
  open_some();  // what is there once
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < kTimes; ++i) open_some();
  // With what this end takes, which has TLS as well.
  CHECK((mallinfo2().uordblks - before) / (kTimes * kMostTickets) < 64 << 10);
}

}  // namespace
}  // namespace vicinity
