#include "proto/security/certificates.h"

#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "proto/security/guarded_file.h"
#include "proto/security/openssl.h"
#include "proto/security/revocations.h"

namespace vicinity {
namespace {

using openssl::Certificate;
using Certificates = std::vector<Certificate>;

constexpr int64_t kMostBytes = int64_t{1} << 20;

absl::Status Fault(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::StatusOr<Certificates> ParseCertificates(const std::string& path, const std::string& pem) {
  Certificates certificates;
  const bool whole = openssl::ParseAll(pem, &certificates);
  if (certificates.empty()) return Fault(path, "holds no certificate in PEM");
  if (!whole) {
    return Fault(path, absl::StrCat("is damaged after certificate ", certificates.size()));
  }
  return certificates;
}

std::string AllToPem(const Certificates& certificates) {
  std::string pem;
  for (const Certificate& certificate : certificates) {
    absl::StrAppend(&pem, openssl::ToPem(*certificate));
  }
  return pem;
}

absl::Time Begin(const X509& certificate) {
  return openssl::ToTime(X509_get0_notBefore(&certificate));
}
absl::Time End(const X509& certificate) {
  return openssl::ToTime(X509_get0_notAfter(&certificate));
}

absl::Status CheckDates(const std::string& path, const Certificates& chain) {
  const absl::Time now = absl::Now();
  for (const Certificate& certificate : chain) {
    if (now > End(*certificate)) {
      return Fault(path, absl::StrCat("the certificate expired at ", DateText(End(*certificate))));
    }
    if (now < Begin(*certificate)) {
      return Fault(path, absl::StrCat("the certificate is not valid before ",
                                      DateText(Begin(*certificate))));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckChain(const std::string& path, const Certificates& chain, TlsEnd end) {
  for (size_t i = 1; i < chain.size(); ++i) {
    if (X509_check_issued(chain[i].get(), chain[i - 1].get()) == X509_V_OK) continue;
    return Fault(path, absl::StrCat("certificate ", i + 1, " did not sign certificate ", i,
                                    ": our own goes first, then who signed it, and so on"));
  }
  const bool server = end == TlsEnd::kServer;
  if (X509_check_purpose(chain.front().get(),
                         server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT, 0) != 1) {
    return Fault(path, server ? "is no server's certificate (`vicinity certificate server`)"
                              : "is no client's certificate (`vicinity certificate client`)");
  }
  return absl::OkStatus();
}

// Does with a pair what gRPC will do with it, so that whatever OpenSSL may have against one, such
// as a key too short for its security level, comes out here.
absl::Status TryPair(const TlsFiles& files, const Certificates& chain, EVP_PKEY* key) {
  const std::string& key_file = files.key.empty() ? files.certificate : files.key;
  if (X509_check_private_key(chain.front().get(), key) != 1) {
    openssl::LastError();
    return Fault(key_file,
                 absl::StrCat("is not the key of the certificate in ", files.certificate));
  }
  const openssl::Context context(SSL_CTX_new(TLS_method()));
  bool taken = context != nullptr &&
               SSL_CTX_use_certificate(context.get(), chain.front().get()) == 1 &&
               SSL_CTX_use_PrivateKey(context.get(), key) == 1 &&
               SSL_CTX_check_private_key(context.get()) == 1;
  for (size_t i = 1; taken && i < chain.size(); ++i) {
    taken = SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) == 1;
  }
  if (taken) return absl::OkStatus();
  return Fault(files.certificate, absl::StrCat("OpenSSL refuses it: ", openssl::LastError()));
}

bool IsVouchedFor(const Certificates& chain, const Certificates& authorities) {
  const openssl::Store store(X509_STORE_new());
  for (const Certificate& authority : authorities) {
    X509_STORE_add_cert(store.get(), authority.get());
  }
  STACK_OF(X509)* const others = sk_X509_new_null();
  for (size_t i = 1; i < chain.size(); ++i) sk_X509_push(others, chain[i].get());
  X509_STORE_CTX* const context = X509_STORE_CTX_new();
  const bool vouched_for =
      X509_STORE_CTX_init(context, store.get(), chain.front().get(), others) == 1 &&
      X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  sk_X509_free(others);
  openssl::LastError();
  return vouched_for;
}

// Of several authorities, as there are while one takes over from another, one must still be good.
absl::StatusOr<Certificates> ReadAuthorities(const std::string& path) {
  Certificates authorities;
  if (path.empty()) return authorities;
  VICINITY_ASSIGN_OR_RETURN(const std::string pem, ReadFile(path, kMostBytes));
  VICINITY_ASSIGN_OR_RETURN(authorities, ParseCertificates(path, pem));
  const absl::Time last = End(**std::max_element(
      authorities.begin(), authorities.end(),
      [](const Certificate& a, const Certificate& b) { return End(*a) < End(*b); }));
  if (absl::Now() > last) {
    return Fault(path, absl::StrCat("the authority's certificate expired at ", DateText(last)));
  }
  return authorities;
}

absl::Status ReadPair(const TlsFiles& files, TlsEnd end, const Certificates& authorities,
                      TlsMaterial* material) {
  const bool together = files.key.empty();
  absl::StatusOr<std::string> pem =
      together ? ReadSecretFile(files.certificate) : ReadFile(files.certificate, kMostBytes);
  if (!pem.ok()) return pem.status();
  VICINITY_ASSIGN_OR_RETURN(const Certificates chain, ParseCertificates(files.certificate, *pem));
  if (!together) {
    pem = ReadSecretFile(files.key);
    if (!pem.ok()) return pem.status();
  }
  const openssl::Key key = openssl::ParseKey(*pem);
  if (key == nullptr) {
    return Fault(together ? files.certificate : files.key,
                 absl::StrCat("holds no private key in PEM without a passphrase",
                              together ? "; name the key's own file where it has one" : ""));
  }
  VICINITY_RETURN_IF_ERROR(TryPair(files, chain, key.get()));
  VICINITY_RETURN_IF_ERROR(CheckChain(files.certificate, chain, end));
  VICINITY_RETURN_IF_ERROR(CheckDates(files.certificate, chain));
  material->certificate = AllToPem(chain);
  material->key = openssl::ToPem(*key);
  for (const Certificate& certificate : chain) {
    material->expires = std::min(material->expires, End(*certificate));
  }
  material->vouched_for = IsVouchedFor(chain, authorities);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files, TlsEnd end) {
  TlsMaterial material;
  VICINITY_ASSIGN_OR_RETURN(const Certificates authorities, ReadAuthorities(files.ca));
  material.ca = AllToPem(authorities);
  if (!files.certificate.empty()) {
    VICINITY_RETURN_IF_ERROR(ReadPair(files, end, authorities, &material));
  } else if (!files.key.empty()) {
    return Fault(files.key, "a key needs its certificate beside it");
  }
  if (!files.revoked.empty()) {
    VICINITY_ASSIGN_OR_RETURN(material.revoked, ReadFile(files.revoked, int64_t{16} << 20));
    VICINITY_RETURN_IF_ERROR(
        Revocations::Parse(files.revoked, material.revoked, material.ca).status());
  }
  return material;
}

absl::StatusOr<absl::Time> ExpiryOf(absl::string_view certificate_pem) {
  Certificates certificates;
  openssl::ParseAll(certificate_pem, &certificates);
  if (certificates.empty()) return absl::InvalidArgumentError("holds no certificate in PEM");
  return End(*certificates.front());
}

std::string DateText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

}  // namespace vicinity
