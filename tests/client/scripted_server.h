// A server whose every answer a test writes, true or not.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proto/common/mutex.h"
#include "proto/common/retry_delay.h"
#include "proto/service.grpc.pb.h"
#include "proto/version.h"
#include "proto/wire_checksum.h"

namespace vicinity::testing {

// Requests are recorded; an answer that a test leaves out is an empty OK.
//
// Threads: set the answers before the first call; requests may be read when no call is under way.
class ScriptedServer final : public proto::Graph::Service {
 public:
  template <typename Request, typename Chunk>
  struct Method {
    const char* const name;
    uint64_t damage = 0;  // not 0: replies' checksums are wrong by it
    std::vector<Request> requests = {};
    std::function<grpc::Status(const Request&, std::vector<Chunk>*)> answer = nullptr;

    std::shared_ptr<Mutex> mu = std::make_shared<Mutex>();

    grpc::Status Stream(const Request& request, grpc::ServerWriter<Chunk>* writer) {
      {
        MutexLock lock(mu.get());
        requests.push_back(request);
      }
      std::vector<Chunk> chunks;
      const grpc::Status status = answer ? answer(request, &chunks) : grpc::Status::OK;
      const uint64_t asked = RequestChecksum(name, request);
      for (Chunk& chunk : chunks) {
        chunk.set_checksum(ReplyChecksum(asked, chunk) ^ damage);
        writer->Write(chunk);
      }
      return status;
    }
  };

  ScriptedServer() {
    hello.set_protocol_version(kProtocolVersion);
    hello.set_fingerprint(1);
    hello.add_shards(0);
    hello.mutable_limits()->set_max_ids(1000);
    hello.mutable_limits()->set_max_sampled(10000);
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~ScriptedServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  const std::string& address() const { return address_; }

  proto::HelloReply hello;
  grpc::Status hello_status;
  Method<proto::SampleRequest, proto::SampleChunk> sample{"SampleNeighbors"};
  Method<proto::RowsRequest, proto::RowsChunk> rows{"FetchRows"};
  Method<proto::RaggedRequest, proto::RaggedChunk> ragged{"FetchRagged"};
  Method<proto::FindRequest, proto::FindChunk> find{"FindRows"};
  Method<proto::RankingRequest, proto::RankingChunk> ranking{"FetchRanking"};
  proto::ResolveReply resolved;
  bool wait_for_cancel = false;           // FetchRows never answers
  std::string retry_delay;                // what FetchRows says beside its answer; empty: nothing
  std::vector<std::string> peers;         // the connections by which FetchRows was asked
  std::vector<std::string> traceparents;  // with what FetchRows was asked; "": without

 private:
  grpc::Status Hello(grpc::ServerContext*, const proto::HelloRequest* request,
                     proto::HelloReply* reply) override {
    *reply = hello;
    reply->set_checksum(ReplyChecksum(RequestChecksum("Hello", *request), hello));
    return hello_status;
  }
  grpc::Status SampleNeighbors(grpc::ServerContext*, const proto::SampleRequest* request,
                               grpc::ServerWriter<proto::SampleChunk>* writer) override {
    return sample.Stream(*request, writer);
  }
  grpc::Status FetchRows(grpc::ServerContext* context, const proto::RowsRequest* request,
                         grpc::ServerWriter<proto::RowsChunk>* writer) override {
    {
      MutexLock lock(rows.mu.get());
      peers.push_back(context->peer());
      const auto trace = context->client_metadata().find("traceparent");
      traceparents.emplace_back(trace == context->client_metadata().end()
                                    ? ""
                                    : std::string(trace->second.data(), trace->second.size()));
    }
    if (!retry_delay.empty()) context->AddTrailingMetadata(kRetryDelayTrailer, retry_delay);
    while (wait_for_cancel && !context->IsCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return rows.Stream(*request, writer);
  }
  grpc::Status FetchRagged(grpc::ServerContext*, const proto::RaggedRequest* request,
                           grpc::ServerWriter<proto::RaggedChunk>* writer) override {
    return ragged.Stream(*request, writer);
  }
  grpc::Status FindRows(grpc::ServerContext*, const proto::FindRequest* request,
                        grpc::ServerWriter<proto::FindChunk>* writer) override {
    return find.Stream(*request, writer);
  }
  grpc::Status ResolveKeys(grpc::ServerContext*, const proto::ResolveRequest* request,
                           proto::ResolveReply* reply) override {
    *reply = resolved;
    reply->set_checksum(ReplyChecksum(RequestChecksum("ResolveKeys", *request), resolved));
    return grpc::Status::OK;
  }
  grpc::Status FetchRanking(grpc::ServerContext*, const proto::RankingRequest* request,
                            grpc::ServerWriter<proto::RankingChunk>* writer) override {
    return ranking.Stream(*request, writer);
  }

  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace vicinity::testing
