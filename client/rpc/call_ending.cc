#include "client/rpc/call_ending.h"

#include <chrono>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/retry_delay.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::Status OutcomeOf(const CallSettings& settings, const CallEnding& ending) {
  if (!ending.aborted.ok()) return At(settings.where, ending.aborted);
  if (ending.status.ok()) return absl::OkStatus();
  if (settings.context.cancelled()) {
    return absl::CancelledError(absl::StrCat(settings.where, ": cancelled"));
  }
  if (ending.is_late) {
    const double seconds = std::chrono::duration<double>(settings.timeout).count();
    return absl::DeadlineExceededError(
        absl::StrFormat("%s: no answer in %.1f s", settings.where, seconds));
  }
  if (ending.is_ended) {
    // Nobody here did it: a server that stops cancels what is under way.
    return absl::UnavailableError(absl::StrCat(settings.where, ": the server ended the call"));
  }
  // What the server says, and when to come back if it says that, too.
  absl::Status status = At(settings.where, ending.status);
  if (!ending.retry_delay.empty()) {
    status.SetPayload(kRetryDelayTrailer, absl::Cord(ending.retry_delay));
  }
  return status;
}

}  // namespace

absl::Status EndCall(const CallSettings& settings, const CallEnding& ending) {
  if (settings.on_stopping && ending.is_stopping) settings.on_stopping();
  if (settings.on_unknown && absl::IsUnauthenticated(ending.status)) {
    settings.on_unknown();
    return absl::UnavailableError(absl::StrCat(
        settings.where,
        ": what its connection was opened with is not good any more: ", ending.status.message()));
  }
  const absl::Status outcome = OutcomeOf(settings, ending);
  if (settings.on_silence && absl::IsDeadlineExceeded(outcome) && ending.is_late &&
      ending.num_messages == 0) {
    settings.on_silence();
  }
  return outcome;
}

}  // namespace vicinity
