#include "server/credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "proto/security/certificates.h"

namespace vicinity {
namespace {

constexpr char kAuthorization[] = "authorization";

std::string ToString(const grpc::string_ref& text) { return {text.data(), text.size()}; }

// Of any of gRPC's maps of metadata.
template <typename Metadata>
Caller CallerOf(const Metadata& metadata, const grpc::AuthContext& context) {
  Caller caller;
  const auto shown = metadata.equal_range(kAuthorization);
  for (auto at = shown.first; at != shown.second; ++at) {
    caller.authorization.push_back(ToString(at->second));
  }
  // A local connection also counts as authenticated to gRPC, by being local.
  const auto types = context.FindPropertyValues(GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  caller.certified = context.IsPeerAuthenticated() && !types.empty() &&
                     types.front() == GRPC_TLS_TRANSPORT_SECURITY_TYPE;
  if (!caller.certified) return caller;
  for (const grpc::string_ref& name : context.FindPropertyValues(GRPC_X509_SAN_PROPERTY_NAME)) {
    caller.names.push_back(ToString(name));
  }
  for (const grpc::string_ref& name : context.FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME)) {
    caller.common_name = ToString(name);
  }
  return caller;
}

// gRPC asks it about every call of every service, known or not, before anything else happens.
class CallChecker final : public grpc::AuthMetadataProcessor {
 public:
  CallChecker(std::shared_ptr<const AccessControl> access, std::shared_ptr<spdlog::logger> log)
      : access_(std::move(access)), log_(std::move(log)) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context, OutputMetadata*,
                       OutputMetadata*) override {
    const auto path = metadata.find(":path");
    const std::string method = path == metadata.end() ? "" : ToString(path->second);
    // Nothing is consumed: by the same metadata IdentityOf tells later whose limits a call counts
    // against.
    const absl::StatusOr<std::string> who = access_->Check(method, CallerOf(metadata, *context));
    if (!who.ok()) {
      // Escaped and cut: the text is whatever the caller likes.
      log_->debug("refused {}: {}", absl::CHexEscape(method.substr(0, 100)),
                  who.status().ToString());
    } else if (RoleNeeded(method) == Role::kAdmin) {
      log_->info("{} by {}", absl::CHexEscape(method.substr(0, 100)), *who);
    }
    return ToGrpc(who.status());
  }

 private:
  const std::shared_ptr<const AccessControl> access_;
  const std::shared_ptr<spdlog::logger> log_;
};

std::shared_ptr<grpc::ServerCredentials> TlsFromFiles(const ServerSecurity& security) {
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions options(std::make_shared<tls::FileWatcherCertificateProvider>(
      security.tls.key, security.tls.certificate, security.tls.ca,
      static_cast<unsigned>(security.reload_seconds)));
  options.watch_identity_key_cert_pairs();
  if (security.require_client_certificate) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls::TlsServerCredentials(options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerTrust>> ServerTrust::Load(
    const ServerSecurity& security, std::shared_ptr<spdlog::logger> log) {
  if (security.require_client_certificate && !security.encrypted()) {
    return absl::InvalidArgumentError(
        "client certificates are required, but there is no TLS: name certificate, key and ca");
  }
  if (security.require_client_certificate && security.tls.ca.empty()) {
    return absl::InvalidArgumentError(
        "client certificates are required, but no ca says whose are good");
  }
  VICINITY_RETURN_IF_ERROR(CheckTlsFiles(security.tls));
  std::shared_ptr<AccessControl> access;
  if (!security.access_file.empty() || security.require_client_certificate) {
    VICINITY_ASSIGN_OR_RETURN(access, AccessControl::Load(security.access_file));
  }
  return std::unique_ptr<ServerTrust>(new ServerTrust(security, std::move(log), std::move(access)));
}

ServerTrust::ServerTrust(const ServerSecurity& security, std::shared_ptr<spdlog::logger> log,
                         std::shared_ptr<AccessControl> access)
    : security_(security), log_(std::move(log)), access_(std::move(access)) {}

absl::Status ServerTrust::CheckAddress(const HostPort& address, bool is_admin) const {
  const bool has_roles = !security_.access_file.empty();
  if (is_admin && !address.loopback() && !(security_.encrypted() && has_roles)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the admin address ", address.ToString(),
        " can be reached from other machines: it needs TLS and an access file, or 127.0.0.1"));
  }
  if (security_.encrypted()) return absl::OkStatus();
  if (has_roles && address.host != "127.0.0.1" && address.host != "::1" &&
      address.host != "localhost") {
    return absl::InvalidArgumentError(absl::StrCat("tokens would travel unencrypted to ",
                                                   address.ToString(),
                                                   ": an access file needs TLS, or 127.0.0.1"));
  }
  if (!address.loopback() && !security_.allow_plaintext) {
    return absl::InvalidArgumentError(absl::StrCat(
        address.ToString(),
        " can be reached from other machines, and calls are neither encrypted nor authenticated: "
        "set up TLS, listen on 127.0.0.1, or allow it with --allow-plaintext where the network is "
        "trusted"));
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::ServerCredentials> ServerTrust::Credentials() const {
  std::shared_ptr<grpc::ServerCredentials> credentials;
  if (security_.encrypted()) {
    credentials = TlsFromFiles(security_);
  } else if (access_ != nullptr) {
    // Plaintext, but gRPC makes sure that the other end is on this machine.
    credentials = grpc::experimental::LocalServerCredentials(LOCAL_TCP);
  } else {
    return grpc::InsecureServerCredentials();
  }
  if (access_ != nullptr) {
    credentials->SetAuthMetadataProcessor(std::make_shared<CallChecker>(access_, log_));
  }
  return credentials;
}

std::string ServerTrust::IdentityOf(const grpc::ServerContextBase& call) const {
  if (access_ == nullptr) return "";
  const std::shared_ptr<const grpc::AuthContext> context = call.auth_context();
  return context == nullptr ? "" : access_->IdentityOf(CallerOf(call.client_metadata(), *context));
}

absl::Status ServerTrust::Reload() const {
  if (access_ != nullptr) VICINITY_RETURN_IF_ERROR(access_->Reload());
  return CheckTlsFiles(security_.tls);
}

absl::StatusOr<proto::ReloadCredentialsReply> ServerTrust::Facts() const {
  proto::ReloadCredentialsReply facts;
  if (access_ != nullptr) facts.set_grants(static_cast<uint32_t>(access_->num_grants()));
  if (security_.encrypted()) {
    VICINITY_ASSIGN_OR_RETURN(const absl::Time expires, ExpiryOf(security_.tls.certificate));
    facts.set_certificate_expires(absl::ToUnixSeconds(expires));
  }
  return facts;
}

std::string ServerTrust::Describe() const {
  std::vector<std::string> parts = {security_.encrypted() ? "TLS" : "plaintext"};
  if (security_.require_client_certificate) parts.push_back("client certificates");
  if (!security_.access_file.empty())
    parts.push_back(absl::StrCat(access_->num_grants(), " granted"));
  return absl::StrJoin(parts, ", ");
}

}  // namespace vicinity
