#include "server/calls/health_watch.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/common/grpc_status.h"
#include "proto/health.pb.h"
#include "server/calls/read_request.h"
#include "server/connections/peer_address.h"
#include "server/handlers/chunk_source.h"

namespace vicinity {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthWatch::HealthWatch(const ServiceContext& service, grpc::GenericCallbackServerContext* context)
    : service_(service),
      context_(context),
      account_(service.guard->Find(context->peer())),
      passage_(
          service.gate, [] {}, [this] { context_->TryCancel(); }) {
  account_->CallBegins();
  StartRead(&request_);
}

std::string HealthWatch::ClientName() const {
  const absl::StatusOr<ServerTrust::Identity> identity =
      service_.trust->Identify(context_->method(), ServerTrust::ProofOf(*context_));
  const std::optional<PeerAddress> address = PeerOfText(context_->peer());
  return absl::StrCat(identity.ok() && !identity->client.empty() ? identity->client : "somebody",
                      " at ", address.has_value() ? address->machine : context_->peer());
}

void HealthWatch::OnReadDone(bool ok) {
  passage_.RequestIsThere();
  HealthCheckRequest request;
  const auto bytes = static_cast<int64_t>(ok ? request_.Length() : 0);
  if (!ok) return End(GoneError());
  const absl::Status read = ReadRequest("Watch", &request_, &request);
  if (!read.ok()) return End(read);
  had_request_ = true;
  account_->RequestArrives(bytes);
  const absl::Status status = service_.serving->Watch(request.service(), ClientName(), this);
  if (!status.ok()) return End(status);
  // Its caller may have gone before there was anything to end.
  if (context_->IsCancelled()) OnCancel();
}

void HealthWatch::OnState(std::optional<bool> is_serving) {
  MutexLock lock(&mu_);
  is_serving_ = is_serving;
  has_news_ = true;
  if (!is_writing_ && !end_.has_value()) Write();
}

void HealthWatch::Write() {
  HealthCheckResponse reply;
  reply.set_status(!is_serving_.has_value() ? HealthCheckResponse::SERVICE_UNKNOWN
                   : *is_serving_           ? HealthCheckResponse::SERVING
                                            : HealthCheckResponse::NOT_SERVING);
  const grpc::Slice slice(reply.SerializeAsString());
  message_ = grpc::ByteBuffer(&slice, 1);
  is_writing_ = true;
  has_news_ = false;
  StartWrite(&message_);
}

void HealthWatch::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  is_writing_ = false;
  has_answered_ = has_answered_ || ok;
  if (end_.has_value()) return FinishIfQuiet();
  if (ok && has_news_) Write();
}

void HealthWatch::OnEnd() { End(absl::UnavailableError("the server is stopping")); }

void HealthWatch::OnCancel() {
  service_.serving->Unwatch(this);
  if (had_request_) End(GoneError());
}

void HealthWatch::End(const absl::Status& status) {
  MutexLock lock(&mu_);
  if (end_.has_value()) return;
  end_ = status;
  FinishIfQuiet();
}

void HealthWatch::FinishIfQuiet() {
  if (is_writing_ || is_finished_) return;
  is_finished_ = true;
  Finish(ToGrpc(*end_));
}

void HealthWatch::OnDone() {
  service_.serving->Unwatch(this);
  bool has_answered = false;
  {
    MutexLock lock(&mu_);
    has_answered = has_answered_;
  }
  account_->CallEnds(has_answered ? CallEnd::kAnswered : CallEnd::kUseless, had_request_);
  delete this;
}

}  // namespace vicinity
