#include "client/rpc/credentials.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/rpc/tls_diagnosis.h"
#include "proto/common/status.h"
#include "proto/security/token_source.h"
#include "proto/security/watched_tls.h"

namespace vicinity {
namespace {

std::string FromEnvironment(const std::string& given, const char* variable) {
  if (!given.empty()) return given;
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

absl::StatusOr<std::shared_ptr<TokenSource>> FindToken(const CredentialOptions& options) {
  const std::string path = FromEnvironment(options.token_file, "VICINITY_TOKEN_FILE");
  if (!path.empty()) {
    VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<TokenSource> source, TokenSource::FromFile(path));
    return std::shared_ptr<TokenSource>(std::move(source));
  }
  const std::string text = FromEnvironment("", "VICINITY_TOKEN");
  if (text.empty()) return std::shared_ptr<TokenSource>();
  absl::StatusOr<std::unique_ptr<TokenSource>> source = TokenSource::FromText(text);
  if (!source.ok()) return At("the variable VICINITY_TOKEN", source.status());
  return std::shared_ptr<TokenSource>(*std::move(source));
}

// A library has no log of its own, and these lines nobody can be handed: a trainer whose
// certificate ends goes on for now.
void Tell(WatchedTls::Severity severity, const std::string& text) {
  if (severity != WatchedTls::Severity::kInfo) std::cerr << "vicinity: " << text << std::endl;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClientCredentials>> ClientCredentials::Load(
    const CredentialOptions& options, const ClusterFile* cluster) {
  TlsFiles tls;
  tls.ca = FromEnvironment(options.ca, "VICINITY_TLS_CA");
  if (tls.ca.empty() && cluster != nullptr) tls.ca = cluster->tls.ca;
  tls.certificate = FromEnvironment(options.certificate, "VICINITY_TLS_CERTIFICATE");
  // A certificate that was given does not have the key of another.
  tls.key =
      options.certificate.empty() ? FromEnvironment(options.key, "VICINITY_TLS_KEY") : options.key;
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<TokenSource> token, FindToken(options));
  VICINITY_ASSIGN_OR_RETURN(CallerCredentials made, MakeChannelCredentials(tls, token, &Tell));
  const bool allow_plaintext = options.allow_plaintext || (cluster != nullptr && cluster->open);
  return std::unique_ptr<ClientCredentials>(
      new ClientCredentials(std::move(tls), allow_plaintext, token != nullptr, std::move(made)));
}

ClientCredentials::ClientCredentials(TlsFiles tls, bool allow_plaintext, bool has_token,
                                     CallerCredentials made)
    : tls_(std::move(tls)),
      allow_plaintext_(allow_plaintext),
      has_token_(has_token),
      made_(std::move(made)) {}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials::For(
    const std::string& address) const {
  if (!tls_.ca.empty()) return made_.channel;
  VICINITY_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  if (has_token_ && !parsed.loopback()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a token would travel unencrypted to ", address,
        ": name the CA of its certificate (`tls` in the cluster file, --ca or VICINITY_TLS_CA)"));
  }
  if (!parsed.loopback() && !allow_plaintext_) {
    // Else whoever mistyped the name would be sent to look for certificates.
    if (IsUnknownHost(parsed.host)) {
      return absl::InvalidArgumentError(
          absl::StrCat(address, ": this machine knows no host of that name"));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        address,
        " is on another machine and there is no TLS: name the CA of its certificate "
        "(`tls` in the cluster file, --ca or VICINITY_TLS_CA), or allow plaintext where the "
        "network is trusted (`open: true` there, or --allow-plaintext)"));
  }
  return made_.channel;
}

absl::Status ClientCredentials::Explain(const std::string& address, const absl::Status& status,
                                        std::chrono::milliseconds limit) const {
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
  const absl::Status reason = DiagnoseTls(address, tls_, limit);
  if (!absl::IsUnauthenticated(reason)) return status;
  return absl::UnauthenticatedError(absl::StrCat(status.message(), ": ", reason.message()));
}

}  // namespace vicinity
