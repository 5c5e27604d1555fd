#include "server/service.h"

#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/bulk_fields.h"
#include "proto/common/grpc_status.h"
#include "proto/common/retry_delay.h"
#include "proto/common/status.h"
#include "proto/service.grpc.pb.h"
#include "proto/sliced_message.h"
#include "proto/wire_checksum.h"
#include "server/call_gate.h"
#include "server/chunk_sink.h"
#include "server/client_names.h"
#include "server/describe_handler.h"
#include "server/ranking_handler.h"
#include "server/reply_size.h"
#include "server/resolve_handler.h"
#include "server/rows_handler.h"
#include "server/sample_handler.h"
#include "server/status_handler.h"

namespace vicinity {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerContext;
using grpc::ServerContextBase;
using grpc::ServerUnaryReactor;
using grpc::ServerWriter;
using grpc::internal::RpcMethod;

// Payload of a reply: its bulk fields, and names. What is small counts as nothing.
int64_t NameBytes(const proto::NamesChunk& chunk) {
  int64_t bytes = 0;
  for (const std::string& name : chunk.names()) bytes += static_cast<int64_t>(name.size());
  return bytes;
}
template <typename Reply>
int64_t NameBytes(const Reply&) {
  return 0;
}

// Also looks at the clock: gRPC learns of a deadline only when its own timer gets to run.
bool IsOver(const ServerContextBase& context) {
  return context.IsCancelled() || context.deadline() <= std::chrono::system_clock::now();
}

const char* Name(Method method) { return kMethodNames[static_cast<size_t>(method)]; }

// Far more than a request that is meant well has.
constexpr int kMostParts = 65'536;

// Of what a request repeats.
int NumParts(const proto::SampleRequest& request) { return request.relations_size(); }
int NumParts(const proto::RankingRequest& request) { return request.home_size(); }
template <typename Request>
int NumParts(const Request&) {
  return 0;
}

// Before the checksum, which looks at every part: an empty one takes two bytes on the wire.
template <typename Request>
absl::Status CheckNumParts(Method method, const Request& request) {
  if (NumParts(request) <= kMostParts) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(Name(method), ": the request has ",
                                                 NumParts(request),
                                                 " relations or homes, the limit is ", kMostParts));
}

// Aborted if the request is not what its sender says it was. Sets what replies to it go by.
template <typename Request>
absl::Status CheckChecksum(Method method, const Request& request, uint64_t* asked) {
  *asked = RequestChecksum(Name(method), request);
  if (request.checksum() == 0 || request.checksum() == *asked) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(Name(method),
                                         ": the request was damaged on the way: its checksum is ",
                                         absl::Hex(*asked, absl::kZeroPad16), ", the sender's ",
                                         absl::Hex(request.checksum(), absl::kZeroPad16)));
}

// Replies leave it as bytes, made by PackMessage, which gRPC sends from where they lie; generated
// code would have them copied once more.
class GraphService final : public grpc::Service {
 public:
  GraphService(const ServerState* state, CallCounters* counters, CallGate* gate,
               const ServerTrust* trust, spdlog::logger* log)
      : state_(*state), counters_(counters), gate_(gate), trust_(trust), log_(log) {
    AddSmall(Method::kHello, &GraphService::Hello);
    AddSmall(Method::kDescribe, &GraphService::Describe);
    AddStream(Method::kSampleNeighbors, &GraphService::SampleNeighbors);
    AddStream(Method::kFetchRows, &GraphService::FetchRows);
    AddStream(Method::kFetchNames, &GraphService::FetchNames);
    // On the wire one reply is a stream of one. gRPC sends those of unary methods by itself,
    // outside the gate, and a client that does not read would hold the thread.
    AddStream(Method::kResolveKeys, &GraphService::ResolveKeys);
    AddStream(Method::kFetchRanking, &GraphService::FetchRanking);
    AddSmall(Method::kStatus, &GraphService::Status);
  }

 private:
  grpc::Status Hello(CallbackServerContext* context, const proto::HelloRequest* request,
                     ByteBuffer* reply) {
    clients_.Learn(context->peer(), request->client());
    // Escaped and cut: the text is whatever the caller likes.
    log_->debug("hello from {} at {}", absl::CHexEscape(request->client().substr(0, 200)),
                context->peer());
    return Answer(Method::kHello, *context, *request, reply, vicinity::Hello);
  }
  grpc::Status Describe(CallbackServerContext* context, const proto::DescribeRequest* request,
                        ByteBuffer* reply) {
    return Answer(Method::kDescribe, *context, *request, reply, vicinity::Describe);
  }
  grpc::Status SampleNeighbors(ServerContext* context, const proto::SampleRequest* request,
                               ServerWriter<ByteBuffer>* writer) {
    return Stream<proto::SampleChunk>(Method::kSampleNeighbors, *context, *request, writer,
                                      vicinity::SampleNeighbors);
  }
  grpc::Status FetchRows(ServerContext* context, const proto::RowsRequest* request,
                         ServerWriter<ByteBuffer>* writer) {
    return Stream<proto::RowsChunk>(Method::kFetchRows, *context, *request, writer,
                                    vicinity::FetchRows);
  }
  grpc::Status FetchNames(ServerContext* context, const proto::NamesRequest* request,
                          ServerWriter<ByteBuffer>* writer) {
    return Stream<proto::NamesChunk>(Method::kFetchNames, *context, *request, writer,
                                     vicinity::FetchNames);
  }
  grpc::Status ResolveKeys(ServerContext* context, const proto::ResolveRequest* request,
                           ServerWriter<ByteBuffer>* writer) {
    const auto handler = [context](const ServerState& state, const proto::ResolveRequest& asked,
                                   ChunkSink<proto::ResolveReply> emit) -> absl::Status {
      VICINITY_ASSIGN_OR_RETURN(
          proto::ResolveReply reply,
          vicinity::ResolveKeys(state, asked, [context] { return IsOver(*context); }));
      return emit(&reply) ? absl::OkStatus() : GoneError();
    };
    return Stream<proto::ResolveReply>(Method::kResolveKeys, *context, *request, writer, handler);
  }
  grpc::Status FetchRanking(ServerContext* context, const proto::RankingRequest* request,
                            ServerWriter<ByteBuffer>* writer) {
    return Stream<proto::RankingChunk>(Method::kFetchRanking, *context, *request, writer,
                                       vicinity::FetchRanking);
  }
  grpc::Status Status(CallbackServerContext* context, const proto::StatusRequest* request,
                      ByteBuffer* reply) {
    return Answer(Method::kStatus, *context, *request, reply, vicinity::ReportStatus);
  }

  // Carries any handler: counts it, runs it unless its caller is gone already or its request was
  // damaged, and turns its status into gRPC's. `run` gets the running call to add its bytes to, and
  // the request's checksum for those of the replies.
  template <typename Request, typename Run>
  grpc::Status Carry(Method method, const ServerContextBase& context, const Request& request,
                     Run run) {
    CallCounters::Running running(counters_, method);
    running.AddReceived(BulkBytes(request));
    running.AddCopied(BulkBytes(request));  // by protobuf, into the message
    const absl::Status status = [&]() -> absl::Status {
      if (IsOver(context)) return GoneError();
      uint64_t asked = 0;
      VICINITY_RETURN_IF_ERROR(CheckNumParts(method, request));
      VICINITY_RETURN_IF_ERROR(CheckChecksum(method, request, &asked));
      return run(&running, asked);
    }();
    running.Finish(status.ok());
    if (!status.ok()) {
      log_->debug("{} for {} failed: {}", Name(method), context.peer(), status.ToString());
    }
    return ToGrpc(status);
  }

  template <typename Request, typename Handler>
  grpc::Status Answer(Method method, const ServerContextBase& context, const Request& request,
                      ByteBuffer* reply, Handler handler) {
    return Carry(method, context, request,
                 [&](CallCounters::Running* running, uint64_t asked) -> absl::Status {
                   auto answer = handler(state_, request);
                   if (!answer.ok()) return answer.status();
                   *reply = Pack(&*answer, asked, running);
                   return absl::OkStatus();
                 });
  }

  template <typename Chunk, typename Request, typename Handler>
  grpc::Status Stream(Method method, ServerContext& context, const Request& request,
                      ServerWriter<ByteBuffer>* writer, Handler handler) {
    return Carry(method, context, request, [&](CallCounters::Running* running, uint64_t asked) {
      return Pass(context, request, [&](CallGate::Passage* passage) {
        return handler(state_, request, [&](Chunk* chunk) {
          if (IsOver(context)) return false;
          const int64_t bytes = BulkBytes(*chunk) + NameBytes(*chunk);
          const ByteBuffer packed = Pack(chunk, asked, running);
          return passage->Write(bytes, [&] { return writer->Write(packed); });
        });
      });
    });
  }

  // Runs a call for data when its turn has come. A call that is refused is told when to come again.
  template <typename Request, typename Run>
  absl::Status Pass(ServerContext& context, const Request& request, Run run) {
    if (state_.IsStopping()) context.AddTrailingMetadata(kStoppingTrailer, "1");
    CallGate::Passage::Options options;
    options.client = clients_.Of(context.peer(), trust_->IdentityOf(context));
    options.reply_bytes = ReplyBytes(*state_.dataset, request);
    options.deadline = context.deadline();
    options.cut_off = [&context] { context.TryCancel(); };
    CallGate::Passage passage(gate_, std::move(options), [&context] { return IsOver(context); });
    if (passage.status().ok()) return run(&passage);
    if (passage.retry_after().count() > 0) {
      context.AddTrailingMetadata(kRetryDelayTrailer, absl::StrCat(passage.retry_after().count()));
    }
    return passage.status();
  }

  // Gives a reply its checksum and takes it apart.
  template <typename Reply>
  static ByteBuffer Pack(Reply* reply, uint64_t asked, CallCounters::Running* running) {
    reply->set_checksum(ReplyChecksum(asked, *reply));
    const int64_t names = NameBytes(*reply);
    const int64_t bulk = BulkBytes(*reply);
    running->AddSent(bulk + names);
    running->AddCopied(bulk + 2 * names);  // by the handler; names by protobuf once more
    return PackMessage(reply, BulkFields(reply));
  }

  // What is small and always answered takes no thread of those that calls for data wait and work
  // in.
  template <typename Request>
  void AddSmall(Method method, grpc::Status (GraphService::*serve)(CallbackServerContext*,
                                                                   const Request*, ByteBuffer*)) {
    AddMethod(new grpc::internal::RpcServiceMethod(Path(method), RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodCallback(static_cast<int>(method),  // methods are added in their order
                       new grpc::internal::CallbackUnaryHandler<Request, ByteBuffer>(
                           [this, serve](CallbackServerContext* context, const Request* request,
                                         ByteBuffer* reply) {
                             ServerUnaryReactor* const reactor = context->DefaultReactor();
                             reactor->Finish((this->*serve)(context, request, reply));
                             return reactor;
                           }));
  }
  template <typename Request>
  void AddStream(Method method, grpc::Status (GraphService::*serve)(ServerContext*, const Request*,
                                                                    ServerWriter<ByteBuffer>*)) {
    AddMethod(new grpc::internal::RpcServiceMethod(
        Path(method), RpcMethod::SERVER_STREAMING,
        new grpc::internal::ServerStreamingHandler<GraphService, Request, ByteBuffer>(
            std::mem_fn(serve), this)));
  }
  // gRPC keeps the pointer.
  const char* Path(Method method) {
    return paths_
        .emplace_back(absl::StrCat("/", proto::Graph::service_full_name(), "/", Name(method)))
        .c_str();
  }

  const ServerState& state_;
  CallCounters* const counters_;
  CallGate* const gate_;
  const ServerTrust* const trust_;
  ClientNames clients_;
  spdlog::logger* const log_;
  std::deque<std::string> paths_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeGraphService(const ServerState* state, CallCounters* counters,
                                                CallGate* gate, const ServerTrust* trust,
                                                spdlog::logger* log) {
  return std::make_unique<GraphService>(state, counters, gate, trust, log);
}

}  // namespace vicinity
