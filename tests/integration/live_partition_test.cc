// NET-1 of the reliability plan for a live graph: servers of a shard on hosts of their own, and the
// one that writes is cut off. Another is promoted meanwhile; when the cable is back the first gives
// way, what it alone had is set aside, and nothing replicated is lost.
//
// VICINITY_PARTITION_CYCLES (2) sets how often.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/live/promote_command.h"
#include "client/cli/commands/shards_command.h"
#include "client/cli/output/exit_code.h"
#include "client/graph.h"
#include "partition/overlay/live_values.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/live_registers.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/hosts/network_hosts.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using cli::ExitCode;
using cli::RunCommand;
using std::chrono::milliseconds;
using testing::LostWay;
using testing::NetworkHosts;
using testing::SizeFromEnvironment;
using testing::Testbed;

constexpr int kNumServers = 3;

// Admin addresses that other hosts reach want certificates: one, with all hosts' addresses, for
// all.
class Certificates {
 public:
  explicit Certificates(const NetworkHosts& hosts) {
    const testing::CertificateAuthority authority("ours");
    testing::WriteSecret(folder_.File("ca.pem"), authority.certificate());
    std::string names = "DNS:localhost";
    for (int i = 0; i < hosts.size(); ++i) absl::StrAppend(&names, ",IP:", hosts.address(i));
    const testing::IssuedCertificate issued =
        authority.Issue({names, -absl::Hours(1), absl::Hours(900)});
    testing::WriteSecret(file(), issued.key + issued.certificate);
    testing::WriteSecret(folder_.File("access"),
                         "grants { name: 'all' role: ADMIN certificate: 'localhost' }\n");
  }
  std::string file() const { return folder_.File("all.pem"); }
  std::string cluster_lines() const {
    return absl::StrCat("access: '", folder_.File("access"), "'\ntls { ca: '",
                        folder_.File("ca.pem"), "' certificate: '", file(), "' }\n");
  }

 private:
  const testing::TempDir folder_;
};

std::unique_ptr<Graph> Open(const Testbed& testbed, const std::string& certificate) {
  GraphOptions options;
  options.cluster_file = testbed.cluster_file();
  options.credentials.certificate = certificate;
  options.connect_timeout = milliseconds(60'000);
  options.call_timeout = milliseconds(2'000);
  options.call_budget = milliseconds(60'000);
  auto graph = Graph::Open(options);
  if (!graph.ok()) FAIL(graph.error().message());
  return *std::move(graph);
}

nlohmann::json ReplicasOf(const Testbed& testbed, const std::string& certificate) {
  const cli::Answer answer = RunCommand(
      cli::kShardsCommand,
      {"--cluster", testbed.cluster_file(), "--certificate", certificate, "--format", "json"});
  return nlohmann::json::parse(answer.out)["shards"][0]["replicas"];
}

// Waits until all servers have the same version, and name the same writer: which.
std::string AwaitSame(const Testbed& testbed, const std::string& certificate) {
  nlohmann::json seen;
  for (const absl::Time until = absl::Now() + absl::Seconds(60); absl::Now() < until;) {
    seen = ReplicasOf(testbed, certificate);
    bool same = seen.size() == kNumServers;
    for (const nlohmann::json& replica : seen) {
      same = same && replica.contains("version") && replica["version"] == seen[0]["version"] &&
             replica["term"] == seen[0]["term"];
    }
    if (same) return seen[0]["writer"];
    absl::SleepFor(absl::Milliseconds(50));
  }
  FAIL("servers have not become the same: " << seen.dump());
  return "";
}

TEST_CASE("the server that writes is cut off, another is promoted, and the first gives way",
          "[live_partition]") {
  const auto network = NetworkHosts::Make(kNumServers);
  if (absl::IsFailedPrecondition(network.status())) {
    WARN("skipped: " << network.status().message());
    return;
  }
  VICINITY_REQUIRE_OK(network);
  NetworkHosts& hosts = **network;
  VICINITY_REQUIRE_OK(hosts.JoinHosts());
  const Certificates certificates(hosts);
  testing::TestbedOptions options;
  options.open = false;
  options.cluster_lines = certificates.cluster_lines();
  options.graph.num_nodes = 1000;
  options.num_servers = kNumServers;
  options.replicas = kNumServers;
  options.live = true;
  for (int i = 0; i < kNumServers; ++i) {
    options.hosts.push_back({hosts.RunThere(i), hosts.address(i)});
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Testbed> testbed, Testbed::Start(options));
  RegisterWriter replicated(testbed->graph(), 0, 0, {Durability::kReplicated});
  const auto graph = Open(*testbed, certificates.file());
  const int64_t cycles = SizeFromEnvironment("VICINITY_PARTITION_CYCLES", 2);
  for (int64_t cycle = 0; cycle < cycles; ++cycle) {
    CAPTURE(cycle);
    for (int i = 0; i < 20; ++i) VICINITY_REQUIRE_OK(replicated.Write(*graph, nullptr));
    const std::string writer = AwaitSame(*testbed, certificates.file());
    const int cut = writer.back() - '0';
    VICINITY_REQUIRE_OK(hosts.Lose(cut, LostWay::kBoth, 100));
    const cli::Answer promoted =
        RunCommand(cli::kPromoteCommand, {"--cluster", testbed->cluster_file(), "--certificate",
                                          certificates.file(), "--from", writer, "--timeout", "3"});
    INFO(promoted.narration);
    REQUIRE(promoted.code == ExitCode::kOk);
    CHECK_THAT(promoted.out, Catch::Contains(writer));  // it was, and it was not reached
    for (int i = 0; i < 20; ++i) VICINITY_REQUIRE_OK(replicated.Write(*graph, nullptr));
    VICINITY_REQUIRE_OK(hosts.Heal(cut));
    const std::string now = AwaitSame(*testbed, certificates.file());
    CHECK(now != writer);
    CHECK(replicated.WrongIn(*graph) == "");
  }
}

}  // namespace
}  // namespace vicinity
