#include "server/handlers/health_handler.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/health/serving_states.h"

namespace vicinity {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

absl::StatusOr<HealthCheckResponse> CheckHealth(const ServerState& state,
                                                const HealthCheckRequest& request) {
  const std::optional<bool> is_serving =
      state.serving == nullptr ? std::nullopt : state.serving->Of(request.service());
  if (!is_serving.has_value()) {
    // Escaped and cut: the text is whatever the caller likes.
    return absl::NotFoundError(
        absl::StrCat("no service \"", absl::CHexEscape(request.service().substr(0, 100)), "\""));
  }
  HealthCheckResponse reply;
  reply.set_status(*is_serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING);
  return reply;
}

}  // namespace vicinity
