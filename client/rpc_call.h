// One RPC: its deadline, its cancellation, and what its failure is called.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/cancellation.h"
#include "client/fan_out.h"
#include "proto/service.grpc.pb.h"

namespace vicinity {

// A context keeps its channel alive, and gRPC 1.51 crashes if the last channel goes in one of its
// own threads. So a call below is gone, context and all, before it tells anybody that it is over.

struct CallSettings {
  std::string where;  // who is asked for what: "shard 2 at 127.0.0.1:7502 (server c): FetchRows"
  std::chrono::milliseconds timeout{0};
  bool wait_for_ready = false;     // keep trying to connect until the timeout
  Cancellation* cancel = nullptr;  // null: never cancelled
};

// A call's context and settings, from before its start until its end.
//
// Threads: Abort from any; the rest as gRPC calls back.
class CallScope {
 public:
  explicit CallScope(const CallSettings& settings);
  ~CallScope();

  grpc::ClientContext* context() { return context_.get(); }

  // Ends the call early: Finish then gives `why`, whatever gRPC says.
  void Abort(const absl::Status& why);

  // The call's outcome: "`where`: `text`", of a deadline that passed with how long was waited.
  absl::Status Finish(const grpc::Status& status);

 private:
  const CallSettings settings_;
  const std::chrono::system_clock::time_point deadline_;
  // Also owned by the cancellation's handler, which may run when the call is already over.
  const std::shared_ptr<grpc::ClientContext> context_;
  int64_t cancel_id_ = -1;
  absl::Status aborted_;
};

// A server-streaming call. It owns itself and goes when gRPC is done with it.
template <typename Request, typename Chunk>
class StreamCall final : public grpc::ClientReadReactor<Chunk> {
 public:
  using Method = void (proto::Graph::StubInterface::async_interface::*)(
      grpc::ClientContext*, const Request*, grpc::ClientReadReactor<Chunk>*);
  using OnChunk = std::function<absl::Status(const Chunk&)>;

  // `on_chunk` is called for every chunk, one at a time, in order; an error from it ends the call,
  // which then fails with it. `done` comes last.
  static void Start(proto::Graph::Stub* stub, Method method, Request request,
                    const CallSettings& settings, OnChunk on_chunk, Done done) {
    auto* call = new StreamCall(std::move(request), settings, std::move(on_chunk), std::move(done));
    (stub->async()->*method)(call->scope_.context(), &call->request_, call);
    call->StartRead(&call->chunk_);
    call->StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;  // OnDone follows
    absl::Status status = on_chunk_(chunk_);
    if (!status.ok()) return scope_.Abort(status);
    this->StartRead(&chunk_);
  }

  void OnDone(const grpc::Status& status) override {
    const absl::Status outcome = scope_.Finish(status);
    const Done done = std::move(done_);
    delete this;
    done(outcome);
  }

 private:
  StreamCall(Request request, const CallSettings& settings, OnChunk on_chunk, Done done)
      : scope_(settings),
        request_(std::move(request)),
        on_chunk_(std::move(on_chunk)),
        done_(std::move(done)) {}

  CallScope scope_;
  const Request request_;
  Chunk chunk_;
  OnChunk on_chunk_;
  Done done_;
};

// A call with one reply, which `on_end` gets when the status is OK.
template <typename Request, typename Reply>
class UnaryCall {
 public:
  using Method = void (proto::Graph::StubInterface::async_interface::*)(
      grpc::ClientContext*, const Request*, Reply*, std::function<void(grpc::Status)>);
  using OnEnd = std::function<void(absl::Status, const Reply&)>;

  static void Start(proto::Graph::Stub* stub, Method method, Request request,
                    const CallSettings& settings, OnEnd on_end) {
    auto* call = new UnaryCall(std::move(request), settings);
    (stub->async()->*method)(call->scope_.context(), &call->request_, &call->reply_,
                             [call, on_end = std::move(on_end)](const grpc::Status& status) {
                               auto owned = std::unique_ptr<UnaryCall>(call);
                               const absl::Status outcome = owned->scope_.Finish(status);
                               const Reply reply = std::move(owned->reply_);
                               owned.reset();
                               on_end(outcome, reply);
                             });
  }

 private:
  UnaryCall(Request request, const CallSettings& settings)
      : scope_(settings), request_(std::move(request)) {}

  CallScope scope_;
  const Request request_;
  Reply reply_;
};

}  // namespace vicinity
