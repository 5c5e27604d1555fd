// What real servers show at their HTTP ports: the metrics that deploy/observability lists, fit for
// Prometheus; and the status page's contents, with all servers of a cluster and with one down.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/writing/index_builder.h"
#include "proto/cluster/host_port.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "tests/server/http/raw_client.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::BodyOf;
using testing::Get;
using testing::RawClient;
using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(60);

struct Family {
  std::string kind;
  std::set<std::string> labels;
  std::string help;
  bool operator==(const Family& other) const {
    return kind == other.kind && labels == other.labels && help == other.help;
  }
};
using Families = std::map<std::string, Family>;

std::ostream& operator<<(std::ostream& out, const Family& family) {
  out << family.kind;
  for (const std::string& label : family.labels) out << ' ' << label;
  return out << " : " << family.help;
}

// The names of labels in `{a="x",b="y"}`, whose values have neither quotes nor commas here.
std::set<std::string> LabelsIn(absl::string_view line) {
  std::set<std::string> labels;
  const size_t open = line.find('{');
  if (open == absl::string_view::npos) return labels;
  const absl::string_view inner = line.substr(open + 1, line.rfind('}') - open - 1);
  for (const absl::string_view pair : absl::StrSplit(inner, ',')) {
    const std::string name(pair.substr(0, pair.find('=')));
    if (name != "le") labels.insert(name);
  }
  return labels;
}

// Families of a scrape; of each series that its family was announced is checked.
void AddFamilies(const std::string& text, Families* families) {
  std::string name;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "# HELP ")) {
      const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 3));
      (*families)[words[2]].help = words[3];
    } else if (absl::StartsWith(line, "# TYPE ")) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      name = words[2];
      (*families)[name].kind = words[3];
    } else if (!absl::StartsWith(line, "#")) {
      INFO(line);
      CHECK(absl::StartsWith(line, name));
      for (const std::string& label : LabelsIn(line)) (*families)[name].labels.insert(label);
    }
  }
}

Families ListedFamilies() {
  Families families;
  std::ifstream file("deploy/observability/metrics.txt");
  REQUIRE(file.good());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line[0] == '[') continue;
    const size_t colon = line.find(" : ");
    REQUIRE(colon != std::string::npos);
    std::istringstream words(line.substr(0, colon));
    std::string name;
    words >> name;
    Family& family = families[name];
    words >> family.kind;
    for (std::string label; words >> label;) family.labels.insert(label);
    family.help = line.substr(colon + 3);
  }
  return families;
}

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
    a_ = Start("a", {"--cluster", folder_.File("cluster.textproto"), "--name", "a"});
    b_ = Start("b", {"--cluster", folder_.File("cluster.textproto"), "--name", "b"});
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
  Families shown;
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

  const Families listed = ListedFamilies();
  for (const auto& [name, family] : shown) {
    INFO(name << ' ' << family);
    REQUIRE(listed.count(name) == 1);
    CHECK(listed.at(name) == family);
  }
  for (const auto& [name, family] : listed) {
    INFO(name << ' ' << family);
    CHECK(shown.count(name) == 1);
  }
}

TEST_CASE_METHOD(MetricsTest, "Prometheus' own tool finds no fault with the metrics", "[metrics]") {
  if (std::ifstream("/usr/bin/promtool").fail()) {
    WARN("promtool is not here: Debian's package prometheus has it");
    return;
  }
  const auto live = StartAlone("live", {"--changes", folder_.File("changes")});
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("scrape"), Metrics("live")));
  const std::string command =
      absl::StrCat("/usr/bin/promtool check metrics < ", folder_.File("scrape"), " 2>&1");
  FILE* const promtool = popen(command.c_str(), "r");
  REQUIRE(promtool != nullptr);
  std::string said;
  char piece[4096];
  while (fgets(piece, sizeof(piece), promtool) != nullptr) said += piece;
  INFO(said);
  CHECK(pclose(promtool) == 0);
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
  b_ = Start("b", {"--cluster", folder_.File("cluster.textproto"), "--name", "b"});
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
