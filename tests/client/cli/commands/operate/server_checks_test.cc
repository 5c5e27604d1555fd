#include "client/cli/commands/operate/server_checks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/commands/certificate_command.h"
#include "partition/dataset/manifest.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/file.h"
#include "proto/security/guarded_file.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

Finding Find(const std::vector<Finding>& findings, const std::string& what) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.what == what; });
  REQUIRE(found != findings.end());
  return *found;
}

// A dataset of two shards, and a server `a` with all of them on a free port.
class ServerChecksTest {
 protected:
  ServerChecksTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
  }
  std::vector<Finding> Check(const std::string& more_of_server = "",
                             const std::string& more_of_file = "") const {
    const auto cluster = ParseClusterFile(
        folder_.File("cluster"),
        absl::StrCat("data: 'graph' num_shards: 2 ", more_of_file,
                     " servers { name: 'a' listen: '127.0.0.1:0' advertise: '127.0.0.1:1' "
                     "shards: [0, 1] ",
                     more_of_server, "}"));
    VICINITY_REQUIRE_OK(cluster);
    return CheckServer(*cluster, cluster->servers[0], absl::Now());
  }

  const testing::TempDir folder_;
};

TEST_CASE_METHOD(ServerChecksTest, "a server that can start has no faults", "[doctor]") {
  for (const Finding& finding : Check()) {
    CAPTURE(finding.what, finding.found);
    CHECK(finding.verdict == Verdict::kGood);
  }
}

TEST_CASE_METHOD(ServerChecksTest, "files that are missing or cut off are named", "[doctor]") {
  const proto::Manifest manifest = ReadManifest(folder_.File("graph")).value();
  const auto files = FilesOfShard(manifest, ShardId{1});
  REQUIRE(files.size() >= 2);
  const auto path = [&](size_t i) { return folder_.File("graph/" + files[i]->path()); };
  std::filesystem::remove(path(0));
  std::filesystem::resize_file(path(1), files[1]->size() + 1);
  const Finding finding = Find(Check(), "files of the shards");
  CHECK(finding.verdict == Verdict::kFault);
  CHECK_THAT(finding.found, Catch::Contains("2 of ") && Catch::Contains(files[0]->path()) &&
                                Catch::Contains(files[1]->path()));
  CHECK(Find(CheckDataset(folder_.File("graph"), {ShardId{0}}), "files of the shards").verdict ==
        Verdict::kGood);
  CHECK(Find(CheckDataset(folder_.File("none"), {}), "dataset").verdict == Verdict::kFault);
}

TEST_CASE_METHOD(ServerChecksTest, "an address in use, or of another machine, is told",
                 "[doctor]") {
  const testing::SmallCluster other(testing::RandomGraph({}), 1, 1);
  const Finding used =
      Find(Check(absl::StrCat("admin: '", other.address(0), "'")), "admin address");
  CHECK(used.verdict == Verdict::kWarning);
  CHECK_THAT(used.found, Catch::Contains("in use"));
  // 192.0.2.0/24 is of no machine (RFC 5737).
  CHECK(Find(Check("http: '192.0.2.1:7700'"), "HTTP address").verdict == Verdict::kFault);
  CHECK(Find(Check("bulk: '192.0.2.1:7700'"), "address of the bulk channel").verdict ==
        Verdict::kFault);
}

TEST_CASE_METHOD(ServerChecksTest, "certificates that end soon, and files that do not fit",
                 "[doctor]") {
  const std::string folder = folder_.File("certificates");
  REQUIRE(RunCommand(kCertificateCommand, {"ca", "--folder", folder}).code == ExitCode::kOk);
  REQUIRE(
      RunCommand(kCertificateCommand, {"server", "127.0.0.1", "--days", "3", "--folder", folder})
          .code == ExitCode::kOk);
  const std::string tls =
      absl::StrCat("tls { certificate: '", folder, "/127.0.0.1.pem' ca: '", folder, "/ca.pem' }");
  CHECK(Find(Check("", tls), "certificate").verdict == Verdict::kWarning);
  std::filesystem::resize_file(folder + "/127.0.0.1.pem", 10);
  CHECK(Find(Check("", tls), "certificate").verdict == Verdict::kFault);

  VICINITY_REQUIRE_OK(
      WriteSecretFile(folder_.File("access"), "grants { nmae: 'a' }", IfThere::kFail));
  CHECK(Find(Check("", "access: 'access'"), "access file").verdict == Verdict::kFault);
}

TEST_CASE_METHOD(ServerChecksTest, "changes want a disk with room", "[doctor]") {
  const Finding finding = Find(Check("", "changes: 'changes'"), "disk for changes");
  CHECK_THAT(finding.found, Catch::Contains("changes"));
  const Finding none = Find(Check("", "changes: '/proc/changes'"), "disk for changes");
  CHECK(none.verdict == Verdict::kFault);
}

TEST_CASE("hosts that nobody knows are named with their server", "[doctor]") {
  const auto cluster =
      ParseClusterFile("cluster",
                       "data: 'graph' num_shards: 1 servers { name: 'a' listen: '127.0.0.1:1' "
                       "shards: 0 } servers { name: 'b' listen: 'nobody.invalid:1' shards: 0 }");
  VICINITY_REQUIRE_OK(cluster);
  const Finding finding = CheckNames(*cluster).at(0);
  CHECK(finding.verdict == Verdict::kFault);
  CHECK_THAT(finding.found, Catch::Contains("nobody.invalid (server b)"));
}

}  // namespace
}  // namespace vicinity::cli
