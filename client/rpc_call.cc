#include "client/rpc_call.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"

namespace vicinity {

CallScope::CallScope(const CallSettings& settings)
    : settings_(settings),
      deadline_(std::chrono::system_clock::now() + settings.timeout),
      context_(std::make_shared<grpc::ClientContext>()) {
  context_->set_deadline(deadline_);
  context_->set_wait_for_ready(settings.wait_for_ready);
  if (settings.cancel != nullptr) {
    cancel_id_ = settings.cancel->Add([context = context_] { context->TryCancel(); });
  }
}

CallScope::~CallScope() {
  if (settings_.cancel != nullptr) settings_.cancel->Remove(cancel_id_);
}

void CallScope::Abort(const absl::Status& why) {
  aborted_ = why;
  context_->TryCancel();
}

absl::Status CallScope::Finish(const grpc::Status& status) {
  if (!aborted_.ok()) return At(settings_.where, aborted_);
  if (status.ok()) return absl::OkStatus();
  if (settings_.cancel != nullptr && settings_.cancel->cancelled()) {
    return absl::CancelledError(absl::StrCat(settings_.where, ": cancelled"));
  }
  // Server and client watch the same deadline; a server that sees it first answers CANCELLED.
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
                    (status.error_code() == grpc::StatusCode::CANCELLED &&
                     std::chrono::system_clock::now() >= deadline_);
  if (!late && status.error_code() == grpc::StatusCode::CANCELLED) {
    // Nobody here did it: a server that stops cancels what is under way.
    return absl::UnavailableError(absl::StrCat(settings_.where, ": the server ended the call"));
  }
  if (!late) return At(settings_.where, FromGrpc(status));
  const double seconds = std::chrono::duration<double>(settings_.timeout).count();
  return absl::DeadlineExceededError(
      absl::StrFormat("%s: no answer in %.1f s", settings_.where, seconds));
}

}  // namespace vicinity
