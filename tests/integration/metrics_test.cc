// What real servers show at their HTTP ports: the metrics that deploy/observability lists, fit for
// Prometheus; and the status page's contents, with all servers of a cluster and with one down.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/writing/index_builder.h"
#include "proto/cluster/host_port.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "tests/integration/fixtures/metric_families.h"
#include "tests/server/http/raw_client.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::AddFamilies;
using testing::BodyOf;
using testing::CheckSameFamilies;
using testing::Get;
using testing::ListedFamilies;
using testing::MetricFamilies;
using testing::RawClient;
using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(60);

class MetricsTest {
 protected:
  MetricsTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
    ColumnToIndex label;
    label.column = graph.schema.node_types[0].FindColumn("label");
    VICINITY_REQUIRE_OK(BuildIndexes(folder_.File("graph"), {label}, {}, NoProgress()));
  }

  std::unique_ptr<RunningProgram> Start(const std::string& name, std::vector<std::string> args) {
    args.insert(args.begin(), "server/vicinityd");
    args.insert(args.end(), {"--ready-file", folder_.File(name), "--drain", "0.1"});
    auto program = RunningProgram::Start(args);
    VICINITY_REQUIRE_OK(program);
    VICINITY_REQUIRE_OK((*program)->WaitForLine("ready in", kLimit));
    return *std::move(program);
  }
  std::unique_ptr<RunningProgram> StartAlone(const std::string& name,
                                             std::vector<std::string> args = {}) {
    args.insert(args.end(), {"--data", folder_.File("graph"), "--listen", "127.0.0.1:0", "--http",
                             "127.0.0.1:0"});
    return Start(name, std::move(args));
  }
  // The address of a kind in a ready file: "" of calls, "http " of the HTTP port.
  HostPort Address(const std::string& name, const std::string& kind) const {
    const std::string ready = ReadFile(folder_.File(name)).value_or("");
    for (absl::string_view line : absl::StrSplit(ready, '\n')) {
      if (!kind.empty() && !absl::ConsumePrefix(&line, kind)) continue;
      return ParseHostPort(line).value_or(HostPort());
    }
    FAIL("no address in " << ready);
    return {};
  }
  HostPort Http(const std::string& name) const { return Address(name, "http "); }
  std::string Metrics(const std::string& name) const { return BodyOf(Get(Http(name), "/metrics")); }

  // Two servers, both with both shards. Their ports are some that have just been free.
  void StartCluster(bool is_live = false) {
    const auto changes = [this, is_live](const char* name) {
      return is_live ? absl::StrCat(" changes: '", folder_.File(name), "'") : std::string();
    };
    const auto first = StartAlone("first");
    const auto second = StartAlone("second");
    const std::string text = absl::StrCat(
        "data: '", folder_.File("graph"), "' num_shards: 2", changes("changes-a"),
        "\nservers { name: 'a' listen: '", Address("first", "").ToString(),
        "' shards: [0, 1] http: '", Http("first").ToString(), "' }\nservers { name: 'b' listen: '",
        Address("second", "").ToString(), "' shards: [0, 1]", changes("changes-b"), " }\n");
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("cluster.textproto"), text));
    for (const auto* program : {&first, &second}) {
      (*program)->Signal(SIGTERM);
      VICINITY_REQUIRE_OK((*program)->WaitForExit(kLimit));
    }
    a_ = Start("a",
               {"--cluster", folder_.File("cluster.textproto"), "--name", "a", "--bulk", "local"});
    b_ = Start("b",
               {"--cluster", folder_.File("cluster.textproto"), "--name", "b", "--bulk", "local"});
  }
  // What the status page of server a says of server b, once it is as it should be.
  std::string StateOfB(const std::string& awaited) const {
    std::string state;
    for (const absl::Time end = absl::Now() + kLimit; absl::Now() < end;) {
      const auto shown = nlohmann::json::parse(BodyOf(Get(Http("a"), "/status.json")));
      state = shown["servers"][1]["state"];
      if (state == awaited) break;
      absl::SleepFor(absl::Milliseconds(50));
    }
    return state;
  }

  const testing::TempDir folder_;
  std::unique_ptr<RunningProgram> a_;
  std::unique_ptr<RunningProgram> b_;
};

TEST_CASE_METHOD(MetricsTest, "servers show the metrics that are listed, and no others",
                 "[metrics]") {
  MetricFamilies shown;
  StartCluster(/*is_live=*/true);
  AddFamilies(Metrics("a"), &shown);
  const testing::CertificateAuthority authority("ours");
  WriteIssued(authority.Issue({}), folder_.path(), "server");
  const auto secured =
      StartAlone("secured", {"--open", "--tls-certificate", folder_.File("server.pem"), "--tls-key",
                             folder_.File("server.key")});
  RawClient client(Http("secured"));
  REQUIRE(client.StartTls());
  client.Send("GET /metrics HTTP/1.0\r\n\r\n");
  AddFamilies(BodyOf(client.Read()), &shown);

  CheckSameFamilies(shown, ListedFamilies(/*of_trainers=*/false));
}

TEST_CASE_METHOD(MetricsTest, "Prometheus' own tool finds no fault with the metrics", "[metrics]") {
  const auto live = StartAlone("live", {"--changes", folder_.File("changes")});
  testing::CheckWithPromtool(Metrics("live"), folder_.File("scrape"));
}

TEST_CASE_METHOD(MetricsTest, "every kind of labels has few values", "[metrics]") {
  StartCluster();
  // Unknown methods, pages and hosts make no series of their own.
  const std::string before = Metrics("a");
  for (int i = 0; i < 20; ++i) Get(Http("a"), absl::StrCat("/", i));
  absl::SleepFor(absl::Milliseconds(250));
  const std::string after = Metrics("a");
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  CHECK(lines(before) == lines(after));
  CHECK(lines(after) < 1500);
}

TEST_CASE_METHOD(MetricsTest, "the status page sees a server go and come", "[metrics]") {
  StartCluster();
  CHECK(StateOfB("answers") == "answers");
  b_->Signal(SIGKILL);
  VICINITY_REQUIRE_OK(b_->WaitForExit(kLimit));
  CHECK(StateOfB("silent") == "silent");
  b_ = Start("b",
             {"--cluster", folder_.File("cluster.textproto"), "--name", "b", "--bulk", "local"});
  CHECK(StateOfB("answers") == "answers");
}

TEST_CASE_METHOD(MetricsTest, "a server by itself shows its shards", "[metrics]") {
  const auto daemon = StartAlone("alone");
  CHECK_THAT(Metrics("alone"), Catch::Contains("vicinity_server_shard_faulty{shard=\"1\"} 0"));
  const auto shown = nlohmann::json::parse(BodyOf(Get(Http("alone"), "/status.json")));
  CHECK(shown["servers"].empty());
  CHECK(shown["shards"].size() == 2);
  CHECK(shown["shards"][1]["fault"] == "");
}

TEST_CASE_METHOD(MetricsTest, "beyond loopback the HTTP port is as guarded as that for calls",
                 "[metrics]") {
  auto program = RunningProgram::Start({"server/vicinityd", "--data", folder_.File("graph"),
                                        "--listen", "127.0.0.1:0", "--http", "0.0.0.0:0"});
  VICINITY_REQUIRE_OK(program);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, (*program)->WaitForExit(kLimit));
  CHECK(code == 2);
  CHECK_THAT((*program)->output(), Catch::Contains("can be reached from other machines"));
}

}  // namespace
}  // namespace vicinity
