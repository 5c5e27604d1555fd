// How a client's connections are secured: what it was told, checked, as gRPC takes it.
#pragma once

#include <grpcpp/security/credentials.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/types/credential_options.h"
#include "proto/cluster/cluster_file.h"
#include "proto/security/certificates.h"
#include "proto/security/channel_credentials.h"
#include "proto/security/tls_sessions.h"

namespace vicinity {

// Threads:  any.
// Lifetime: channels may outlive it.
class ClientCredentials {
 public:
  // `cluster`: the file that names the servers, or null. Reads and checks all files; errors name
  // file or variable and are those of ReadTlsFiles and TokenSource.
  static absl::StatusOr<std::unique_ptr<ClientCredentials>> Load(const CredentialOptions& options,
                                                                 const ClusterFile* cluster);

  // For channels to `address`, host:port. InvalidArgument for one beyond loopback if there is no
  // TLS and that is not allowed, or if a token would travel there for all to read.
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> For(const std::string& address) const;

  // For connections that are not gRPC's, wherever For allows them; null: plaintext.
  const std::shared_ptr<TlsSessions>& tls_sessions() const { return made_.tls; }

  // gRPC tells little of why no connection comes about: of a certificate, "Socket closed". For an
  // Unavailable or DeadlineExceeded `status` of a first call this connects once more, looks, and
  // if it is about TLS says so: Unauthenticated with `status`'s text and the reason. Else `status`.
  // Takes at most `limit`.
  absl::Status Explain(const std::string& address, const absl::Status& status,
                       std::chrono::milliseconds limit) const;

 private:
  ClientCredentials(TlsFiles tls, bool allow_plaintext, bool has_token, CallerCredentials made);

  const TlsFiles tls_;  // no ca: plaintext
  const bool allow_plaintext_;
  const bool has_token_;
  // One for all channels, for it watches the files with threads of its own; with the channels.
  const CallerCredentials made_;
};

}  // namespace vicinity
