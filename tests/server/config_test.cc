#include "server/config.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "proto/admin.pb.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "server/admission/admission_limits.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr char kCluster[] = R"(data: "graph"
num_shards: 3
servers { name: "a" listen: "127.0.0.1:7500" shards: [2, 0] }
servers { name: "b" listen: "127.0.0.1:7501" shards: 1 }
)";

TEST_CASE("a server takes its part from the cluster file", "[config]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("c.textproto"), kCluster));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const CommandLine line,
      ParseCommandLine({"--cluster", folder.File("c.textproto"), "--name", "a"}));
  CHECK(line.message.empty());
  const ServerOptions& server = line.config.server;
  CHECK(server.name == "a");
  CHECK(server.data == folder.File("graph"));
  CHECK(server.shards == std::vector<ShardId>{{0}, {2}});
  CHECK(server.num_shards == 3);
  CHECK(server.listen.ToString() == "127.0.0.1:7500");
  CHECK_FALSE(server.security.open);
}

TEST_CASE("a server can do without a cluster file", "[config]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const CommandLine plain, ParseCommandLine({"--data", "graph"}));
  CHECK(plain.config.server.data == "graph");
  CHECK(plain.config.server.shards.empty());
  CHECK(plain.config.server.listen.ToString() == "127.0.0.1:7500");
  CHECK(plain.config.drain == absl::Seconds(5));

  VICINITY_ASSERT_OK_AND_ASSIGN(const CommandLine full,
                                ParseCommandLine({"--data=graph",
                                                  "--shards=3,0",
                                                  "--listen=[::1]:0",
                                                  "--drain=0.5",
                                                  "--log-format=json",
                                                  "--log-level=warning",
                                                  "--ready-file=r",
                                                  "--die-with-parent",
                                                  "--open",
                                                  "--max-ids=10",
                                                  "--max-sampled=20",
                                                  "--max-chunk-bytes=1024",
                                                  "--http=127.0.0.1:9600",
                                                  "--bulk=127.0.0.1:7510",
                                                  "--announce=0.25",
                                                  "--max-calls=100",
                                                  "--max-client-calls=20",
                                                  "--max-running=30",
                                                  "--max-reply-mib=40",
                                                  "--max-client-reply-mib=5",
                                                  "--client-request-rate=6.5",
                                                  "--client-mib-rate=0.5",
                                                  "--write-timeout=1.5",
                                                  "--max-connections=70",
                                                  "--condition-mib=8",
                                                  "--slow-call-ms=250",
                                                  "--trace-rate=7",
                                                  "--otlp-endpoint=http://collector:4318",
                                                  "--changes-warn-mib=3",
                                                  "--changes-reserve-mib=2",
                                                  "--write-share=0.25",
                                                  "--force",
                                                  "--check-rate=3"}));
  const ServerConfig& config = full.config;
  CHECK(config.server.shards == std::vector<ShardId>{{3}, {0}});
  VICINITY_ASSERT_OK_AND_ASSIGN(const CommandLine range,
                                ParseCommandLine({"--data=graph", "--shards=0-2,5"}));
  CHECK(range.config.server.shards == std::vector<ShardId>{{0}, {1}, {2}, {5}});
  CHECK(config.server.listen.ToString() == "[::1]:0");
  CHECK(config.server.bulk.local);
  REQUIRE(config.server.bulk.tcp.has_value());
  CHECK(config.server.bulk.tcp->ToString() == "127.0.0.1:7510");
  REQUIRE(config.server.http.has_value());
  CHECK(config.server.http->ToString() == "127.0.0.1:9600");
  CHECK(config.drain == absl::Milliseconds(500));
  CHECK(config.server.condition_bytes == int64_t{8} << 20);
  CHECK(config.server.tracing.slow_call == std::chrono::milliseconds(250));
  CHECK(config.server.tracing.max_calls_per_second == 7);
  CHECK(config.server.tracing.otlp_endpoint == "http://collector:4318");
  CHECK(config.server.changes_warn_free_bytes == int64_t{3} << 20);
  CHECK(config.server.changes_reserve_bytes == int64_t{2} << 20);
  CHECK(config.server.write_share == 0.25);
  CHECK(config.force);
  CHECK(config.log_format == LogFormat::kJson);
  CHECK(config.log_level == spdlog::level::warn);
  CHECK(config.ready_file == "r");
  CHECK(config.die_with_parent);
  CHECK(config.server.security.open);
  CHECK(config.server.limits.max_ids == 10);
  CHECK(config.server.limits.max_sampled == 20);
  CHECK(config.server.limits.max_chunk_bytes == 1024);
  CHECK(config.server.check_bytes_per_second == 3 << 20);
  CHECK(config.server.max_connections == 70);
  CHECK(config.server.announce == absl::Milliseconds(250));
  const AdmissionLimits& admission = config.server.admission;
  CHECK(admission.max_calls == 100);
  CHECK(admission.max_client_calls == 20);
  CHECK(admission.max_running == 30);
  CHECK(admission.max_reply_bytes == 40 << 20);
  CHECK(admission.max_client_reply_bytes == 5 << 20);
  CHECK(admission.max_client_request_rate == 6.5);
  CHECK(admission.max_client_byte_rate == 1 << 19);
  CHECK(admission.write_timeout == std::chrono::milliseconds(1500));
}

// "value (source)" of a flag; "" if there is none of that name.
std::string ValueOf(const ServerOptions& server, const std::string& flag) {
  for (const proto::FlagValue& known : server.flags) {
    if (known.name() != flag) continue;
    return absl::StrCat(known.value(), " ", proto::FlagSource_Name(known.source()));
  }
  return "";
}

TEST_CASE("each flag's value is known with whose word it is", "[config]") {
  const testing::TempDir folder;
  const std::string path = folder.File("c.textproto");
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      path, absl::StrCat(kCluster, "open: true tls { certificate: 'cert' ca: 'ca' }\n")));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const CommandLine line,
      ParseCommandLine({"--cluster", path, "--name", "a", "--http", "127.0.0.1:9", "--drain=7"}));
  const ServerOptions& server = line.config.server;
  CHECK(ValueOf(server, "--cluster") == path + " FLAG_SOURCE_COMMAND_LINE");
  CHECK(ValueOf(server, "--data") == folder.File("graph") + " FLAG_SOURCE_CLUSTER_FILE");
  CHECK(ValueOf(server, "--shards") == "0,2 FLAG_SOURCE_CLUSTER_FILE");
  CHECK(ValueOf(server, "--listen") == "127.0.0.1:7500 FLAG_SOURCE_CLUSTER_FILE");
  CHECK(ValueOf(server, "--tls-certificate") == folder.File("cert") + " FLAG_SOURCE_CLUSTER_FILE");
  CHECK(ValueOf(server, "--open") == "true FLAG_SOURCE_CLUSTER_FILE");
  CHECK(ValueOf(server, "--admin-listen") == " FLAG_SOURCE_DEFAULT");
  CHECK(ValueOf(server, "--http") == "127.0.0.1:9 FLAG_SOURCE_COMMAND_LINE");
  CHECK(ValueOf(server, "--drain") == "7 FLAG_SOURCE_COMMAND_LINE");
  CHECK(ValueOf(server, "--max-calls") == "1024 FLAG_SOURCE_DEFAULT");
  CHECK(ValueOf(server, "--help") == "");
  CHECK(ValueOf(server, "--version") == "");

  VICINITY_ASSERT_OK_AND_ASSIGN(const CommandLine plain, ParseCommandLine({"--data", "graph"}));
  CHECK(ValueOf(plain.config.server, "--listen") == "127.0.0.1:7500 FLAG_SOURCE_DEFAULT");
  CHECK(ValueOf(plain.config.server, "--shards") == " FLAG_SOURCE_DEFAULT");
  // None is left out: as many as the help has.
  VICINITY_ASSERT_OK_AND_ASSIGN(const CommandLine help, ParseCommandLine({"--help"}));
  size_t in_help = 0;
  for (const absl::string_view text : absl::StrSplit(help.message, '\n')) {
    in_help += absl::StartsWith(text, "  --") ? 1 : 0;
  }
  CHECK(in_help == plain.config.server.flags.size() + 1);  // and --version
}

TEST_CASE("the flag says where the bulk channel is, else the cluster file", "[config]") {
  const testing::TempDir folder;
  const std::string path = folder.File("c.textproto");
  VICINITY_REQUIRE_OK(WriteFileAtomically(path, R"(data: "graph" num_shards: 2 bulk: "local"
               servers { name: "a" listen: "127.0.0.1:7500" shards: 0 }
               servers { name: "b" listen: "127.0.0.1:7501" shards: 1 bulk: "127.0.0.1:7511" })"));
  const auto parse = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> args = {"--cluster", path, "--name", name};
    args.insert(args.end(), more.begin(), more.end());
    auto line = ParseCommandLine(args);
    VICINITY_REQUIRE_OK(line);
    return line->config.server;
  };
  const ServerOptions a = parse("a", {});
  CHECK(a.bulk.local);
  CHECK_FALSE(a.bulk.tcp.has_value());
  CHECK(ValueOf(a, "--bulk") == "local FLAG_SOURCE_CLUSTER_FILE");
  const ServerOptions b = parse("b", {});
  CHECK(b.bulk.local);
  REQUIRE(b.bulk.tcp.has_value());
  CHECK(b.bulk.tcp->ToString() == "127.0.0.1:7511");
  CHECK(ValueOf(b, "--bulk") == "127.0.0.1:7511 FLAG_SOURCE_CLUSTER_FILE");
  const ServerOptions none = parse("b", {"--bulk", "none"});
  CHECK_FALSE(none.bulk.is_there());
  CHECK(ValueOf(none, "--bulk") == "none FLAG_SOURCE_COMMAND_LINE");
  // Where the server itself listens, on any port.
  const ServerOptions chosen = parse("a", {"--bulk", "auto"});
  CHECK(chosen.bulk.local);
  REQUIRE(chosen.bulk.tcp.has_value());
  CHECK(chosen.bulk.tcp->ToString() == "127.0.0.1:0");
}

TEST_CASE("help and version are messages", "[config]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const CommandLine help, ParseCommandLine({"--help"}));
  CHECK_THAT(help.message, Catch::Contains("--cluster"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const CommandLine version, ParseCommandLine({"--version"}));
  CHECK_THAT(version.message, Catch::StartsWith("vicinityd "));
}

TEST_CASE("flags that make no sense are refused", "[config]") {
  const std::vector<std::string> args = GENERATE(values<std::vector<std::string>>({
      {},
      {"--data"},
      {"--unknown"},
      {"graph"},
      {"--name", "a"},
      {"--cluster", "c.textproto"},
      {"--data", "graph", "--cluster", "c.textproto", "--name", "a"},
      {"--cluster", "c.textproto", "--name", "a", "--shards", "0"},
      {"--cluster", "c.textproto", "--name", "a", "--listen", "127.0.0.1:0"},
      {"--data", "graph", "--shards", "0,"},
      {"--data", "graph", "--shards", "0,x"},
      {"--data", "graph", "--shards", "-1"},
      {"--data", "graph", "--shards", "0,1,0"},
      {"--data", "graph", "--shards", "3-1"},
      {"--data", "graph", "--shards", "0-2,1"},
      {"--data", "graph", "--listen", "7500"},
      {"--data", "graph", "--listen", "host:99999"},
      {"--data", "graph", "--http", "9600"},
      {"--data", "graph", "--bulk", "7510"},
      {"--data", "graph", "--drain", "-1"},
      {"--data", "graph", "--drain", "nan"},
      {"--data", "graph", "--drain", "soon"},
      {"--data", "graph", "--log-format", "xml"},
      {"--data", "graph", "--log-level", "loud"},
      {"--data", "graph", "--max-ids", "0"},
      {"--data", "graph", "--max-ids", "99999999999999999999"},
      {"--data", "graph", "--max-sampled", "-5"},
      {"--data", "graph", "--max-chunk-bytes", "1"},
      {"--data", "graph", "--max-calls", "0"},
      {"--data", "graph", "--max-client-calls", "0"},
      {"--data", "graph", "--max-connections", "0"},
      {"--data", "graph", "--max-running", "-1"},
      {"--data", "graph", "--max-reply-mib", "0"},
      {"--data", "graph", "--max-client-reply-mib", "99999999999"},
      {"--data", "graph", "--client-mib-rate", "-1"},
      {"--data", "graph", "--write-timeout", "nan"},
      {"--data", "graph", "--announce", "-1"},
      {"--data", "graph", "--check-rate", "0"},
      {"--data", "graph", "--slow-call-ms", "-1"},
      {"--data", "graph", "--slow-call-ms", "nan"},
      {"--data", "graph", "--trace-rate", "-1"},
      {"--data", "graph", "--condition-mib", "-1"},
      {"--data", "graph", "--changes-warn-mib", "-1"},
      {"--data", "graph", "--changes-reserve-mib", "-1"},
      {"--data", "graph", "--write-share", "0"},
      {"--data", "graph", "--write-share", "nan"},
      {"--data", "graph", "--write-share", "1.1"},
  }));
  CAPTURE(args);
  VICINITY_CHECK_CODE(ParseCommandLine(args), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("faults in the cluster file are told with file and line", "[config]") {
  const testing::TempDir folder;
  const std::string path = folder.File("c.textproto");
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      path, "data: \"g\"\nnum_shards: 2\nservers { name: \"a\" listen: \"h:1\" shards: 0 }\n"));
  const absl::Status status = ParseCommandLine({"--cluster", path, "--name", "a"}).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::StartsWith(path + ":2: "));
}

TEST_CASE("a name that the cluster file does not have is told with those it has", "[config]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("c.textproto"), kCluster));
  const absl::Status status =
      ParseCommandLine({"--cluster", folder.File("c.textproto"), "--name", "c"}).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::EndsWith("no server \"c\", it has a, b"));
}

TEST_CASE("a cluster file that is not there is told", "[config]") {
  VICINITY_CHECK_CODE(ParseCommandLine({"--cluster", "/no/such/file", "--name", "a"}),
                      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
