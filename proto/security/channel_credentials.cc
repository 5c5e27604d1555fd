#include "proto/security/channel_credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

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

absl::StatusOr<CallerCredentials> MakeTls(const TlsFiles& files, WatchedTls::Report report) {
  namespace tls = grpc::experimental;
  WatchedTls::Options watch;
  watch.files = files;
  watch.end = TlsEnd::kClient;
  watch.report = std::move(report);
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<WatchedTls> watched,
                            WatchedTls::Start(std::move(watch)));
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(watched->provider());
  options.set_certificate_verifier(watched->MakeVerifier());
  options.watch_root_certs();
  if (!files.certificate.empty()) options.watch_identity_key_cert_pairs();
  TlsSessions::Options sessions;
  sessions.end = TlsEnd::kClient;
  sessions.material = [watched] { return watched->material(); };
  sessions.is_revoked = [watched](const std::string& pem) { return watched->IsRevoked(pem); };
  sessions.only_newest = true;
  return CallerCredentials{tls::TlsCredentials(options),
                           std::make_shared<TlsSessions>(std::move(sessions))};
}

}  // namespace

absl::StatusOr<CallerCredentials> MakeChannelCredentials(const TlsFiles& files,
                                                         const std::shared_ptr<TokenSource>& token,
                                                         WatchedTls::Report report) {
  if (!files.ca.empty()) {
    VICINITY_ASSIGN_OR_RETURN(CallerCredentials made, MakeTls(files, std::move(report)));
    if (token == nullptr) return made;
    made.channel = grpc::CompositeChannelCredentials(
        made.channel, grpc::MetadataCredentialsFromPlugin(std::make_unique<ShowToken>(token)));
    return made;
  }
  // Without TLS nothing shows them, but what is wrong with them is told.
  VICINITY_RETURN_IF_ERROR(ReadTlsFiles(files, TlsEnd::kClient).status());
  if (token == nullptr) return CallerCredentials{grpc::InsecureChannelCredentials()};
  // Plaintext, but gRPC makes sure that the other end is on this machine.
  return CallerCredentials{grpc::CompositeChannelCredentials(
      grpc::experimental::LocalCredentials(LOCAL_TCP),
      grpc::experimental::MetadataCredentialsFromPlugin(std::make_unique<ShowToken>(token),
                                                        GRPC_SECURITY_NONE))};
}

}  // namespace vicinity
