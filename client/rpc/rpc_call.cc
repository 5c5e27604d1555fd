#include "client/rpc/rpc_call.h"

#include <grpcpp/client_context.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/status.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/rpc/call_ending.h"
#include "proto/common/grpc_status.h"
#include "proto/common/retry_delay.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {
namespace {

using grpc::internal::RpcMethod;

// A call under way: owns itself from Start until it tells that it is over. Its events come one
// after the other: started, one for every message and for that there are no more, finished.
class Call final : private CallQueue::Handler {
 public:
  Call(const CallRoute& route, const CallSettings& settings,
       std::function<absl::Status(grpc::ByteBuffer*)> on_message, Done done)
      : settings_(settings),
        begun_(std::chrono::steady_clock::now()),
        deadline_(std::chrono::system_clock::now() + settings.timeout),
        path_(absl::StrCat("/", settings.service, "/", settings.method)),
        channel_(route.channel),
        context_(std::make_shared<grpc::ClientContext>()),
        on_message_(std::move(on_message)),
        done_(std::move(done)) {
    context_->set_deadline(deadline_);
    context_->set_wait_for_ready(settings.wait_for_ready);
    // Of a sampled trace an attempt is a span by itself; of others nobody asks what is whose part.
    if (const TraceContext& trace = settings.context.trace; trace.is_valid()) {
      context_->AddMetadata(kTraceparent, Traceparent(trace.sampled ? trace : StartSpan(trace)));
    }
  }

  void Start(CallQueue* queue, const grpc::ByteBuffer& request) {
    reader_.reset(grpc::internal::ClientAsyncReaderFactory<grpc::ByteBuffer>::Create(
        channel_.get(), queue->queue(), RpcMethod(path_.c_str(), RpcMethod::SERVER_STREAMING),
        context_.get(), request, /*start=*/false, nullptr));
    // Heard of from here on, but nothing has been sent yet that could end the call meanwhile.
    if (settings_.context.cancel != nullptr) {
      cancel_id_ = settings_.context.cancel->Add([context = context_] { context->TryCancel(); });
    }
    reader_->StartCall(static_cast<Handler*>(this));
  }

 private:
  enum class Stage { kStarting, kReading, kFinishing };

  void OnEvent(bool ok) override {
    if (stage_ == Stage::kFinishing) return End();
    if (stage_ == Stage::kReading && ok) {
      ++num_messages_;
      aborted_ = on_message_(&message_);
      message_.Clear();
      if (!aborted_.ok()) context_->TryCancel();
    }
    if (ok && aborted_.ok()) {
      stage_ = Stage::kReading;
      reader_->Read(&message_, static_cast<Handler*>(this));
    } else {
      stage_ = Stage::kFinishing;
      reader_->Finish(&status_, static_cast<Handler*>(this));
    }
  }

  // A context keeps its channel alive, and whoever hears that a call is over may let go of
  // everything: so the call is gone, context and all, before it tells.
  void End() {
    if (settings_.context.cancel != nullptr) settings_.context.cancel->Remove(cancel_id_);
    if (settings_.time != nullptr) settings_.time->Add(std::chrono::steady_clock::now() - begun_);
    const absl::Status outcome = EndCall(settings_, Ending());
    const Done done = std::move(done_);
    delete this;
    done(outcome);
  }

  // Whether DEADLINE_EXCEEDED is what the server says. gRPC's own two have these texts: when the
  // time is up here, and when a stream ends without a status after that.
  bool ServerFoundItLate() const {
    return status_.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED &&
           status_.error_message() != "Deadline Exceeded" &&
           !absl::StartsWith(status_.error_message(), "Received RST_STREAM");
  }

  CallEnding Ending() const {
    CallEnding ending;
    ending.status = FromGrpc(status_);
    ending.aborted = aborted_;
    ending.num_messages = num_messages_;
    // Server and client watch the same deadline; a server that sees it first answers CANCELLED.
    const bool is_cancelled = status_.error_code() == grpc::StatusCode::CANCELLED;
    const bool is_over = status_.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    ending.is_late = is_over ? !ServerFoundItLate()
                             : is_cancelled && std::chrono::system_clock::now() >= deadline_;
    ending.is_ended = is_cancelled;
    const auto& trailers = context_->GetServerTrailingMetadata();
    ending.is_stopping = trailers.count(kStoppingTrailer) > 0;
    if (const auto delay = trailers.find(kRetryDelayTrailer); delay != trailers.end()) {
      ending.retry_delay.assign(delay->second.data(), delay->second.size());
    }
    return ending;
  }

  const CallSettings settings_;
  const std::chrono::steady_clock::time_point begun_;
  const std::chrono::system_clock::time_point deadline_;
  const std::string path_;
  const std::shared_ptr<grpc::Channel> channel_;
  // Also owned by the cancellation's handler, which may run when the call is already over.
  const std::shared_ptr<grpc::ClientContext> context_;
  const std::function<absl::Status(grpc::ByteBuffer*)> on_message_;
  Done done_;
  std::unique_ptr<grpc::ClientAsyncReader<grpc::ByteBuffer>> reader_;
  Stage stage_ = Stage::kStarting;
  int64_t cancel_id_ = -1;
  int64_t num_messages_ = 0;
  grpc::ByteBuffer message_;
  absl::Status aborted_;
  grpc::Status status_;
};

}  // namespace

void StartCall(const CallRoute& route, const grpc::ByteBuffer& request,
               const CallSettings& settings,
               std::function<absl::Status(grpc::ByteBuffer*)> on_message, Done done) {
  if (route.bulk != nullptr) {
    return route.bulk->Start(request, settings, std::move(on_message), std::move(done));
  }
  auto* call = new Call(route, settings, std::move(on_message), std::move(done));
  call->Start(route.queue, request);
}

absl::Status DamagedAnswerError(uint64_t sum, uint64_t sent) {
  return absl::AbortedError(absl::StrCat("the answer was damaged on the way: its checksum is ",
                                         absl::Hex(sum, absl::kZeroPad16), ", the server's ",
                                         absl::Hex(sent, absl::kZeroPad16)));
}

absl::Status UnreadableAnswerError() {
  return absl::AbortedError("the answer was damaged on the way: it cannot be read");
}

absl::Status WrongNumberOfAnswersError(int number) {
  return absl::InternalError(number == 0 ? "no answer to a question that has one"
                                         : "several answers to a question that has one");
}

}  // namespace vicinity
