#include "server/service.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "proto/common/grpc_status.h"
#include "proto/service.pb.h"
#include "server/chunk_sink.h"
#include "server/describe_handler.h"
#include "server/ranking_handler.h"
#include "server/resolve_handler.h"
#include "server/rows_handler.h"
#include "server/sample_handler.h"
#include "server/status_handler.h"

namespace vicinity {
namespace {

using grpc::ServerContext;
using grpc::ServerWriter;

// What a message counts as sent: its bytes fields. The small ones count as nothing.
int64_t PayloadBytes(const proto::SampleChunk& chunk) {
  return chunk.counts().size() + chunk.sources().size() + chunk.edge_ids().size();
}
int64_t PayloadBytes(const proto::RowsChunk& chunk) { return chunk.rows().size(); }
int64_t PayloadBytes(const proto::NamesChunk& chunk) {
  int64_t bytes = 0;
  for (const std::string& name : chunk.names()) bytes += name.size();
  return bytes;
}
int64_t PayloadBytes(const proto::RankingChunk& chunk) {
  return chunk.global_ids().size() + chunk.probabilities().size();
}
int64_t PayloadBytes(const proto::ResolveReply& reply) { return reply.global_ids().size(); }
template <typename Reply>
int64_t PayloadBytes(const Reply&) {
  return 0;
}

// Also looks at the clock: gRPC learns of a deadline only when its own timer gets to run.
bool IsOver(const ServerContext& context) {
  return context.IsCancelled() || context.deadline() <= std::chrono::system_clock::now();
}

class GraphService final : public proto::Graph::Service {
 public:
  GraphService(const ServerState* state, CallCounters* counters, spdlog::logger* log)
      : state_(*state), counters_(counters), log_(log) {}

  grpc::Status Hello(ServerContext* context, const proto::HelloRequest* request,
                     proto::HelloReply* reply) override {
    // Escaped and cut: the text is whatever the caller likes.
    log_->debug("hello from {} at {}", absl::CHexEscape(request->client().substr(0, 200)),
                context->peer());
    return Answer(Method::kHello, *context, *request, reply, vicinity::Hello);
  }
  grpc::Status Describe(ServerContext* context, const proto::DescribeRequest* request,
                        proto::DescribeReply* reply) override {
    return Answer(Method::kDescribe, *context, *request, reply, vicinity::Describe);
  }
  grpc::Status SampleNeighbors(ServerContext* context, const proto::SampleRequest* request,
                               ServerWriter<proto::SampleChunk>* writer) override {
    return Stream(Method::kSampleNeighbors, *context, *request, writer, vicinity::SampleNeighbors);
  }
  grpc::Status FetchRows(ServerContext* context, const proto::RowsRequest* request,
                         ServerWriter<proto::RowsChunk>* writer) override {
    return Stream(Method::kFetchRows, *context, *request, writer, vicinity::FetchRows);
  }
  grpc::Status FetchNames(ServerContext* context, const proto::NamesRequest* request,
                          ServerWriter<proto::NamesChunk>* writer) override {
    return Stream(Method::kFetchNames, *context, *request, writer, vicinity::FetchNames);
  }
  grpc::Status ResolveKeys(ServerContext* context, const proto::ResolveRequest* request,
                           proto::ResolveReply* reply) override {
    const auto handler = [context](const ServerState& state, const proto::ResolveRequest& asked) {
      return vicinity::ResolveKeys(state, asked, [context] { return IsOver(*context); });
    };
    return Answer(Method::kResolveKeys, *context, *request, reply, handler);
  }
  grpc::Status FetchRanking(ServerContext* context, const proto::RankingRequest* request,
                            ServerWriter<proto::RankingChunk>* writer) override {
    return Stream(Method::kFetchRanking, *context, *request, writer, vicinity::FetchRanking);
  }
  grpc::Status Status(ServerContext* context, const proto::StatusRequest* request,
                      proto::StatusReply* reply) override {
    return Answer(Method::kStatus, *context, *request, reply, vicinity::ReportStatus);
  }

 private:
  // Carries any handler: counts it, runs it unless its caller is gone already, and turns its
  // status into gRPC's. `run` gets the running call to add its bytes to.
  template <typename Run>
  grpc::Status Carry(Method method, const ServerContext& context, Run run) {
    CallCounters::Running running(counters_, method);
    const absl::Status status = IsOver(context) ? GoneError() : run(&running);
    running.Finish(status.ok());
    if (!status.ok()) {
      log_->debug("{} for {} failed: {}", kMethodNames[static_cast<size_t>(method)], context.peer(),
                  status.ToString());
    }
    return ToGrpc(status);
  }

  template <typename Request, typename Reply, typename Handler>
  grpc::Status Answer(Method method, const ServerContext& context, const Request& request,
                      Reply* reply, Handler handler) {
    return Carry(method, context, [&](CallCounters::Running* running) -> absl::Status {
      absl::StatusOr<Reply> answer = handler(state_, request);
      if (!answer.ok()) return answer.status();
      running->AddBytes(PayloadBytes(*answer));
      *reply = *std::move(answer);
      return absl::OkStatus();
    });
  }

  template <typename Request, typename Chunk, typename Handler>
  grpc::Status Stream(Method method, const ServerContext& context, const Request& request,
                      ServerWriter<Chunk>* writer, Handler handler) {
    return Carry(method, context, [&](CallCounters::Running* running) -> absl::Status {
      return handler(state_, request, [&](Chunk* chunk) {
        if (IsOver(context) || !writer->Write(*chunk)) return false;
        running->AddBytes(PayloadBytes(*chunk));
        return true;
      });
    });
  }

  const ServerState& state_;
  CallCounters* const counters_;
  spdlog::logger* const log_;
};

}  // namespace

std::unique_ptr<proto::Graph::Service> MakeGraphService(const ServerState* state,
                                                        CallCounters* counters,
                                                        spdlog::logger* log) {
  return std::make_unique<GraphService>(state, counters, log);
}

}  // namespace vicinity
