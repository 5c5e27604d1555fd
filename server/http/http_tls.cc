#include "server/http/http_tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLookEvery(1);
constexpr unsigned char kSessionContext[] = "vicinityd";

using Names = std::unique_ptr<GENERAL_NAMES, openssl::Deleter<&GENERAL_NAMES_free>>;

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressOf(const ASN1_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (ASN1_STRING_length(bytes) != 4 && ASN1_STRING_length(bytes) != 16) return "";
  inet_ntop(family, ASN1_STRING_get0_data(bytes), text, sizeof(text));
  return text;
}

// Of a certificate's subjectAltName, as gRPC reads them.
std::vector<std::string> NamesOf(const X509* certificate) {
  std::vector<std::string> texts;
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    switch (name->type) {
      case GEN_DNS:
        texts.push_back(TextOf(name->d.dNSName));
        break;
      case GEN_URI:
        texts.push_back(TextOf(name->d.uniformResourceIdentifier));
        break;
      case GEN_EMAIL:
        texts.push_back(TextOf(name->d.rfc822Name));
        break;
      case GEN_IPADD:
        texts.push_back(AddressOf(name->d.iPAddress));
        break;
      default:
        break;
    }
  }
  return texts;
}

std::string CommonNameOf(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return "";
  return TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

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

bool AskForCertificates(const TlsMaterial& material, SSL_CTX* context) {
  std::vector<openssl::Certificate> authorities;
  if (!openssl::ParseAll(material.ca, &authorities)) return false;
  for (const openssl::Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) return false;
    if (SSL_CTX_add_client_CA(context, authority.get()) != 1) return false;
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return true;
}

}  // namespace

HttpTls::HttpTls(std::function<TlsMaterial()> material, bool wants_certificates)
    : material_(std::move(material)), wants_certificates_(wants_certificates) {}

openssl::Context HttpTls::MakeContext() const {
  openssl::Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // No sessions are resumed: who is revoked meanwhile would come in by one.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_id_context(context.get(), kSessionContext, sizeof(kSessionContext) - 1);
  if (!UseIdentity(in_use_, context.get())) return nullptr;
  if (wants_certificates_ && !AskForCertificates(in_use_, context.get())) return nullptr;
  return context;
}

HttpTls::Session HttpTls::Accept(int fd) {
  const auto now = std::chrono::steady_clock::now();
  if (context_ == nullptr || now >= next_look_) {
    next_look_ = now + kLookEvery;
    TlsMaterial fresh = material_();
    if (context_ == nullptr || !(fresh == in_use_)) {
      in_use_ = std::move(fresh);
      context_ = MakeContext();
    }
  }
  ERR_clear_error();
  if (context_ == nullptr) return nullptr;
  Session session(SSL_new(context_.get()));
  if (session == nullptr || SSL_set_fd(session.get(), fd) != 1) return nullptr;
  SSL_set_accept_state(session.get());
  return session;
}

Caller HttpTls::CallerOf(const SSL& session) {
  Caller caller;
  const X509* const shown = SSL_get0_peer_certificate(&session);
  if (shown == nullptr || SSL_get_verify_result(&session) != X509_V_OK) return caller;
  caller.certified = true;
  caller.names = NamesOf(shown);
  caller.common_name = CommonNameOf(shown);
  return caller;
}

std::string HttpTls::CertificateOf(const SSL& session) {
  const X509* const shown = SSL_get0_peer_certificate(&session);
  return shown == nullptr ? "" : openssl::ToPem(*shown);
}

}  // namespace vicinity
