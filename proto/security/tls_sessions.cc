#include "proto/security/tls_sessions.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLookEvery(1);
constexpr unsigned char kSessionContext[] = "vicinity";
constexpr char kCheapestFirst[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

bool UseIdentity(const TlsMaterial& material, SSL_CTX* context) {
  std::vector<openssl::Certificate> chain;
  const openssl::Key key = openssl::ParseKey(material.key);
  if (key == nullptr || !openssl::ParseAll(material.certificate, &chain) || chain.empty()) {
    return false;
  }
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) return false;
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) return false;
  }
  return SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

bool WantCertificates(const TlsMaterial& material, TlsEnd end, SSL_CTX* context) {
  std::vector<openssl::Certificate> authorities;
  if (!openssl::ParseAll(material.ca, &authorities)) return false;
  for (const openssl::Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) return false;
    if (end == TlsEnd::kServer && SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return false;
    }
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return true;
}

// An address is compared with the certificate's addresses, a name with its names.
bool WantName(const std::string& host, SSL* session) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1) return true;
  ERR_clear_error();
  return SSL_set1_host(session, host.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

}  // namespace

TlsSessions::TlsSessions(Options options) : options_(std::move(options)) {}

openssl::Context TlsSessions::MakeContext(const TlsMaterial& material) const {
  const bool is_server = options_.end == TlsEnd::kServer;
  openssl::Context context(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method()));
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context.get(),
                                options_.only_newest ? TLS1_3_VERSION : TLS1_2_VERSION);
  if (options_.only_newest && SSL_CTX_set_ciphersuites(context.get(), kCheapestFirst) != 1) {
    return nullptr;
  }
  // No sessions are resumed: who is revoked meanwhile would come in by one.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_id_context(context.get(), kSessionContext, sizeof(kSessionContext) - 1);
  const bool has_identity = !material.certificate.empty();
  if ((is_server || has_identity) && !UseIdentity(material, context.get())) return nullptr;
  const bool wants = !is_server || options_.wants_certificates;
  if (wants && !WantCertificates(material, options_.end, context.get())) return nullptr;
  return context;
}

bool TlsSessions::Refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (context_ != nullptr && now < next_look_) return true;
  next_look_ = now + kLookEvery;
  TlsMaterial fresh = options_.material();
  if (context_ == nullptr || !(fresh == in_use_)) {
    in_use_ = std::move(fresh);
    context_ = MakeContext(in_use_);
  }
  return context_ != nullptr;
}

TlsSessions::Session TlsSessions::New(const std::string& host) {
  Session session;
  {
    MutexLock lock(&mu_);
    if (Refresh()) session.reset(SSL_new(context_.get()));
  }
  ERR_clear_error();
  if (session == nullptr) return nullptr;
  if (options_.end == TlsEnd::kServer) {
    SSL_set_accept_state(session.get());
  } else {
    if (!WantName(host, session.get())) return nullptr;
    SSL_set_connect_state(session.get());
  }
  return session;
}

absl::Status TlsSessions::Check(const SSL& session) const {
  if (options_.is_revoked == nullptr || !options_.is_revoked(CertificateOf(session))) {
    return absl::OkStatus();
  }
  return absl::UnauthenticatedError("the other end's certificate has been revoked");
}

std::string TlsSessions::CertificateOf(const SSL& session) {
  const X509* const shown = SSL_get0_peer_certificate(&session);
  return shown == nullptr ? "" : openssl::ToPem(*shown);
}

std::string TlsSessions::WhyFailed(const SSL& session) {
  const long verdict = SSL_get_verify_result(&session);
  if (verdict != X509_V_OK) {
    ERR_clear_error();
    return absl::StrCat("the other end's certificate is not to be believed (",
                        X509_verify_cert_error_string(verdict), ")");
  }
  return openssl::LastError();
}

}  // namespace vicinity
