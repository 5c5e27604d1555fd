// One unary call to one server, over a connection of its own.
#pragma once

#include <grpc/grpc_security_constants.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/flags/servers_flags.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"

namespace vicinity::cli {

inline absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const ServerTarget& server) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (server.credentials != nullptr) {
    VICINITY_ASSIGN_OR_RETURN(credentials, server.credentials->For(server.address));
  }
  grpc::ChannelArguments arguments;
  // A proxy of the environment is for the web.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(server.address, credentials, arguments);
}

// Where several connections begin at once with the same credentials, gRPC 1.51 refuses those that
// come while it hands the certificates to the first. The next connection has them.
inline bool IsToDialAgain(const absl::Status& status) {
  return absl::IsUnavailable(status) &&
         absl::StrContains(status.message(), "Failed to create security handshaker");
}

// Waits no longer than `timeout`, and a little to find out why there is no connection. Unavailable
// or DeadlineExceeded if nobody answers, Unauthenticated if that is because of TLS, else what the
// server said. `certificate`, if not null, gets the one that the server showed, in PEM.
template <typename Service, typename Request, typename Reply>
absl::StatusOr<Reply> CallServer(const ServerTarget& server, absl::Duration timeout,
                                 grpc::Status (Service::Stub::*method)(grpc::ClientContext*,
                                                                       const Request&, Reply*),
                                 const Request& request, std::string* certificate = nullptr) {
  constexpr int kMostDials = 5;
  const auto deadline = absl::ToChronoTime(absl::Now() + timeout);
  Reply reply;
  absl::Status status;
  for (int dials = 0; dials == 0 || (dials < kMostDials && IsToDialAgain(status)); ++dials) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, OpenChannel(server));
    const auto stub = Service::NewStub(channel);
    grpc::ClientContext context;
    context.set_deadline(deadline);
    status = FromGrpc(((*stub).*method)(&context, request, &reply));
    if (!status.ok() || certificate == nullptr || context.auth_context() == nullptr) continue;
    for (const grpc::string_ref& shown :
         context.auth_context()->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME)) {
      certificate->assign(shown.data(), shown.size());
    }
  }
  if (status.ok()) return reply;
  if (server.credentials == nullptr) return status;
  const auto limit = std::min(absl::ToChronoMilliseconds(timeout), std::chrono::milliseconds(500));
  return server.credentials->Explain(server.address, status, limit);
}

}  // namespace vicinity::cli
