// A batch of a trainer, traced: from its stages over calls, attempts and hedges to what two real
// servers did for it, and back, at a collector and in the servers' memory.
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/commands/trace/otlp_reader.h"
#include "client/cli/commands/trace/trace_command.h"
#include "client/graph.h"
#include "client/loader.h"
#include "client/types/result.h"
#include "proto/admin.grpc.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/file.h"
#include "proto/service.grpc.pb.h"
#include "server/server.h"
#include "tests/client/cli/run_command.h"
#include "tests/proto/telemetry/trace/collector.h"
#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using cli::ShownSpan;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

std::string Attribute(const ShownSpan& span, const std::string& key) {
  for (const auto& attribute : span.attributes) {
    if (attribute.first == key) return attribute.second;
  }
  return "";
}

// Two servers, each with both shards, behind a proxy each.
class TraceTest {
 protected:
  TraceTest() {
    testing::RandomGraphOptions shape;
    shape.num_nodes = 2000;
    shape.num_edges = 10'000;
    const testing::MemoryGraph graph = testing::RandomGraph(shape);
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
    std::string text = "data: 'graph' num_shards: 2\n";
    for (int s = 0; s < 2; ++s) {
      ServerOptions options;
      options.name = absl::StrCat("s", s);
      options.data = folder_.File("graph");
      options.admin = HostPort{"127.0.0.1", 0};
      options.tracing.max_calls_per_second = 1'000'000;
      VICINITY_ASSERT_OK_AND_ASSIGN(servers_.emplace_back(), Server::Start(options));
      VICINITY_ASSERT_OK_AND_ASSIGN(
          proxies_.emplace_back(),
          testing::ChaosProxy::Start(servers_.back()->address(), /*seed=*/1));
      absl::StrAppend(&text, "servers { name: 's", s, "' listen: '",
                      proxies_.back()->address().ToString(), "' shards: 0 shards: 1 admin: '",
                      servers_.back()->admin_address()->ToString(), "' }\n");
    }
    VICINITY_REQUIRE_OK(WriteFileAtomically(cluster_, text));
  }

  std::unique_ptr<Graph> Open(double share) const {
    GraphOptions options;
    options.cluster_file = cluster_;
    options.trace_share = share;
    options.trace_file = share > 0 ? file_ : "";
    options.trace_endpoint = share > 0 ? collector_.endpoint() : "";
    return Value(Graph::Open(options));
  }
  static std::unique_ptr<Loader> MakeLoader(const Graph& graph) {
    LoaderOptions options;
    options.sampling = SamplingSpec::Uniform(graph.schema(), {4, 3});
    options.batch_size = 16;
    options.columns = {{"node", "features"}};
    options.cache = CachePolicy::kNone;
    return Value(Loader::Create(&graph, options));
  }
  static int64_t ReadEpoch(Loader* loader, int64_t epoch) {
    REQUIRE(loader->StartEpoch(epoch).ok());
    int64_t batches = 0;
    while (Value(loader->Next()) != nullptr) ++batches;
    return batches;
  }

  // By id, of all processes; the trainer's come from its file.
  std::vector<ShownSpan> Collected() const {
    std::vector<ShownSpan> spans;
    VICINITY_REQUIRE_OK(cli::ReadOtlpFile(file_, &spans));
    return spans;
  }
  std::vector<ShownSpan> Served(int server, const std::string& trace) const {
    const auto stub = proto::Admin::NewStub(grpc::CreateChannel(
        servers_[server]->admin_address()->ToString(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    proto::TracesRequest request;
    request.add_trace_ids(trace);
    proto::TracesReply reply;
    REQUIRE(stub->Traces(&context, request, &reply).ok());
    std::vector<ShownSpan> spans;
    VICINITY_REQUIRE_OK(cli::ReadOtlp(reply.otlp(), &spans));
    return spans;
  }

  const testing::TempDir folder_;
  const std::string cluster_ = folder_.File("cluster.textproto");
  const std::string file_ = folder_.File("traces.jsonl");
  Collector collector_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<testing::ChaosProxy>> proxies_;
};

// Every span lies within its whole, if that is here.
void CheckNests(const std::map<std::string, ShownSpan>& spans) {
  for (const auto& [id, span] : spans) {
    INFO(span.name << " of " << span.process);
    CHECK(span.end >= span.start);
    const auto whole = spans.find(span.parent);
    if (span.parent.empty() || whole == spans.end()) continue;
    INFO("in " << whole->second.name);
    CHECK(span.start >= whole->second.start);
    CHECK(span.trace == whole->second.trace);
    // A server knows that its last message is gone a moment after its client has it.
    if (whole->second.process == span.process) CHECK(span.end <= whole->second.end);
  }
}

TEST_CASE_METHOD(TraceTest, "a batch is one tree over the trainer and its servers", "[trace]") {
  int64_t batches = 0;
  {
    const std::unique_ptr<Graph> graph = Open(1);
    const std::unique_ptr<Loader> loader = MakeLoader(*graph);
    batches = ReadEpoch(loader.get(), 0);
  }
  REQUIRE(batches > 5);
  std::map<std::string, ShownSpan> spans;
  std::vector<std::string> traces;
  for (const ShownSpan& span : Collected()) {
    CHECK(spans.emplace(span.id, span).second);
    CHECK(span.process.rfind("vicinity_client ", 0) == 0);
    if (span.parent.empty()) traces.push_back(span.trace);
  }
  CHECK(static_cast<int64_t>(traces.size()) == batches);
  CheckNests(spans);
  int64_t calls_of_servers = 0;
  for (const std::string& trace : traces) {
    // Servers keep a call when gRPC has told them that it is over: perhaps a moment from now.
    int64_t attempts = 0;
    for (const auto& each : spans) {
      attempts += each.second.trace == trace && each.second.name == "attempt" ? 1 : 0;
    }
    CHECK(attempts > 0);
    std::vector<ShownSpan> served;
    int64_t calls = 0;
    for (int tries = 0; tries < 1000 && calls < attempts; ++tries) {
      served.clear();
      calls = 0;
      for (int s = 0; s < 2; ++s) {
        for (ShownSpan& span : Served(s, trace)) {
          calls += span.name != "queue" && span.name != "work" && span.name != "send" ? 1 : 0;
          served.push_back(std::move(span));
        }
      }
    }
    CHECK(calls == attempts);
    calls_of_servers += calls;
    std::map<std::string, ShownSpan> all = spans;
    for (const ShownSpan& span : served) {
      CHECK(all.emplace(span.id, span).second);
    }
    for (const ShownSpan& span : served) {
      if (span.name == "queue" || span.name == "work" || span.name == "send") continue;
      REQUIRE(all.count(span.parent) == 1);
      const ShownSpan& attempt = all[span.parent];
      CHECK(attempt.name == "attempt");
      // "127.0.0.1:7502 (server s1)", and "vicinityd s1".
      CHECK_THAT(Attribute(attempt, "server"),
                 Catch::Contains(span.process.substr(span.process.find(' ') + 1)));
      // From there to the batch, over the call and the stage.
      std::string path;
      for (std::string id = span.id; !id.empty() && all.count(id) == 1; id = all[id].parent) {
        path += all[id].name + " < ";
      }
      CHECK_THAT(path, Catch::Matches("(SampleNeighbors|FetchRows|FetchEdgeIds|FetchDegrees) < "
                                      "attempt < [A-Za-z]+ < (sample|fetch) < batch < "));
    }
    CheckNests(all);
  }
  CHECK(calls_of_servers >= batches);
}

TEST_CASE_METHOD(TraceTest, "a collector gets what the file gets, field by field", "[trace]") {
  {
    const std::unique_ptr<Graph> graph = Open(1);
    const std::unique_ptr<Loader> loader = MakeLoader(*graph);
    ReadEpoch(loader.get(), 0);
  }
  std::vector<ShownSpan> received;
  for (const Collector::Request& request : collector_.requests()) {
    CHECK(request.path == "/v1/traces");
    CHECK(request.type == "application/json");
    VICINITY_REQUIRE_OK(cli::ReadOtlp(request.body, &received));
  }
  const std::vector<ShownSpan> written = Collected();
  REQUIRE(received.size() == written.size());
  for (size_t i = 0; i < received.size(); ++i) {
    CHECK(received[i].id == written[i].id);
    CHECK(received[i].parent == written[i].parent);
    CHECK(received[i].trace.size() == 32);
    CHECK(received[i].id.size() == 16);
  }
  // And the tool shows the slowest of them, with what the servers did.
  const cli::Answer shown = cli::RunCommand(
      cli::kTraceCommand, {file_, "--cluster", cluster_, "--slowest", "1", "--timeout", "60"});
  CHECK(shown.code == cli::ExitCode::kOk);
  CHECK_THAT(shown.out, Catch::Contains("of epoch 0") && Catch::Contains("sample") &&
                            Catch::Contains("FetchRows, shard ") && Catch::Contains("attempt to "));
}

TEST_CASE_METHOD(TraceTest, "a hedge and the attempt that lost are seen", "[trace]") {
  {
    const std::unique_ptr<Graph> graph = Open(1);
    const std::unique_ptr<Loader> loader = MakeLoader(*graph);
    int64_t epoch = 0;
    for (; epoch < 5; ++epoch) ReadEpoch(loader.get(), epoch);  // to know how long calls take
    testing::Toxics slow;
    slow.latency = absl::Milliseconds(200);
    proxies_[0]->SetBoth(slow);
    for (; epoch < 30 && graph->traffic().hedge_wins == 0; ++epoch) ReadEpoch(loader.get(), epoch);
    REQUIRE(graph->traffic().hedge_wins > 0);
    proxies_[0]->Heal();
  }
  std::map<std::string, ShownSpan> spans;
  for (const ShownSpan& span : Collected()) spans.emplace(span.id, span);
  int64_t won = 0;
  for (const auto& each : spans) {
    const ShownSpan& hedge = each.second;
    if (hedge.name != "hedge" || Attribute(hedge, "won").empty()) continue;
    ++won;
    const auto first = std::find_if(spans.begin(), spans.end(), [&hedge](const auto& other) {
      return other.second.parent == hedge.parent && other.second.name == "attempt";
    });
    REQUIRE(first != spans.end());
    CHECK_FALSE(Attribute(first->second, "lost").empty());
    CHECK(Attribute(first->second, "server") != Attribute(hedge, "server"));
    CHECK(first->second.start <= hedge.start);
  }
  CHECK(won > 0);
  CheckNests(spans);
}

TEST_CASE_METHOD(TraceTest, "by itself nothing is traced, and batches are what they are",
                 "[trace]") {
  const std::unique_ptr<Graph> graph = Open(0);
  const std::unique_ptr<Loader> loader = MakeLoader(*graph);
  ReadEpoch(loader.get(), 0);
  proto::TracesRequest request;
  for (int s = 0; s < 2; ++s) {
    const auto stub = proto::Admin::NewStub(grpc::CreateChannel(
        servers_[s]->admin_address()->ToString(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    request.set_slowest(1000);
    proto::TracesReply reply;
    REQUIRE(stub->Traces(&context, request, &reply).ok());
    std::vector<ShownSpan> spans;
    VICINITY_REQUIRE_OK(cli::ReadOtlp(reply.otlp(), &spans));
    CHECK(spans.empty());
  }
  CHECK(collector_.requests().empty());
  GraphOptions options;
  options.cluster_file = cluster_;
  for (const double share : {-0.1, 1.1}) {
    options.trace_share = share;
    CHECK(Graph::Open(options).error().code() == ErrorCode::kInvalidArgument);
  }
  options.trace_share = 1;
  options.trace_endpoint = "collector:4318";
  CHECK(Graph::Open(options).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE_METHOD(TraceTest, "whatever a caller says of its trace, it is answered", "[trace]") {
  const auto stub = proto::Graph::NewStub(
      grpc::CreateChannel(servers_[0]->address().ToString(), grpc::InsecureChannelCredentials()));
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
  const std::string good = absl::StrCat("00-", id, "-00f067aa0ba902b7-01");
  std::vector<std::vector<std::string>> said = {
      {""},
      {good + "-more"},
      {"ff" + good.substr(2)},
      {absl::StrCat("00-", std::string(32, '0'), "-00f067aa0ba902b7-01")},
      {absl::StrCat("00-", id, "-", std::string(16, '0'), "-01")},
      {std::string(4000, '-')},
      {good, good},
      {"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"},
      {"%n%s%x ../../etc/passwd"}};
  for (size_t cut = 0; cut < good.size(); ++cut) said.push_back({good.substr(0, cut)});
  for (const std::vector<std::string>& values : said) {
    CAPTURE(values);
    grpc::ClientContext context;
    for (const std::string& value : values) context.AddMetadata("traceparent", value);
    proto::StatusReply reply;
    CHECK(stub->Status(&context, proto::StatusRequest(), &reply).ok());
  }
  CHECK(Served(0, id).empty());
}

}  // namespace
}  // namespace vicinity
