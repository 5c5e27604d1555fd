// A live graph whose shards have several servers, real daemons each: what one is written the others
// have, and when the one that writes is killed another is promoted and everybody goes on.
//
// VICINITY_PROMOTE_CYCLES (3) sets how often.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/live/promote_command.h"
#include "client/cli/commands/shards_command.h"
#include "client/cli/output/exit_code.h"
#include "client/graph.h"
#include "client/types/version_name.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/file.h"
#include "sampler/sampled_graph.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/live_load.h"
#include "tests/integration/fixtures/live_registers.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using cli::ExitCode;
using cli::RunCommand;
using std::chrono::milliseconds;
using testing::kSlower;
using testing::SizeFromEnvironment;
using testing::Testbed;
using testing::TestbedOptions;

constexpr int32_t kNumShards = 2;

TestbedOptions OptionsOf(int num_servers) {
  TestbedOptions options;
  options.graph.num_nodes = 1000;
  options.graph.num_shards = kNumShards;
  options.num_servers = num_servers;
  options.replicas = num_servers;
  options.live = true;
  return options;
}

GraphOptions ClientOf(const std::string& cluster_file) {
  GraphOptions options;
  options.cluster_file = cluster_file;
  options.connect_timeout = milliseconds(60'000);
  options.call_timeout = milliseconds(10'000);
  options.call_budget = milliseconds(60'000);
  return options;
}

std::unique_ptr<Graph> Open(const GraphOptions& options) {
  auto graph = Graph::Open(options);
  if (!graph.ok()) FAIL(graph.error().message());
  return *std::move(graph);
}

struct ReplicasBed {
  explicit ReplicasBed(const TestbedOptions& options) {
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed, Testbed::Start(options));
    for (int number = 0; number < 3; ++number) {
      writers.push_back(
          std::make_unique<RegisterWriter>(testbed->graph(), number, number % kNumShards,
                                           std::vector<Durability>{Durability::kReplicated}));
    }
  }

  // A client that knows one server alone.
  std::unique_ptr<Graph> OpenAt(int server) const {
    const std::string file = absl::StrCat(testbed->cluster_file(), ".", server);
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        file, absl::StrCat("data: '", testbed->directory(), "' num_shards: ", kNumShards,
                           " changes: 'none' servers { name: 's", server, "' listen: '",
                           testbed->address(server).ToString(), "' shards: [0, 1] }")));
    return Open(ClientOf(file));
  }
  cli::Answer Promote(const std::vector<std::string>& flags) const {
    std::vector<std::string> all = {"--cluster", testbed->cluster_file(), "--timeout", "20"};
    all.insert(all.end(), flags.begin(), flags.end());
    return RunCommand(cli::kPromoteCommand, all);
  }
  nlohmann::json Shards() const {
    const cli::Answer answer =
        RunCommand(cli::kShardsCommand, {"--cluster", testbed->cluster_file(), "--format", "json"});
    return nlohmann::json::parse(answer.out)["shards"];
  }
  // Waits until a server of a new cluster has met those that write: until then it counts for no
  // promotion. The log says when it has.
  void AwaitMet(int server) const {
    std::string seen;
    for (const absl::Time until = absl::Now() + absl::Seconds(60); absl::Now() < until;) {
      seen = *testbed->Log(server);
      int met = 0;
      for (int shard = 0; shard < kNumShards; ++shard) {
        const std::string line =
            absl::StrCat("shard ", shard, ": this server, which began with an empty log, has all");
        met += absl::StrContains(seen, line) ? 1 : 0;
      }
      if (met == kNumShards) return;
      absl::SleepFor(absl::Milliseconds(20));
    }
    FAIL("it has not met the others: " << seen);
  }
  // Waits until all servers have the same versions of all shards; those.
  std::vector<VersionName> AwaitSame() const {
    std::string seen;
    for (const absl::Time until = absl::Now() + absl::Seconds(60); absl::Now() < until;) {
      const nlohmann::json shards = Shards();
      seen = shards.dump();
      std::vector<VersionName> versions;
      bool same = true;
      for (const nlohmann::json& shard : shards) {
        const nlohmann::json& first = shard["replicas"][0];
        if (!first.contains("version")) same = false;
        if (same) versions.emplace_back(first["version"].get<uint64_t>());
        for (const nlohmann::json& replica : shard["replicas"]) {
          same = same && replica.contains("version") && replica["version"] == first["version"] &&
                 replica["writer"] == first["writer"];
        }
      }
      if (same) return versions;
      absl::SleepFor(absl::Milliseconds(20));
    }
    FAIL("servers have not become the same: " << seen);
    return {};
  }

  std::unique_ptr<Testbed> testbed;
  std::vector<std::unique_ptr<RegisterWriter>> writers;
};

// All rows and all lists of a graph at its versions, as one text.
std::string ContentOf(const Graph& graph, const testing::CertifiedGraph& shape) {
  std::vector<int64_t> nodes;
  for (int64_t node = 0; node < shape.shape().num_nodes; ++node) nodes.push_back(node);
  const auto rows = graph.Fetch(0, "features", nodes);
  REQUIRE(rows.ok());
  std::string content(rows->bytes.begin(), rows->bytes.end());
  const auto degrees = graph.Degrees(0, nodes);
  REQUIRE(degrees.ok());
  for (const int64_t degree : *degrees) absl::StrAppend(&content, degree, ",");
  const auto sampled =
      graph.Sample(0, nodes, SamplingSpec::Uniform(graph.schema(), {5, 5}), DrawId());
  INFO(sampled.error().message());
  REQUIRE(sampled.ok());
  for (const int64_t node : sampled->nodes[0].ids) absl::StrAppend(&content, node, ",");
  for (const std::vector<Block>& hop : sampled->hops) {
    for (const int32_t source : hop[0].sources) absl::StrAppend(&content, source, ",");
  }
  return content;
}

TEST_CASE("every server of a shard answers the same, byte for byte, at a version",
          "[live_replicas]") {
  ReplicasBed bed(OptionsOf(2));
  const auto graph = Open(ClientOf(bed.testbed->cluster_file()));
  for (int i = 0; i < 30; ++i) {
    for (const auto& writer : bed.writers) {
      VICINITY_REQUIRE_OK(writer->Write(*graph, nullptr));
    }
  }
  const std::vector<VersionName> versions = bed.AwaitSame();
  const std::vector<VersionName> now = *graph->Versions();
  CHECK(now[0] == VersionName(versions[0].version, 0));
  CHECK(now[1] == VersionName(versions[1].version, 0));
  const std::vector<VersionName> earlier = {versions[0].version / 2, versions[1].version / 2};
  for (const std::vector<VersionName>& at : {versions, earlier}) {
    const auto first = bed.OpenAt(0);
    const auto second = bed.OpenAt(1);
    const auto one = first->At(at);
    const auto other = second->At(at);
    REQUIRE(one.ok());
    REQUIRE(other.ok());
    CHECK(ContentOf(**one, bed.testbed->graph()) == ContentOf(**other, bed.testbed->graph()));
  }
}

TEST_CASE("the server that writes is killed, another is promoted, and nothing replicated is lost",
          "[live_replicas]") {
  ReplicasBed bed(OptionsOf(3));
  const int64_t cycles = SizeFromEnvironment("VICINITY_PROMOTE_CYCLES", 3);
  std::vector<RegisterWriter*> writers;
  for (const auto& writer : bed.writers) writers.push_back(writer.get());
  LiveLoad load([&] { return Open(ClientOf(bed.testbed->cluster_file())); }, writers, 2);
  std::string trouble;
  for (int64_t cycle = 0; cycle < cycles && trouble.empty(); ++cycle) {
    std::this_thread::sleep_for(milliseconds(300));
    const int server = static_cast<int>(cycle % 3);
    const std::string name = absl::StrCat("s", server);
    absl::Status status = bed.testbed->Kill(server);
    if (status.ok()) {
      const cli::Answer promoted = bed.Promote({"--from", name});
      if (promoted.code != ExitCode::kOk) trouble = promoted.narration;
      std::this_thread::sleep_for(milliseconds(300));
      status = bed.testbed->Restart(server);
    }
    if (!status.ok()) trouble = status.ToString();
  }
  std::this_thread::sleep_for(milliseconds(300));
  load.Stop();
  REQUIRE(trouble == "");
  CHECK(load.wrong() == "");
  CHECK(load.num_read() > 20);
  const auto graph = load.graph();
  for (RegisterWriter* const writer : writers) {
    VICINITY_REQUIRE_OK(writer->Write(*graph, nullptr));
    CHECK(writer->WrongIn(*graph) == "");
    CHECK(writer->num_batches() > 10);
  }
  const std::vector<VersionName> versions = bed.AwaitSame();
  std::vector<std::string> contents;
  for (int server = 0; server < 3; ++server) {
    const auto at = bed.OpenAt(server)->At(versions);
    REQUIRE(at.ok());
    contents.push_back(ContentOf(**at, bed.testbed->graph()));
  }
  CHECK(contents[0] == contents[1]);
  CHECK(contents[0] == contents[2]);
}

TEST_CASE("a server with a new disk gets all changes of its shards from the others",
          "[live_replicas]") {
  ReplicasBed bed(OptionsOf(2));
  const auto graph = Open(ClientOf(bed.testbed->cluster_file()));
  for (int i = 0; i < 20; ++i) {
    VICINITY_REQUIRE_OK(bed.writers[0]->Write(*graph, nullptr));
  }
  SECTION("one that does not write") {
    VICINITY_REQUIRE_OK(bed.testbed->Kill(1));
    std::filesystem::remove_all(bed.testbed->changes(1));
    VICINITY_REQUIRE_OK(bed.testbed->Restart(1));
  }
  SECTION("the one that writes, which takes nothing until another is promoted") {
    VICINITY_REQUIRE_OK(bed.testbed->Kill(0));
    std::filesystem::remove_all(bed.testbed->changes(0));
    VICINITY_REQUIRE_OK(bed.testbed->Restart(0));
    std::string refuses;
    for (int i = 0; i < 500 && refuses.find("promote") == std::string::npos; ++i) {
      refuses = bed.Shards()[0]["replicas"][0]["refuses"];
      absl::SleepFor(absl::Milliseconds(20));
    }
    CHECK_THAT(refuses, Catch::Contains("is to have made it"));
    // It asks the other one every second, and has it set nothing aside.
    absl::SleepFor(absl::Milliseconds(2500));
    CHECK(bed.Shards()[0]["replicas"][0]["refuses"] == refuses);
    CHECK_FALSE(std::filesystem::exists(bed.testbed->changes(1) + "/shard-00000.aside-1"));
    CHECK_THAT(RunCommand(cli::kShardsCommand, {"--cluster", bed.testbed->cluster_file()}).out,
               Catch::Contains("s0: " + refuses));
    const cli::Answer promoted = bed.Promote({"--shards", "0,1"});
    INFO(promoted.narration);
    REQUIRE(promoted.code == ExitCode::kOk);
    CHECK_THAT(promoted.out, Catch::Contains("s1"));
  }
  bed.AwaitSame();
  const auto alone = bed.OpenAt(0);
  const auto other = bed.OpenAt(1);
  CHECK(ContentOf(*alone, bed.testbed->graph()) == ContentOf(*other, bed.testbed->graph()));
  CHECK(bed.writers[0]->WrongIn(*other) == "");
}

TEST_CASE("what only a lost server had is gone, and who has seen it reads on", "[live_replicas]") {
  ReplicasBed bed(OptionsOf(2));
  const auto graph = Open(ClientOf(bed.testbed->cluster_file()));
  RegisterWriter writer(bed.testbed->graph(), 9, 0, {Durability::kSync});
  VICINITY_REQUIRE_OK(writer.Write(*graph, nullptr));
  bed.AwaitSame();
  bed.AwaitMet(1);
  VICINITY_REQUIRE_OK(bed.testbed->Kill(1));
  for (int i = 0; i < 5; ++i) VICINITY_REQUIRE_OK(writer.Write(*graph, nullptr));
  const auto pinned = graph->At(*graph->Versions());
  REQUIRE(pinned.ok());
  VICINITY_REQUIRE_OK(bed.testbed->Kill(0));
  VICINITY_REQUIRE_OK(bed.testbed->Restart(1));
  // Nobody writes it, and what was seen is nowhere: what is left is read.
  const auto before = graph->Fetch(0, "features", {writer.registers()[0].node});
  INFO(before.error().message());
  CHECK(before.ok());
  const cli::Answer promoted = bed.Promote({"--from", "s0"});
  INFO(promoted.narration);
  REQUIRE(promoted.code == ExitCode::kOk);
  CHECK(graph->Versions().ok());
  CHECK(graph->Fetch(0, "features", {writer.registers()[0].node}).ok());
  VICINITY_REQUIRE_OK(bed.testbed->Restart(0));
  const std::vector<VersionName> versions = bed.AwaitSame();
  CHECK(versions[0].version == 2);  // one that both had, and the term's
  // The lost versions are numbered again; whoever is at one of them is not given the other.
  RegisterWriter next(bed.testbed->graph(), 10, 0, {Durability::kSync});
  for (int i = 0; i < 6; ++i) VICINITY_REQUIRE_OK(next.Write(*graph, nullptr));
  CHECK((*graph->Versions())[0].version > 6);
  const auto other = (*pinned)->Fetch(0, "features", {writer.registers()[0].node});
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code() == ErrorCode::kOutOfRange);
  CHECK_THAT(other.error().message(), Catch::Contains("taken back"));
  CHECK(std::filesystem::exists(bed.testbed->changes(0) + "/shard-00000.aside-1"));
}

TEST_CASE("promote says what it did, and what it may not", "[live_replicas]") {
  ReplicasBed bed(OptionsOf(2));
  const auto graph = Open(ClientOf(bed.testbed->cluster_file()));
  VICINITY_REQUIRE_OK(bed.writers[0]->Write(*graph, nullptr));
  CHECK(bed.Promote({}).code == ExitCode::kUsage);
  CHECK(bed.Promote({"--from", "s9"}).code == ExitCode::kNotFound);
  CHECK(bed.Promote({"--from", "s0", "--to", "s0"}).code == ExitCode::kUsage);
  CHECK(bed.Promote({"--shards", "7"}).code == ExitCode::kUsage);
  CHECK(RunCommand(cli::kPromoteCommand, {"--server", "127.0.0.1:1", "--shards", "0"}).code ==
        ExitCode::kUsage);
  const cli::Answer idle = bed.Promote({"--from", "s1"});
  CHECK(idle.code == ExitCode::kOk);
  CHECK_THAT(idle.out, Catch::Contains("nothing to do"));
  const cli::Answer dry = bed.Promote({"--from", "s0", "--dry-run", "--format", "json"});
  CHECK(dry.code == ExitCode::kOk);
  CHECK(nlohmann::json::parse(dry.out)["promoted"] == false);
  CHECK(bed.Shards()[0]["replicas"][1]["writer"] == "s0");
  const cli::Answer done = bed.Promote({"--shards", "1", "--to", "s1", "--format", "json"});
  INFO(done.narration);
  REQUIRE(done.code == ExitCode::kOk);
  const nlohmann::json shards = nlohmann::json::parse(done.out)["shards"];
  REQUIRE(shards.size() == 1);
  CHECK(shards[0]["was"] == "s0");
  CHECK(shards[0]["writer"] == "s1");
  CHECK(bed.Shards()[1]["replicas"][0]["writer"] == "s1");
  CHECK(bed.Shards()[0]["replicas"][0]["writer"] == "s0");
  for (const auto& writer : bed.writers) {
    VICINITY_CHECK_OK(writer->Write(*graph, nullptr));
  }
}

TEST_CASE("servers with certificates keep each other's changes", "[live_replicas]") {
  const testing::TempDir folder;
  const testing::CertificateAuthority authority("ours");
  testing::WriteSecret(folder.File("ca.pem"), authority.certificate());
  const testing::IssuedCertificate server =
      authority.Issue({"IP:127.0.0.1,DNS:localhost", -absl::Hours(1), absl::Hours(900)});
  testing::WriteSecret(folder.File("server.pem"), server.key + server.certificate);
  TestbedOptions options = OptionsOf(2);
  testing::WriteSecret(folder.File("access"),
                       "grants { name: 'servers' role: WRITE certificate: 'localhost' }\n");
  options.cluster_lines =
      absl::StrCat("access: '", folder.File("access"), "'\n", "tls { ca: '", folder.File("ca.pem"),
                   "' certificate: '", folder.File("server.pem"), "' }\n");
  ReplicasBed bed(options);
  GraphOptions client = ClientOf(bed.testbed->cluster_file());
  client.credentials.certificate = folder.File("server.pem");
  const auto graph = Open(client);
  for (int i = 0; i < 5; ++i) {
    VICINITY_REQUIRE_OK(bed.writers[0]->Write(*graph, nullptr));
  }
  CHECK(bed.writers[0]->WrongIn(*graph) == "");
}

}  // namespace
}  // namespace vicinity
