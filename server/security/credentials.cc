#include "server/security/credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/common/status.h"
#include "proto/security/certificates.h"
#include "proto/security/watched_tls.h"

namespace vicinity {
namespace {

constexpr char kAuthorization[] = "authorization";

std::string ToString(const grpc::string_ref& text) { return {text.data(), text.size()}; }

Caller CallerOf(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
                const grpc::AuthContext& context) {
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

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const ServerSecurity& security,
                                                        WatchedTls* watched) {
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions options(watched->provider());
  options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(watched->MakeVerifier());
  if (security.certifies()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls::TlsServerCredentials(options);
}

constexpr char kHowToCertify[] =
    "  vicinity certificate ca\n"
    "  vicinity certificate server HOST      (what clients dial)\n"
    "  vicinity certificate client trainer   (for the clients' --certificate)\n"
    "  vicinityd ... --tls-certificate certificates/HOST.pem --tls-ca certificates/ca.pem \\\n"
    "      --tls-revoked certificates/revoked.pem\n"
    "Where every host of the network is trusted, --open (cluster file: open: true) serves whoever "
    "comes.";

absl::Status CheckFlags(const ServerSecurity& security) {
  if (!security.encrypted() &&
      !(security.tls.ca.empty() && security.tls.key.empty() && security.tls.revoked.empty())) {
    return absl::InvalidArgumentError(
        "a key, a CA or a list of the revoked is named, but no certificate of the server's: "
        "--tls-certificate");
  }
  if (security.certifies() && security.tls.ca.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is TLS, but no CA (--tls-ca) that says whose client certificates are "
                     "good:\n",
                     kHowToCertify));
  }
  return absl::OkStatus();
}

std::shared_ptr<WatchedTls> NoTls() { return nullptr; }

absl::StatusOr<std::shared_ptr<WatchedTls>> WatchFiles(const ServerSecurity& security,
                                                       std::shared_ptr<spdlog::logger> log) {
  if (!security.encrypted()) return NoTls();
  WatchedTls::Options options;
  options.files = security.tls;
  options.end = TlsEnd::kServer;
  options.look_every = absl::Seconds(security.reload_seconds);
  options.report = [log = std::move(log)](WatchedTls::Severity severity, const std::string& text) {
    const bool error = severity == WatchedTls::Severity::kError;
    const bool warning = severity == WatchedTls::Severity::kWarning;
    log->log(error     ? spdlog::level::err
             : warning ? spdlog::level::warn
                       : spdlog::level::info,
             "{}", text);
  };
  return WatchedTls::Start(std::move(options));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerTrust>> ServerTrust::Load(
    const ServerSecurity& security, std::shared_ptr<spdlog::logger> log) {
  VICINITY_RETURN_IF_ERROR(CheckFlags(security));
  std::shared_ptr<AccessControl> access;
  if (!security.access_file.empty() || security.certifies()) {
    VICINITY_ASSIGN_OR_RETURN(access, AccessControl::Load(security.access_file));
  }
  VICINITY_ASSIGN_OR_RETURN(std::shared_ptr<WatchedTls> tls, WatchFiles(security, std::move(log)));
  return std::unique_ptr<ServerTrust>(new ServerTrust(security, std::move(access), std::move(tls)));
}

ServerTrust::ServerTrust(const ServerSecurity& security, std::shared_ptr<AccessControl> access,
                         std::shared_ptr<WatchedTls> tls)
    : security_(security), access_(std::move(access)), tls_(std::move(tls)) {}

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
  if (!address.loopback() && !security_.open) {
    return absl::InvalidArgumentError(
        absl::StrCat(address.ToString(),
                     " can be reached from other machines: listen on 127.0.0.1, or let in only "
                     "clients with certificates:\n",
                     kHowToCertify));
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::ServerCredentials> ServerTrust::Credentials() const {
  if (security_.encrypted()) return TlsCredentials(security_, tls_.get());
  // Plaintext, but gRPC makes sure that the other end is on this machine.
  if (access_ != nullptr) return grpc::experimental::LocalServerCredentials(LOCAL_TCP);
  return grpc::InsecureServerCredentials();
}

ServerTrust::Proof ServerTrust::ProofOf(const grpc::ServerContextBase& call) {
  Proof proof;
  const std::shared_ptr<const grpc::AuthContext> context = call.auth_context();
  if (context == nullptr) return proof;
  proof.secured = true;
  proof.caller = CallerOf(call.client_metadata(), *context);
  const auto shown = context->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!shown.empty()) proof.certificate = ToString(shown.front());
  return proof;
}

absl::StatusOr<ServerTrust::Identity> ServerTrust::Identify(const std::string& method,
                                                            const Proof& proof) const {
  if (access_ == nullptr) return Identity{"", "anybody"};
  if (!proof.secured) return absl::UnauthenticatedError("the connection is not secured");
  // A connection that was made before its certificate was revoked is still there: every call asks.
  if (tls_ != nullptr && tls_->HasRevoked() && IsRevoked(proof.certificate)) {
    return absl::UnauthenticatedError("the client certificate is revoked");
  }
  Identity identity;
  VICINITY_ASSIGN_OR_RETURN(identity.shown, access_->Check(method, proof.caller));
  identity.client = access_->IdentityOf(proof.caller);
  return identity;
}

absl::Status ServerTrust::CheckReader(const Caller& caller) const {
  constexpr absl::string_view kStatus = "/vicinity.proto.Graph/Status";
  return access_ == nullptr ? absl::OkStatus() : access_->Check(kStatus, caller).status();
}

bool ServerTrust::IsRevoked(const std::string& certificate_pem) const {
  return tls_ != nullptr && !certificate_pem.empty() && tls_->IsRevoked(certificate_pem);
}

TlsMaterial ServerTrust::Material() const {
  return tls_ == nullptr ? TlsMaterial() : tls_->material();
}

absl::Status ServerTrust::Reload() const {
  if (access_ != nullptr) VICINITY_RETURN_IF_ERROR(access_->Reload());
  return tls_ == nullptr ? absl::OkStatus() : tls_->Look();
}

proto::ReloadCredentialsReply ServerTrust::Facts() const {
  proto::ReloadCredentialsReply facts;
  if (access_ != nullptr) facts.set_grants(static_cast<uint32_t>(access_->num_grants()));
  if (tls_ != nullptr) facts.set_certificate_expires(absl::ToUnixSeconds(Tls().expires));
  return facts;
}

TlsState ServerTrust::Tls() const { return tls_ == nullptr ? TlsState() : tls_->state(); }

std::string ServerTrust::Describe() const {
  std::vector<std::string> parts = {security_.encrypted() ? "TLS" : "plaintext"};
  if (security_.certifies()) parts.push_back("client certificates");
  if (security_.open) parts.push_back("open");
  if (!security_.access_file.empty())
    parts.push_back(absl::StrCat(access_->num_grants(), " granted"));
  return absl::StrJoin(parts, ", ");
}

}  // namespace vicinity
