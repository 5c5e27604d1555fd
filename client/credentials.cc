#include "client/credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tls_diagnosis.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr unsigned kReloadSeconds = 10;

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

// Adds the token to every call of a channel.
class ShowToken final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit ShowToken(std::shared_ptr<TokenSource> token) : token_(std::move(token)) {}

  bool IsBlocking() const override { return false; }
  grpc::Status GetMetadata(grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
                           std::multimap<std::string, std::string>* metadata) override {
    metadata->emplace("authorization", absl::StrCat("Bearer ", token_->Get()));
    return grpc::Status::OK;
  }

 private:
  const std::shared_ptr<TokenSource> token_;
};

std::shared_ptr<grpc::ChannelCredentials> TlsFromFiles(const TlsFiles& files) {
  namespace tls = grpc::experimental;
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<tls::FileWatcherCertificateProvider>(
      files.key, files.certificate, files.ca, kReloadSeconds));
  options.watch_root_certs();
  if (!files.certificate.empty()) options.watch_identity_key_cert_pairs();
  return tls::TlsCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(const TlsFiles& files,
                                                          std::shared_ptr<TokenSource> token) {
  if (!files.ca.empty()) {
    std::shared_ptr<grpc::ChannelCredentials> channel = TlsFromFiles(files);
    if (token == nullptr) return channel;
    return grpc::CompositeChannelCredentials(
        channel, grpc::MetadataCredentialsFromPlugin(std::make_unique<ShowToken>(token)));
  }
  if (token == nullptr) return grpc::InsecureChannelCredentials();
  // Plaintext, but gRPC makes sure that the other end is on this machine.
  return grpc::CompositeChannelCredentials(
      grpc::experimental::LocalCredentials(LOCAL_TCP),
      grpc::experimental::MetadataCredentialsFromPlugin(std::make_unique<ShowToken>(token),
                                                        GRPC_SECURITY_NONE));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClientCredentials>> ClientCredentials::Load(
    const CredentialOptions& options, const ClusterFile* cluster) {
  TlsFiles tls;
  tls.ca = FromEnvironment(options.ca, "VICINITY_TLS_CA");
  if (tls.ca.empty() && cluster != nullptr) tls.ca = cluster->tls.ca;
  tls.certificate = FromEnvironment(options.certificate, "VICINITY_TLS_CERTIFICATE");
  tls.key = FromEnvironment(options.key, "VICINITY_TLS_KEY");
  VICINITY_RETURN_IF_ERROR(CheckTlsFiles(tls));
  VICINITY_ASSIGN_OR_RETURN(std::shared_ptr<TokenSource> token, FindToken(options));
  const bool allow_plaintext =
      options.allow_plaintext || (cluster != nullptr && cluster->allow_plaintext);
  return std::unique_ptr<ClientCredentials>(
      new ClientCredentials(std::move(tls), allow_plaintext, std::move(token)));
}

ClientCredentials::ClientCredentials(TlsFiles tls, bool allow_plaintext,
                                     std::shared_ptr<TokenSource> token)
    : tls_(std::move(tls)),
      allow_plaintext_(allow_plaintext),
      has_token_(token != nullptr),
      credentials_(MakeCredentials(tls_, std::move(token))) {}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials::For(
    const std::string& address) const {
  if (!tls_.ca.empty()) return credentials_;
  VICINITY_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  if (has_token_ && !parsed.loopback()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a token would travel unencrypted to ", address,
        ": name the CA of its certificate (`tls` in the cluster file, --ca or VICINITY_TLS_CA)"));
  }
  if (!parsed.loopback() && !allow_plaintext_) {
    return absl::InvalidArgumentError(absl::StrCat(
        address,
        " is on another machine and there is no TLS: name the CA of its certificate "
        "(`tls` in the cluster file, --ca or VICINITY_TLS_CA), or allow plaintext where the "
        "network is trusted (`allow_plaintext: true` there, or --allow-plaintext)"));
  }
  return credentials_;
}

absl::Status ClientCredentials::Explain(const std::string& address, const absl::Status& status,
                                        std::chrono::milliseconds limit) const {
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
  const absl::Status reason = DiagnoseTls(address, tls_, limit);
  if (!absl::IsUnauthenticated(reason)) return status;
  return absl::UnauthenticatedError(absl::StrCat(status.message(), ": ", reason.message()));
}

}  // namespace vicinity
