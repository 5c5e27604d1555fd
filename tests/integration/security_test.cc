// Who gets in and who does not, with the daemon as a process, certificates made here, and the
// client library and the tool as users have them. SEC-1 of the reliability plan.
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/rpc/credentials.h"
#include "proto/common/file.h"
#include "proto/common/grpc_status.h"
#include "proto/security/token.h"
#include "proto/service.grpc.pb.h"
#include "tests/integration/fixtures/listed_methods.h"
#include "tests/integration/fixtures/recorded_connection.h"
#include "tests/integration/fixtures/served_certificate.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::CallByName;
using testing::CertificateAuthority;
using testing::CertificateWish;
using testing::ListMethods;
using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(60);

// One daemon over a small graph, with what it takes to secure it.
class SecurityTest {
 protected:
  SecurityTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
    VICINITY_REQUIRE_OK(WriteFileAtomically(ca_, authority_.certificate()));
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("other.pem"), other_.certificate()));
    Install(authority_.Issue({}));
    WriteIssued(authority_.Issue({"DNS:trainer.example"}), folder_.path(), "trainer");
    testing::WriteSecret(folder_.File("reader.token"), reader_ + "\n");
    testing::WriteSecret(folder_.File("admin.token"), admin_ + "\n");
    Grant({"reader", "admin"});
  }

  // Puts a certificate where the daemon looks, its key beside it, in one step.
  void Install(const testing::IssuedCertificate& issued) {
    const std::string folder = folder_.File(absl::StrCat("tls", ++num_installed_));
    WriteIssued(issued, folder, "server");
    const std::string link = folder_.File("new_tls");
    std::filesystem::create_symlink(folder, link);
    std::filesystem::rename(link, folder_.File("tls"));
    installed_ = issued.certificate;
  }
  void WaitUntilServed() const {
    const absl::Time end = absl::Now() + kLimit;
    while (testing::ServedCertificate(port_) != installed_) {
      REQUIRE(absl::Now() < end);
      std::this_thread::yield();
    }
  }
  // The access file grants tokens of these names.
  void Grant(const std::vector<std::string>& names) const {
    std::vector<std::pair<std::string, std::string>> tokens;
    for (const std::string& name : names) {
      tokens.emplace_back(name, name == "admin" ? admin_ : reader_);
    }
    GrantTokens(tokens);
  }
  // Pairs of name and token; "admin" is one, all others read.
  void GrantTokens(const std::vector<std::pair<std::string, std::string>>& tokens) const {
    std::string text;
    for (const auto& [name, token] : tokens) {
      absl::StrAppend(&text, "grants { name: '", name,
                      "' role: ", name == "admin" ? "ADMIN" : "READ", " token_sha256: '",
                      absl::BytesToHexString(HashToken(token)), "' }\n");
    }
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("access"), text));
  }
  static void Reload(RunningProgram* daemon) {
    daemon->Signal(SIGHUP);
    VICINITY_REQUIRE_OK(daemon->WaitForLine("credentials read again", kLimit));
  }

  std::vector<std::string> MutualTls() const {
    return {"--tls-certificate", folder_.File("tls/server.pem"),
            "--tls-key",         folder_.File("tls/server.key"),
            "--tls-ca",          ca_,
            "--reload-seconds",  "1"};
  }
  // TLS whose clients need no certificates.
  std::vector<std::string> OpenTls() const {
    std::vector<std::string> flags = MutualTls();
    flags.push_back("--open");
    return flags;
  }
  std::vector<std::string> TokenFlags() const { return {"--access-file", folder_.File("access")}; }

  static std::unique_ptr<RunningProgram> Run(std::vector<std::string> args) {
    args.insert(args.begin(), "server/vicinityd");
    auto program = RunningProgram::Start(args);
    VICINITY_REQUIRE_OK(program);
    return *std::move(program);
  }
  void Serve(const std::vector<std::vector<std::string>>& flags) {
    std::vector<std::string> args = {
        "--data", folder_.File("graph"), "--listen",    "127.0.0.1:0",  "--drain",
        "0.1",    "--admin-listen",      "127.0.0.1:0", "--ready-file", folder_.File("ready")};
    for (const auto& some : flags) args.insert(args.end(), some.begin(), some.end());
    daemon_ = Run(args);
    VICINITY_REQUIRE_OK(daemon_->WaitForLine("ready in", kLimit));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string ready, ReadFile(folder_.File("ready")));
    const std::vector<std::string> lines = absl::StrSplit(ready, '\n');
    REQUIRE(lines.size() == 3);
    REQUIRE(absl::StartsWith(lines[1], "admin "));
    data_address_ = lines[0];
    admin_address_ = lines[1].substr(6);
    port_ = std::stoi(data_address_.substr(data_address_.rfind(':') + 1));
  }

  // A cluster file of the daemon, dialled as `host`, at its port or at another.
  std::string ClusterFile(const std::string& host = "127.0.0.1", int port = 0) const {
    const std::string path = folder_.File(host + ".textproto");
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        path, absl::StrCat("data: 'graph' num_shards: 2 servers { name: 'a' listen: '",
                           data_address_, "' advertise: '", host, ":", port == 0 ? port_ : port,
                           "' shards: [0, 1] }\n")));
    return path;
  }
  struct Shows {
    std::string ca;
    std::string certificate;  // the name of a pair in the folder
    std::string token;        // the name of a file there
  };
  GraphOptions Options(const Shows& shows, const std::string& host = "127.0.0.1") const {
    GraphOptions options;
    options.cluster_file = ClusterFile(host);
    options.connect_timeout = std::chrono::seconds(10);
    options.call_timeout = std::chrono::seconds(20);
    options.credentials.ca = shows.ca;
    if (!shows.certificate.empty()) {
      options.credentials.certificate = folder_.File(shows.certificate + ".pem");
      options.credentials.key = folder_.File(shows.certificate + ".key");
    }
    if (!shows.token.empty()) options.credentials.token_file = folder_.File(shows.token + ".token");
    return options;
  }
  static Error Read(const Graph& graph) {
    const std::vector<int64_t> nodes = {0, 1, 2, 3};
    Result<Rows> rows = graph.Fetch(0, "features", nodes);
    return rows.ok() ? Error() : rows.error();
  }
  // What comes of opening the graph and reading from it.
  static Error Try(const GraphOptions& options) {
    Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
    return graph.ok() ? Read(**graph) : graph.error();
  }
  void CheckRefused(const Shows& shows, const std::string& told,
                    const std::string& host = "127.0.0.1") const {
    CheckRefused(Options(shows, host), told);
  }
  void CheckRefused(GraphOptions options, const std::string& told) const {
    options.connect_timeout = std::chrono::milliseconds(1500);  // all of it: gRPC goes on trying
    const Error error = Try(options);
    CHECK(error.code() == ErrorCode::kUnauthenticated);
    CHECK_THAT(error.message(), Catch::Contains(told));
    CHECK_THAT(error.message(), !Catch::Contains(reader_) && !Catch::Contains(admin_));
  }
  void CheckLetIn(const Shows& shows, const std::string& host = "127.0.0.1") const {
    const Error error = Try(Options(shows, host));
    INFO(error.message());
    CHECK(error.ok());
  }
  void CheckRefusesToStart(std::vector<std::string> args, int code, const std::string& told) const {
    args.insert(args.begin(), {"--data", folder_.File("graph")});
    const auto program = Run(args);
    CHECK(program->WaitForExit(kLimit).value() == code);
    CHECK_THAT(program->output(), Catch::Contains(told));
  }

  // A channel to a port of the daemon that shows a token, or none: "". It has a connection of its
  // own.
  std::shared_ptr<grpc::Channel> Channel(const std::string& address, const std::string& token,
                                         const testing::IssuedCertificate& certificate = {}) const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = authority_.certificate();
    options.pem_cert_chain = certificate.certificate;
    options.pem_private_key = certificate.key;
    std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::SslCredentials(options);
    if (!token.empty()) {
      credentials =
          grpc::CompositeChannelCredentials(credentials, grpc::AccessTokenCredentials(token));
    }
    return grpc::CreateChannel(address, credentials);
  }
  // How often the daemon has been asked for rows, by its own account.
  int64_t RowsCalls() const {
    const auto stub = proto::Graph::NewStub(Channel(data_address_, admin_));
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kLimit));
    proto::StatusReply reply;
    VICINITY_REQUIRE_OK(FromGrpc(stub->Status(&context, {}, &reply)));
    for (const proto::MethodStatus& method : reply.methods()) {
      if (method.method() == "FetchRows") return static_cast<int64_t>(method.started());
    }
    return -1;
  }

  const testing::TempDir folder_;
  const CertificateAuthority authority_{"authority"};
  const CertificateAuthority other_{"other"};
  const std::string ca_ = folder_.File("ca.pem");
  const std::string reader_ = MakeToken().value();
  const std::string admin_ = MakeToken().value();
  int num_installed_ = 0;
  std::string installed_;
  std::unique_ptr<RunningProgram> daemon_;
  std::string data_address_;
  std::string admin_address_;
  int port_ = 0;
};

TEST_CASE_METHOD(SecurityTest, "over TLS only who knows the server's authority reads",
                 "[security]") {
  Serve({OpenTls()});
  CheckLetIn({ca_, "", ""});
  CheckLetIn({ca_, "", ""}, "localhost");
  CheckRefused({"", "", ""}, "speaks TLS");
  CheckRefused({folder_.File("other.pem"), "", ""}, "not to be believed");
}

TEST_CASE_METHOD(SecurityTest, "what is wrong with TLS is told though another server is away",
                 "[security]") {
  Serve({OpenTls()});
  const GraphOptions options = Options({folder_.File("other.pem"), "", ""});
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      options.cluster_file,
      absl::StrCat("data: 'graph' num_shards: 2\n",
                   "servers { name: 'away' listen: '127.0.0.1:1' shards: [0, 1] }\n",
                   "servers { name: 'a' listen: '", data_address_, "' shards: [0, 1] }\n")));
  CheckRefused(options, "not to be believed");
}

TEST_CASE_METHOD(SecurityTest, "a certificate of another name is not believed", "[security]") {
  Install(authority_.Issue({"IP:127.0.0.1,DNS:elsewhere.example"}));
  Serve({OpenTls()});
  CheckLetIn({ca_, "", ""});
  CheckRefused({ca_, "", ""}, "mismatch", "localhost");
}

TEST_CASE_METHOD(SecurityTest, "a certificate that expires while it is served is not believed",
                 "[security]") {
  const absl::Time expires = absl::Now() + absl::Seconds(5);
  Install(authority_.Issue({"IP:127.0.0.1", -absl::Hours(1), absl::Seconds(5)}));
  Serve({OpenTls()});
  CHECK_THAT(daemon_->output(), Catch::Contains("expires at"));
  CheckLetIn({ca_, "", ""});
  // Times in certificates are whole seconds.
  absl::SleepFor(expires + absl::Seconds(1) - absl::Now());
  CheckRefused({ca_, "", ""}, "expired");
  VICINITY_CHECK_OK(daemon_->WaitForLine("expired at", kLimit));
}

TEST_CASE_METHOD(SecurityTest, "a server with bad files does not start, and says which",
                 "[security]") {
  Install(authority_.Issue({"IP:127.0.0.1", -absl::Hours(2), -absl::Hours(1)}));
  CheckRefusesToStart(OpenTls(), 2, "server.pem: the certificate expired");
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("access"), "grants { name: 'x' }"));
  CheckRefusesToStart(TokenFlags(), 2, "access: grant \"x\" has no role");
  CheckRefusesToStart({"--tls-ca", ca_}, 2, "no certificate of the server's");
}

TEST_CASE_METHOD(SecurityTest, "with mutual TLS only certified clients get in", "[security]") {
  WriteIssued(other_.Issue({"DNS:trainer.example"}), folder_.path(), "stranger");
  WriteIssued(authority_.Issue({"DNS:trainer.example", -absl::Hours(2), -absl::Hours(1)}),
              folder_.path(), "expired");
  Serve({MutualTls()});
  CheckLetIn({ca_, "trainer", ""});
  CheckRefused({ca_, "", ""}, "--certificate");
  CheckRefused({ca_, "stranger", ""}, "refused the certificate");
  // Our own side sees this before the server does.
  const Error expired = Try(Options({ca_, "expired", ""}));
  CHECK(expired.code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(expired.message(), Catch::Contains("expired.pem"));
}

TEST_CASE_METHOD(SecurityTest, "tokens are needed, and revoked while it runs", "[security]") {
  const bool tls = GENERATE(true, false);
  CAPTURE(tls);
  Serve({tls ? OpenTls() : std::vector<std::string>(), TokenFlags()});
  const std::string ca = tls ? ca_ : "";
  CheckRefused({ca, "", ""}, "token");
  CheckLetIn({ca, "", "admin"});
  Result<std::unique_ptr<Graph>> graph = Graph::Open(Options({ca, "", "reader"}));
  REQUIRE(graph.ok());
  REQUIRE(Read(**graph).ok());
  Grant({"admin"});
  Reload(daemon_.get());
  CHECK(Read(**graph).code() == ErrorCode::kUnauthenticated);
  CheckRefused({ca, "", "reader"}, "revoked");
  CheckLetIn({ca, "", "admin"});
  CHECK_THAT(daemon_->output(), !Catch::Contains(reader_) && !Catch::Contains(admin_));
}

TEST_CASE_METHOD(SecurityTest, "the server itself refuses a client's bad certificate",
                 "[security]") {
  Serve({MutualTls()});
  const auto call = [&](const testing::IssuedCertificate& certificate) {
    return CallByName(Channel(data_address_, "", certificate), "/vicinity.proto.Graph/FetchRows");
  };
  // What gets in is told that it means no dataset.
  VICINITY_CHECK_CODE(call(authority_.Issue({"DNS:trainer.example"})),
                      absl::StatusCode::kFailedPrecondition);
  // gRPC has but one status for a connection that was refused; who dials by the library is told
  // more, below.
  VICINITY_CHECK_CODE(call({}), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(call(other_.Issue({"DNS:trainer.example"})), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(
      call(authority_.Issue({"DNS:trainer.example", -absl::Hours(2), -absl::Hours(1)})),
      absl::StatusCode::kUnavailable);
}

TEST_CASE_METHOD(SecurityTest, "a client's certificate that expires while it has it is refused",
                 "[security]") {
  Serve({MutualTls()});
  const absl::Time expires = absl::Now() + absl::Seconds(4);
  WriteIssued(authority_.Issue({"DNS:trainer.example", -absl::Hours(1), absl::Seconds(4)}),
              folder_.path(), "short");
  CredentialOptions shows;
  shows.ca = ca_;
  shows.certificate = folder_.File("short.pem");
  shows.key = folder_.File("short.key");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto credentials, ClientCredentials::Load(shows, nullptr));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto channel, credentials->For(data_address_));
  const char* const rows = "/vicinity.proto.Graph/FetchRows";
  VICINITY_CHECK_CODE(CallByName(grpc::CreateChannel(data_address_, channel), rows),
                      absl::StatusCode::kFailedPrecondition);
  // Times in certificates are whole seconds.
  absl::SleepFor(expires + absl::Seconds(1) - absl::Now());
  const absl::Status refused = CallByName(grpc::CreateChannel(data_address_, channel), rows);
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kUnavailable);
  const absl::Status told = credentials->Explain(data_address_, refused, std::chrono::seconds(10));
  VICINITY_CHECK_CODE(told, absl::StatusCode::kUnauthenticated);
  CHECK_THAT(std::string(told.message()), Catch::Contains("refused the certificate"));
}

TEST_CASE_METHOD(SecurityTest, "what was recorded of a connection opens no other", "[security]") {
  Serve({OpenTls(), TokenFlags()});
  const testing::RecordingRelay relay(port_);
  GraphOptions options = Options({ca_, "", "reader"});
  options.cluster_file = ClusterFile("127.0.0.1", relay.port());
  options.channels_per_server = 1;
  const Error error = Try(options);
  INFO(error.message());
  REQUIRE(error.ok());
  const std::string recorded = relay.sent();
  REQUIRE(recorded.size() > 1000);
  CHECK_THAT(recorded, !Catch::Contains(reader_) && !Catch::Contains("FetchRows"));
  const int64_t before = RowsCalls();
  REQUIRE(before > 0);
  // The server takes part in every connection's key: what was said by another is noise.
  for (int i = 0; i < 3; ++i) {
    const testing::Replayed replayed = testing::Replay(port_, recorded, kLimit);
    CHECK(replayed.closed);
    CHECK(replayed.received.size() < 8192);  // its half of a handshake
  }
  CHECK(RowsCalls() == before);
  CheckLetIn({ca_, "", "reader"});
}

TEST_CASE_METHOD(SecurityTest,
                 "a token that was seen is worth nothing anywhere once it is replaced",
                 "[security]") {
  Serve({OpenTls(), TokenFlags()});
  const std::unique_ptr<RunningProgram> first = std::move(daemon_);
  const std::string first_address = data_address_;
  Serve({OpenTls(), TokenFlags()});
  const std::vector<std::string> addresses = {first_address, data_address_};
  const char* const rows = "/vicinity.proto.Graph/FetchRows";
  // Whoever has it may use it at any server of the cluster: it is a bearer's.
  std::vector<std::shared_ptr<grpc::Channel>> open;
  for (const std::string& address : addresses) {
    open.push_back(Channel(address, reader_));
    VICINITY_CHECK_CODE(CallByName(open.back(), rows), absl::StatusCode::kFailedPrecondition);
  }
  const std::string fresh = MakeToken().value();
  GrantTokens({{"reader", fresh}, {"admin", admin_}});
  for (RunningProgram* daemon : {first.get(), daemon_.get()}) Reload(daemon);
  for (size_t i = 0; i < addresses.size(); ++i) {
    VICINITY_CHECK_CODE(CallByName(open[i], rows), absl::StatusCode::kUnauthenticated);
    VICINITY_CHECK_CODE(CallByName(Channel(addresses[i], reader_), rows),
                        absl::StatusCode::kUnauthenticated);
    VICINITY_CHECK_CODE(CallByName(Channel(addresses[i], fresh), rows),
                        absl::StatusCode::kFailedPrecondition);
  }
}

TEST_CASE_METHOD(SecurityTest, "a client that was not told of TLS gives its token to nobody",
                 "[security]") {
  Serve({OpenTls(), TokenFlags()});
  const testing::RecordingRelay relay(port_);
  GraphOptions options = Options({"", "", "reader"});
  options.cluster_file = ClusterFile("127.0.0.1", relay.port());
  CheckRefused(options, "speaks TLS");
  CHECK_FALSE(relay.sent().empty());
  CHECK_THAT(relay.sent(), !Catch::Contains(reader_));
}

TEST_CASE_METHOD(SecurityTest, "the limits of a client are its token's, not its connections'",
                 "[security]") {
  Serve({OpenTls(), TokenFlags(), {"--client-request-rate", "0.01"}});
  const auto call = [&](const std::string& token) {
    return CallByName(Channel(data_address_, token), "/vicinity.proto.Graph/FetchRows");
  };
  // Past admission, where the request means no dataset: one in a hundred seconds.
  VICINITY_CHECK_CODE(call(reader_), absl::StatusCode::kFailedPrecondition);
  const absl::Status again = call(reader_);
  VICINITY_CHECK_CODE(again, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(again.message()), Catch::Contains("reader at 127.0.0.1"));
  VICINITY_CHECK_CODE(call(admin_), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(call(admin_), absl::StatusCode::kResourceExhausted);
}

TEST_CASE_METHOD(SecurityTest, "the limits of a client are its certificate's where it has no grant",
                 "[security]") {
  Serve({MutualTls(), {"--client-request-rate", "0.01"}});
  const testing::IssuedCertificate first = authority_.Issue({"DNS:first.example"});
  const testing::IssuedCertificate second = authority_.Issue({"DNS:second.example"});
  const auto call = [&](const testing::IssuedCertificate& certificate) {
    return CallByName(Channel(data_address_, "", certificate), "/vicinity.proto.Graph/FetchRows");
  };
  VICINITY_CHECK_CODE(call(first), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(call(first), absl::StatusCode::kResourceExhausted);
  VICINITY_CHECK_CODE(call(second), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE_METHOD(SecurityTest, "tokens do not travel in plaintext", "[security]") {
  std::vector<std::string> flags = TokenFlags();
  flags.insert(flags.end(), {"--listen", "0.0.0.0:0", "--open"});
  CheckRefusesToStart(flags, 2, "tokens would travel unencrypted");
  GraphOptions options;
  options.cluster_file = folder_.File("far.textproto");
  options.credentials.token_file = folder_.File("reader.token");
  options.credentials.allow_plaintext = true;
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      options.cluster_file,
      "data: 'graph' num_shards: 1 servers { name: 'a' listen: '192.0.2.1:1' shards: 0 }"));
  const Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.error().code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(graph.error().message(), Catch::Contains("unencrypted"));
}

TEST_CASE_METHOD(SecurityTest, "no RPC but health answers who shows nothing", "[security]") {
  Serve({OpenTls(), TokenFlags()});
  size_t num_graph = 0;
  size_t num_admin = 0;
  for (const std::string& address : {data_address_, admin_address_}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> methods,
                                  ListMethods(Channel(address, admin_)));
    const auto nobody = Channel(address, "");
    const auto stranger = Channel(address, MakeToken().value());
    const auto reader = Channel(address, reader_);
    VICINITY_CHECK_CODE(ListMethods(nobody), absl::StatusCode::kUnauthenticated);
    for (const std::string& method : methods) {
      CAPTURE(address, method);
      if (absl::StartsWith(method, "/grpc.health.")) continue;
      VICINITY_CHECK_CODE(CallByName(nobody, method), absl::StatusCode::kUnauthenticated);
      VICINITY_CHECK_CODE(CallByName(stranger, method), absl::StatusCode::kUnauthenticated);
      const bool is_admin = absl::StartsWith(method, "/vicinity.proto.Admin/");
      num_admin += is_admin ? 1 : 0;
      num_graph += absl::StartsWith(method, "/vicinity.proto.Graph/") ? 1 : 0;
      const absl::StatusCode read = CallByName(reader, method).code();
      CHECK(read != absl::StatusCode::kUnauthenticated);
      const bool is_write = method == "/vicinity.proto.Graph/Apply" ||
                            method == "/vicinity.proto.Graph/Replicate" ||
                            method == "/vicinity.proto.Graph/Carry";
      CHECK((read == absl::StatusCode::kPermissionDenied) == (is_admin || is_write));
    }
    VICINITY_CHECK_OK(CallByName(nobody, "/grpc.health.v1.Health/Check"));
    // What does not exist is not told to strangers, either.
    VICINITY_CHECK_CODE(CallByName(nobody, "/no.such.Service/Method"),
                        absl::StatusCode::kUnauthenticated);
    VICINITY_CHECK_CODE(CallByName(Channel(address, admin_), "/no.such.Service/Method"),
                        absl::StatusCode::kUnimplemented);
  }
  CHECK(num_graph >= 8);
  CHECK(num_admin == 11);
}

TEST_CASE_METHOD(SecurityTest, "certificates change under load and no call fails", "[security]") {
  Serve({OpenTls(), TokenFlags()});
  std::atomic<bool> stop{false};
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> opened{0};
  std::atomic<int> num_failed{0};
  std::vector<std::string> failures(3);
  std::vector<std::thread> readers;
  for (size_t i = 0; i < failures.size(); ++i) {
    GraphOptions options = Options({ca_, "", "reader"});
    options.connect_timeout = std::chrono::seconds(20);
    // The first goes on with the connections it has; the others make new ones all the time.
    const int64_t reads = i == 0 ? INT64_MAX : 20;
    readers.emplace_back([&, i, options, reads] {
      while (!stop && failures[i].empty()) {
        Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
        if (!graph.ok()) failures[i] = graph.error().message();
        if (graph.ok()) ++opened;
        for (int64_t n = 0; n < reads && graph.ok() && !stop && failures[i].empty(); ++n) {
          failures[i] = Read(**graph).message();
          ++calls;
        }
        if (!failures[i].empty()) ++num_failed;
      }
    });
  }
  for (int change = 0; change < 3; ++change) {
    const int64_t before = opened;
    Install(authority_.Issue({}));
    WaitUntilServed();
    const absl::Time end = absl::Now() + kLimit;
    while (opened < before + 2 && num_failed == 0 && absl::Now() < end) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  for (const std::string& failure : failures) CHECK(failure.empty());
  CHECK(opened >= 6);
  WARN(calls << " calls over " << opened << " openings, 3 changes of certificate");
}

TEST_CASE_METHOD(SecurityTest, "a drain asked for by an admin ends the daemon as SIGTERM does",
                 "[security]") {
  Serve({OpenTls(), TokenFlags()});
  VICINITY_CHECK_CODE(CallByName(Channel(admin_address_, reader_), "/vicinity.proto.Admin/Drain"),
                      absl::StatusCode::kPermissionDenied);
  VICINITY_CHECK_OK(CallByName(Channel(admin_address_, admin_), "/vicinity.proto.Admin/Drain"));
  CHECK(daemon_->WaitForExit(kLimit).value() == 0);
  CHECK_THAT(daemon_->output(), Catch::Contains("/vicinity.proto.Admin/Drain by admin"));
}

}  // namespace
}  // namespace vicinity
