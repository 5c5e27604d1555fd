#include "server/calls/grpc_call.h"

#include "absl/strings/str_cat.h"
#include "proto/common/grpc_status.h"
#include "proto/common/retry_delay.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

GrpcCall::GrpcCall(const ServiceContext& service, grpc::GenericCallbackServerContext* context)
    : service_(service), context_(context), call_(service, this) {
  call_.Begin();
}

void GrpcCall::OnDone() {
  call_.OnDone();
  delete this;
}

std::shared_ptr<ConnectionAccount> GrpcCall::account() const {
  return service_.guard->Find(context_->peer());
}

std::string GrpcCall::traceparent() const {
  const auto& metadata = context_->client_metadata();
  const auto found = metadata.find(kTraceparent);
  if (found == metadata.end() || metadata.count(kTraceparent) > 1) return "";
  return {found->second.data(), found->second.size()};
}

void GrpcCall::StartRead(grpc::ByteBuffer* request) {
  grpc::ServerGenericBidiReactor::StartRead(request);
}

void GrpcCall::StartWrite(const grpc::ByteBuffer* message) {
  grpc::ServerGenericBidiReactor::StartWrite(message);
}

void GrpcCall::StartWriteAndFinish(const grpc::ByteBuffer* message, const CallOutcome& outcome) {
  grpc::ServerGenericBidiReactor::StartWriteAndFinish(message, grpc::WriteOptions(),
                                                      StatusOf(outcome));
}

void GrpcCall::Finish(const CallOutcome& outcome) {
  grpc::ServerGenericBidiReactor::Finish(StatusOf(outcome));
}

grpc::Status GrpcCall::StatusOf(const CallOutcome& outcome) {
  if (outcome.stopping) context_->AddTrailingMetadata(kStoppingTrailer, "1");
  if (outcome.retry_after.count() > 0) {
    context_->AddTrailingMetadata(kRetryDelayTrailer, absl::StrCat(outcome.retry_after.count()));
  }
  return ToGrpc(outcome.status);
}

}  // namespace vicinity
