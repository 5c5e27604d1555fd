#include "client/cli/commands/trace/trace_command.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/file.h"
#include "proto/service.grpc.pb.h"
#include "server/server.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::json;

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

class TraceCommandTest {
 protected:
  TraceCommandTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 1, 5), folder_.File("graph")));
    ServerOptions options;
    options.name = "a";
    options.data = folder_.File("graph");
    options.admin = HostPort{"127.0.0.1", 0};
    VICINITY_ASSERT_OK_AND_ASSIGN(server_, Server::Start(options));
  }
  // Asks the server for its status as a part of that trace.
  void Call(const std::string& traceparent) const {
    const auto stub = proto::Graph::NewStub(
        grpc::CreateChannel(server_->address().ToString(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.AddMetadata("traceparent", traceparent);
    proto::StatusReply reply;
    REQUIRE(stub->Status(&context, proto::StatusRequest(), &reply).ok());
  }
  std::string admin() const { return server_->admin_address()->ToString(); }
  Json Shown(std::vector<std::string> args) const {
    args.insert(args.end(), {"--format", "json"});
    const Answer answer = RunCommand(kTraceCommand, args);
    INFO(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return Json::parse(answer.out)["traces"];
  }

  const testing::TempDir folder_;
  std::unique_ptr<Server> server_;
};

TEST_CASE_METHOD(TraceCommandTest, "sampled calls of a server are shown and drawn", "[cli]") {
  CHECK(Shown({"--server", admin()}).empty());
  Call(absl::StrCat("00-", kTrace, "-00f067aa0ba902b7-00"));  // not sampled
  Call(absl::StrCat("00-", kTrace, "-00f067aa0ba902b7-01"));
  // The server knows of a call's end a moment after its caller.
  Json traces;
  for (int tries = 0; tries < 1000 && traces.empty(); ++tries) {
    traces = Shown({"--server", admin()});
  }
  REQUIRE(traces.size() == 1);
  CHECK(traces[0]["trace"] == kTrace);
  REQUIRE(traces[0]["spans"].size() == 4);
  CHECK(traces[0]["spans"][0]["name"] == "Status");
  CHECK(traces[0]["spans"][0]["parent"] == "00f067aa0ba902b7");
  CHECK(traces[0]["spans"][0]["process"] == "vicinityd a");
  const std::string picture = folder_.File("slow.svg");
  const Answer text =
      RunCommand(kTraceCommand, {"--server", admin(), "--id", kTrace, "--picture", picture});
  CHECK(text.code == ExitCode::kOk);
  CHECK_THAT(text.out, Catch::Contains("Status") && Catch::Contains("queue"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string svg, ReadFile(picture));
  CHECK_THAT(svg, Catch::StartsWith("<svg "));
  CHECK(Shown({"--server", admin(), "--id", std::string(32, 'a')}).empty());
}

TEST_CASE_METHOD(TraceCommandTest, "a trainer's file and the servers are one tree", "[cli]") {
  Call(absl::StrCat("00-", kTrace, "-00f067aa0ba902b7-01"));
  const std::string file = folder_.File("traces.jsonl");
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      file, absl::StrCat(R"({"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[{"traceId":")",
                         kTrace,
                         R"(","spanId":"00f067aa0ba902b7","name":"batch",)"
                         R"("startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]})",
                         "\n")));
  Json spans;
  for (int tries = 0; tries < 1000 && spans.size() < 5; ++tries) {
    spans = Shown({file, "--server", admin()})[0]["spans"];
  }
  REQUIRE(spans.size() == 5);
  CHECK(spans[0]["name"] == "batch");
  CHECK(spans[1]["name"] == "Status");
  CHECK(spans[1]["depth"] == 1);
  CHECK(spans[2]["depth"] == 2);
  CHECK(Shown({file})[0]["spans"].size() == 1);
}

TEST_CASE_METHOD(TraceCommandTest, "what cannot be had is said", "[cli]") {
  CHECK(RunCommand(kTraceCommand, {}).code == ExitCode::kUsage);
  CHECK(RunCommand(kTraceCommand, {"--server", admin(), "--slowest", "0"}).code ==
        ExitCode::kUsage);
  CHECK(RunCommand(kTraceCommand, {folder_.File("none")}).code == ExitCode::kNotFound);
  CHECK(RunCommand(kTraceCommand, {"--server", "127.0.0.1:1"}).code == ExitCode::kNotConnected);
}

}  // namespace
}  // namespace vicinity::cli
