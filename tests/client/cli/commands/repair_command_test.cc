#include "client/cli/commands/repair_command.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/commands/admin_command.h"
#include "client/cli/commands/verify_command.h"
#include "proto/cluster/cluster_file.h"
#include "server/server.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// A dataset that is damaged, and a server of a sound copy.
class RepairCommandTest {
 public:
  RepairCommandTest() {
    const testing::MemoryGraph graph = testing::TypedGraph(2000, 30, 7, 2);
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 2, 4), Here()));
    std::filesystem::copy(Here(), Replica(), std::filesystem::copy_options::recursive);
    ServerOptions options;
    options.data = Replica();
    options.admin = HostPort{"127.0.0.1", 0};
    auto server = Server::Start(options);
    VICINITY_REQUIRE_OK(server);
    server_ = *std::move(server);
    testing::FlipBit(Victim(), 100);
  }

 protected:
  std::string Here() const { return folder_.File("here"); }
  std::string Replica() const { return folder_.File("replica"); }
  std::string Victim() const { return Here() + "/shard-00001/nodes.user.column.features"; }
  std::string Admin() const { return server_->admin_address()->ToString(); }

  const testing::TempDir folder_;
  std::unique_ptr<Server> server_;
};

TEST_CASE_METHOD(RepairCommandTest, "damaged files are replaced by a replica's", "[cli]") {
  CHECK(RunCommand(kVerifyCommand, {Here()}).code == ExitCode::kBadData);
  const bool by_server = GENERATE(true, false);
  std::vector<std::string> args = {Here()};
  if (by_server) {
    args.insert(args.end(), {"--server", Admin()});
  } else {
    args.insert(args.end(), {"--from", Replica()});
  }
  const Answer answer = RunCommand(kRepairCommand, args);
  INFO(answer.out);
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("repaired: shard-00001/nodes.user.column.features"));
  CHECK(RunCommand(kVerifyCommand, {Here()}).code == ExitCode::kOk);
}

TEST_CASE_METHOD(RepairCommandTest, "a dry run names what is damaged and is an error", "[cli]") {
  const Answer answer =
      RunCommand(kRepairCommand, {Here(), "--from", Replica(), "--dry-run", "--format=json"});
  CHECK(answer.code == ExitCode::kBadData);
  const nlohmann::json found = nlohmann::json::parse(answer.out);
  CHECK(found["damaged"].size() == 1);
  CHECK(found["repaired"] == false);
  CHECK(RunCommand(kVerifyCommand, {Here()}).code == ExitCode::kBadData);
}

TEST_CASE_METHOD(RepairCommandTest, "who does not say from where is told to", "[cli]") {
  CHECK(RunCommand(kRepairCommand, {Here()}).code == ExitCode::kUsage);
  CHECK(RunCommand(kRepairCommand, {Here(), "--from", Replica(), "--server", Admin()}).code ==
        ExitCode::kUsage);
  CHECK(RunCommand(kRepairCommand, {Here(), "--server", "127.0.0.1:1"}).code != ExitCode::kOk);
}

TEST_CASE_METHOD(RepairCommandTest, "a server takes a repaired file up without a restart",
                 "[cli]") {
  ServerOptions options;
  options.data = Here();
  options.admin = HostPort{"127.0.0.1", 0};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto damaged, Server::Start(options));
  const std::string address = damaged->admin_address()->ToString();
  // Its check in the background finds the fault.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto verify = [&] {
    return RunCommand(kAdminCommand, {"verify", "--server", address, "--timeout", "30"}).code;
  };
  CHECK(verify() == ExitCode::kDegraded);
  CHECK(RunCommand(kRepairCommand, {Here(), "--server", Admin()}).code == ExitCode::kOk);
  ExitCode code = ExitCode::kDegraded;
  while (code != ExitCode::kOk && std::chrono::steady_clock::now() < limit) code = verify();
  CHECK(code == ExitCode::kOk);
}

}  // namespace
}  // namespace vicinity::cli
