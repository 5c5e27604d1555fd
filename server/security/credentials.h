// How a server's ports are secured: what it was told, checked, as gRPC takes it.
#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_context.h>
#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/admin.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/security/certificates.h"
#include "proto/security/watched_tls.h"
#include "server/security/access_control.h"
#include "server/security/server_security.h"

namespace vicinity {

// One server's security, for all its ports: who is let in, and what for.
//
//   where            without --open                     with --open
//   loopback         plaintext; or TLS with client      plaintext, or TLS
//                    certificates
//   beyond           TLS with client certificates       plaintext, or TLS
//
// Roles come from the access file: by token, or by the name in a client certificate.
//
// Threads:  any, after Load; gRPC's threads check calls by it.
// Lifetime: the credentials it gave share what they need of it.
class ServerTrust {
 public:
  // Checks all files. Errors name the file or the flag: those of ReadTlsFiles and
  // AccessControl::Load; InvalidArgument for TLS that is not open and has no CA of clients, and for
  // a CA or a list of the revoked without TLS.
  static absl::StatusOr<std::unique_ptr<ServerTrust>> Load(const ServerSecurity& security,
                                                           std::shared_ptr<spdlog::logger> log);

  // Whether calls may be answered at `address`. InvalidArgument, with the commands to run, for one
  // that other machines reach without client certificates, unless it is open; never allowed are
  // tokens that others could read on the way, and an admin port for which not both TLS and roles
  // are set up.
  absl::Status CheckAddress(const HostPort& address, bool is_admin) const;

  // For one port of a gRPC server. Certificates are read again when their files change. They let
  // connections in; whoever serves the port has Identify let in calls.
  std::shared_ptr<grpc::ServerCredentials> Credentials() const;

  // What a caller has shown, to be looked at call by call: what it may is asked anew each time.
  struct Proof {
    bool secured = false;  // its connection is, by TLS or by being local
    Caller caller;
    std::string certificate;  // PEM; empty: none
  };
  static Proof ProofOf(const grpc::ServerContextBase& call);

  struct Identity {
    std::string client;  // whom the call counts for, as AccessControl::IdentityOf says
    std::string shown;   // as AccessControl::Check says, for the log; "anybody" without one
  };
  // Who is proven to make a call of `method`. Errors are AccessControl::Check's.
  absl::StatusOr<Identity> Identify(const std::string& method, const Proof& proof) const;

  // The same for who comes to the HTTP port, whose connection has shown `caller`: whether that may
  // see what the server counts, which is what the RPC Status asks for.
  absl::Status CheckReader(const Caller& caller) const;
  // Whether a client certificate, in PEM, has been taken back.
  bool IsRevoked(const std::string& certificate_pem) const;
  // For ports that are not gRPC's: whether they have TLS, whether clients show certificates, and
  // what is in force, with the key.
  bool encrypted() const { return security_.encrypted(); }
  bool certifies() const { return security_.certifies(); }
  TlsMaterial Material() const;

  // Reads the access file again and the files of TLS; AccessControl::Reload's errors and
  // ReadTlsFiles'. What has a fault stays as it was.
  absl::Status Reload() const;

  // What is in force: grants, and when the certificate expires.
  proto::ReloadCredentialsReply Facts() const;
  // The same of the certificate alone, with the fault of files that are not taken.
  TlsState Tls() const;
  // For people: "plaintext", "TLS, client certificates, 3 granted", "plaintext, open".
  std::string Describe() const;

 private:
  ServerTrust(const ServerSecurity& security, std::shared_ptr<AccessControl> access,
              std::shared_ptr<WatchedTls> tls);

  const ServerSecurity security_;
  const std::shared_ptr<AccessControl> access_;  // null: anybody may call; with the credentials
  const std::shared_ptr<WatchedTls> tls_;        // null: plaintext; with the credentials
};

}  // namespace vicinity
