#include "server/http/tls_caller.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/security/openssl.h"

namespace vicinity {
namespace {

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

}  // namespace

Caller CallerOf(const SSL& session) {
  Caller caller;
  const X509* const shown = SSL_get0_peer_certificate(&session);
  if (shown == nullptr || SSL_get_verify_result(&session) != X509_V_OK) return caller;
  caller.certified = true;
  caller.names = NamesOf(shown);
  caller.common_name = CommonNameOf(shown);
  return caller;
}

}  // namespace vicinity
