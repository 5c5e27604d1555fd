// Mutual TLS as people set it up: certificates of `vicinity certificate`, the daemon and the tool
// as processes, the client library as a trainer has it. SEC-1 of the reliability plan, with
// security_test.cc.
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "proto/common/file.h"
#include "proto/security/certificates.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(60);

class MutualTlsTest {
 protected:
  MutualTlsTest() {
    SpareProgramsTheLeakOfCAres();
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
    Tool({"certificate", "ca"});
    Tool({"certificate", "server", "localhost"});
    Tool({"certificate", "client", "trainer"});
  }

  // The one that tests/testing/catch_main.cc has: the programs' own leaks are still reported.
  void SpareProgramsTheLeakOfCAres() const {
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("spared"), "leak:libcares.so\n"));
    setenv("LSAN_OPTIONS", absl::StrCat("suppressions=", folder_.File("spared")).c_str(), 1);
  }

  static std::unique_ptr<RunningProgram> Run(const std::vector<std::string>& args) {
    auto program = RunningProgram::Start(args);
    VICINITY_REQUIRE_OK(program);
    return *std::move(program);
  }
  // Runs the tool to its end, which is to be `code`; what it printed.
  std::string Tool(std::vector<std::string> args, int code = 0) const {
    if (args.front() == "certificate") args.insert(args.end(), {"--folder", certificates_});
    args.insert(args.begin(), "client/cli/vicinity");
    const auto program = Run(args);
    const absl::StatusOr<int> ended = program->WaitForExit(kLimit);
    INFO(program->output());
    CHECK(ended.value() == code);
    return program->output();
  }
  std::string Certificate(const std::string& name) const {
    return certificates_ + "/" + name + ".pem";
  }
  std::vector<std::string> TlsFlags() const {
    return {"--tls-certificate", Certificate("localhost"), "--tls-ca",         Certificate("ca"),
            "--tls-revoked",     Certificate("revoked"),   "--reload-seconds", "1"};
  }
  void Serve(const std::vector<std::string>& flags) {
    std::vector<std::string> args = {
        "server/vicinityd", "--data", folder_.File("graph"), "--listen",           "127.0.0.1:0",
        "--drain",          "0.1",    "--ready-file",        folder_.File("ready")};
    args.insert(args.end(), flags.begin(), flags.end());
    daemon_ = Run(args);
    VICINITY_REQUIRE_OK(daemon_->WaitForLine("ready in", kLimit));
    const std::string ready = ReadFile(folder_.File("ready")).value();
    port_ = ready.substr(ready.rfind(':') + 1);
    address_ = absl::StrCat("localhost:", absl::StripSuffix(port_, "\n"));
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        folder_.File("cluster.textproto"),
        absl::StrCat("data: 'graph' num_shards: 2\ntls { certificate: 'certificates/localhost.pem' "
                     "ca: 'certificates/ca.pem' revoked: 'certificates/revoked.pem' }\n"
                     "servers { name: 'a' listen: '127.0.0.1:0' advertise: '",
                     address_, "' shards: [0, 1] }\n")));
  }
  GraphOptions Options(const std::string& certificate) const {
    GraphOptions options;
    options.cluster_file = folder_.File("cluster.textproto");
    options.connect_timeout = std::chrono::seconds(10);
    options.call_timeout = std::chrono::seconds(20);
    if (!certificate.empty()) options.credentials.certificate = Certificate(certificate);
    return options;
  }
  static Error Read(const Graph& graph) {
    const std::vector<int64_t> nodes = {0, 1, 2, 3};
    Result<Rows> rows = graph.Fetch(0, "features", nodes);
    return rows.ok() ? Error() : rows.error();
  }
  // What comes of opening the graph, over new connections, and reading from it.
  static Error Try(const GraphOptions& options) {
    Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
    return graph.ok() ? Read(**graph) : graph.error();
  }
  void CheckLetIn(const std::string& certificate) const {
    const Error error = Try(Options(certificate));
    INFO(error.message());
    CHECK(error.ok());
  }
  void CheckRefused(const std::string& certificate, const std::string& told) const {
    GraphOptions options = Options(certificate);
    options.connect_timeout = std::chrono::milliseconds(1500);  // all of it: gRPC goes on trying
    const Error error = Try(options);
    CHECK(error.code() == ErrorCode::kUnauthenticated);
    CHECK_THAT(error.message(), Catch::Contains(told));
  }

  const testing::TempDir folder_;
  const std::string certificates_ = folder_.File("certificates");
  std::unique_ptr<RunningProgram> daemon_;
  std::string port_;
  std::string address_;
};

TEST_CASE_METHOD(MutualTlsTest, "beyond loopback a server starts with certificates or openly",
                 "[mutual_tls]") {
  const auto refused = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(),
                 {"server/vicinityd", "--data", folder_.File("graph"), "--listen", "0.0.0.0:0"});
    const auto program = Run(flags);
    CHECK(program->WaitForExit(kLimit).value() == 2);
    CHECK_THAT(program->output(), Catch::Contains("vicinity certificate ca") &&
                                      Catch::Contains("vicinity certificate client") &&
                                      Catch::Contains("--open"));
  };
  refused({});
  refused({"--tls-certificate", Certificate("localhost")});
  // Openly there is TLS without a CA of clients.
  Serve({"--open", "--tls-certificate", Certificate("localhost")});
  CheckLetIn("");
}

TEST_CASE_METHOD(MutualTlsTest,
                 "a certificate is all that a client needs, and none gets it nothing",
                 "[mutual_tls]") {
  Serve(TlsFlags());
  CheckLetIn("trainer");
  CheckRefused("", "vicinity certificate client");
  CheckLetIn("localhost");  // a server's own: servers of one shard call each other
  const testing::CertificateAuthority other("other");
  const testing::IssuedCertificate strange =
      other.Issue({"DNS:trainer", -absl::Hours(1), absl::Hours(900)});
  testing::WriteSecret(Certificate("strange"), strange.key + strange.certificate);
  CheckRefused("strange", "refused the certificate");

  const std::string cluster = folder_.File("cluster.textproto");
  const std::string status =
      Tool({"status", "--cluster", cluster, "--certificate", Certificate("trainer")});
  CHECK_THAT(status, Catch::Contains("CERTIFICATE") && Catch::Contains(" 89 d"));
  const std::string health = Tool({"health", "--server", address_, "--ca", Certificate("ca"),
                                   "--certificate", Certificate("trainer"), "--format", "json"});
  CHECK_THAT(health, Catch::Contains("\"certificate_expires\": 1") ||
                         Catch::Contains("\"certificate_expires\": 2"));
}

TEST_CASE_METHOD(MutualTlsTest,
                 "a revoked certificate opens no connection, and no call on an open one",
                 "[mutual_tls]") {
  Tool({"certificate", "client", "kept"});
  Serve(TlsFlags());
  Result<std::unique_ptr<Graph>> gone = Graph::Open(Options("trainer"));
  Result<std::unique_ptr<Graph>> kept = Graph::Open(Options("kept"));
  REQUIRE(gone.ok());
  REQUIRE(kept.ok());
  REQUIRE(Read(**gone).ok());
  Tool({"certificate", "revoke", "trainer"});
  // The interval is a second; the limit is for machines that are busy.
  VICINITY_REQUIRE_OK(daemon_->WaitForLine("1 revoked", kLimit));
  CHECK(Read(**gone).code() == ErrorCode::kUnauthenticated);
  CheckRefused("trainer", "revoked");
  CHECK(Read(**kept).ok());
  CheckLetIn("kept");
  // It is over with that certificate, not with the name.
  Tool({"certificate", "client", "trainer"});
  CheckLetIn("trainer");
  // A list that is no list takes nothing back.
  testing::WriteSecret(Certificate("revoked"), "");
  VICINITY_REQUIRE_OK(daemon_->WaitForLine("revoked.pem: holds no whole list", kLimit));
  CHECK(Read(**gone).code() == ErrorCode::kUnauthenticated);
  CheckLetIn("kept");
}

TEST_CASE_METHOD(MutualTlsTest, "a bad pair is told and not taken, newcomers get in as before",
                 "[mutual_tls]") {
  Serve(TlsFlags());
  const std::string good = ReadFile(Certificate("localhost")).value();
  Tool({"certificate", "renew", "localhost"});
  VICINITY_REQUIRE_OK(daemon_->WaitForLine("new TLS files are in use", kLimit));
  const std::string next = ReadFile(Certificate("localhost")).value();
  const size_t key_end = good.find("-----BEGIN CERTIFICATE");
  const std::string wrong_pair = good.substr(0, key_end) + next.substr(next.find("-----BEGIN CER"));
  struct Bad {
    std::string text;
    std::string told;
  };
  const size_t next_key_end = next.find("-----BEGIN CERTIFICATE");
  // Each is told in words of its own, so that the line that is waited for is not one before.
  const std::vector<Bad> bad = {{"", "holds no certificate in PEM"},
                                {next.substr(next_key_end), "holds no private key in PEM"},
                                {next + next.substr(next_key_end, 200), "is damaged after"},
                                {wrong_pair, "is not the key of"}};
  for (const Bad& one : bad) {
    CAPTURE(one.told);
    testing::WriteSecret(Certificate("localhost"), one.text);
    VICINITY_REQUIRE_OK(daemon_->WaitForLine(one.told, kLimit));
    CheckLetIn("trainer");
    const std::string status = Tool({"status", "--cluster", folder_.File("cluster.textproto"),
                                     "--certificate", Certificate("trainer")});
    CHECK_THAT(status, Catch::Contains("goes on with the TLS files before"));
    testing::WriteSecret(Certificate("localhost"), next);
  }
  CheckLetIn("trainer");
  daemon_->Signal(SIGTERM);
  CHECK(daemon_->WaitForExit(kLimit).value() == 0);
}

TEST_CASE_METHOD(MutualTlsTest, "a trainer whose certificate file is emptied goes on",
                 "[mutual_tls]") {
  Serve(TlsFlags());
  Result<std::unique_ptr<Graph>> graph = Graph::Open(Options("trainer"));
  REQUIRE(graph.ok());
  const std::string good = ReadFile(Certificate("trainer")).value();
  // gRPC looks every second at what it was given; this one held the file itself would abort.
  testing::WriteSecret(Certificate("trainer"), "");
  const absl::Time end = absl::Now() + absl::Seconds(3);
  int64_t calls = 0;
  for (; absl::Now() < end; ++calls) REQUIRE(Read(**graph).ok());
  CHECK(calls > 10);
  testing::WriteSecret(Certificate("trainer"), good);
  CHECK(Read(**graph).ok());
}

TEST_CASE_METHOD(MutualTlsTest, "all certificates are renewed under load and no call fails",
                 "[mutual_tls]") {
  Serve(TlsFlags());
  std::atomic<bool> stop{false};
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> opened{0};
  std::vector<std::string> failures(3);
  std::atomic<int> num_failed{0};
  std::vector<std::thread> readers;
  for (size_t i = 0; i < failures.size(); ++i) {
    GraphOptions options = Options("trainer");
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
    Tool({"certificate", "renew", "--all", "--days", absl::StrCat(30 + change)});
    const std::string until =
        DateText(ExpiryOf(ReadFile(Certificate("localhost")).value()).value());
    VICINITY_CHECK_OK(daemon_->WaitForLine("in use, certificate until " + until, kLimit));
    const absl::Time end = absl::Now() + kLimit;
    while (opened < before + 4 && num_failed == 0 && absl::Now() < end) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  for (const std::string& failure : failures) CHECK(failure.empty());
  CHECK(opened >= 12);
  WARN(calls << " calls over " << opened << " openings, 3 renewals of all certificates");
}

}  // namespace
}  // namespace vicinity
