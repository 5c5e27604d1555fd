// How a server's ports are secured: what it was told, checked, as gRPC takes it.
#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_context.h>
#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/cluster_file.h"
#include "proto/admin.pb.h"
#include "server/access_control.h"
#include "server/server_security.h"

namespace vicinity {

// One server's security, for all its ports.
//
// Threads:  any, after Load; gRPC's threads check calls by it.
// Lifetime: the credentials it gave must be gone first, but for `access`, which they share.
class ServerTrust {
 public:
  // Checks all files. Errors name the file or the flag: those of CheckTlsFiles and
  // AccessControl::Load; InvalidArgument for client certificates without a CA or without TLS.
  static absl::StatusOr<std::unique_ptr<ServerTrust>> Load(const ServerSecurity& security,
                                                           std::shared_ptr<spdlog::logger> log);

  // Whether calls may be answered at `address`. InvalidArgument for one that other machines reach
  // without TLS, unless that was allowed; never allowed are tokens that others could read on the
  // way, and an admin port for which not both TLS and roles are set up.
  absl::Status CheckAddress(const HostPort& address, bool is_admin) const;

  // For one port of a gRPC server. Certificates are read again when their files change.
  std::shared_ptr<grpc::ServerCredentials> Credentials() const;

  // Who is proven to make a call that the credentials have let in, as AccessControl::IdentityOf
  // says; empty: nobody in particular.
  std::string IdentityOf(const grpc::ServerContextBase& call) const;

  // Reads the access file again and checks the certificates; AccessControl::Reload's errors and
  // CheckTlsFiles'.
  absl::Status Reload() const;

  // What is in force: grants, and when the certificate expires.
  absl::StatusOr<proto::ReloadCredentialsReply> Facts() const;
  // For people: "plaintext", "TLS, client certificates, 3 granted".
  std::string Describe() const;

 private:
  ServerTrust(const ServerSecurity& security, std::shared_ptr<spdlog::logger> log,
              std::shared_ptr<AccessControl> access);

  const ServerSecurity security_;
  const std::shared_ptr<spdlog::logger> log_;    // with whoever gave it
  const std::shared_ptr<AccessControl> access_;  // null: anybody may call; with the credentials
};

}  // namespace vicinity
