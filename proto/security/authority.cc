#include "proto/security/authority.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using Serial = std::unique_ptr<ASN1_INTEGER, openssl::Deleter<&ASN1_INTEGER_free>>;
using Number = std::unique_ptr<BIGNUM, openssl::Deleter<&BN_free>>;
using Moment = std::unique_ptr<ASN1_TIME, openssl::Deleter<&ASN1_TIME_free>>;

constexpr int kSerialBytes = 16;

absl::Status Failed(absl::string_view what) {
  return absl::InternalError(absl::StrCat("OpenSSL cannot ", what, ": ", openssl::LastError()));
}

// Names stand between commas in what OpenSSL makes an extension of.
absl::Status CheckName(absl::string_view what, const std::string& name, size_t most,
                       absl::string_view others) {
  const bool plain = std::all_of(name.begin(), name.end(), [&](unsigned char c) {
    return absl::ascii_isalnum(c) || others.find(static_cast<char>(c)) != others.npos;
  });
  if (!name.empty() && name.size() <= most && plain) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("\"", absl::CHexEscape(name.substr(0, 100)),
                                                 "\" is no ", what, ": 1 to ", most,
                                                 " letters, digits and \"", others, "\""));
}

bool IsIpAddress(const std::string& text) {
  in6_addr any;
  return inet_pton(AF_INET, text.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

absl::StatusOr<openssl::Key> MakeKey() {
  openssl::Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("make a key");
  return key;
}

bool AddExtension(int id, const std::string& value, X509* issuer, X509* to) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(to, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool SetRandomSerial(X509* certificate) {
  unsigned char bytes[kSerialBytes];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return false;
  bytes[0] &= 0x7f;  // serials are positive
  bytes[0] |= 0x40;  // and of one length
  const Number number(BN_bin2bn(bytes, sizeof(bytes), nullptr));
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

// A certificate with everything but its issuer, extensions and signature.
absl::StatusOr<openssl::Certificate> Begin(const std::string& name, EVP_PKEY* key,
                                           absl::Time expires) {
  openssl::Certificate certificate(X509_new());
  X509* const made = certificate.get();
  const bool done =
      made != nullptr && X509_set_version(made, X509_VERSION_3) == 1 && SetRandomSerial(made) &&
      ASN1_TIME_set(X509_getm_notBefore(made), absl::ToTimeT(absl::Now() - absl::Hours(1))) !=
          nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(made), absl::ToTimeT(expires)) != nullptr &&
      X509_set_pubkey(made, key) == 1 &&
      X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                                 0) == 1;
  if (!done) return Failed("make a certificate");
  return certificate;
}

std::string AlternativeNames(const Authority::Wish& wish) {
  if (wish.end == TlsEnd::kClient) return absl::StrCat("DNS:", wish.name);
  return absl::StrJoin(wish.addresses, ",", [](std::string* out, const std::string& address) {
    absl::StrAppend(out, IsIpAddress(address) ? "IP:" : "DNS:", address);
  });
}

absl::Status CheckWish(const Authority::Wish& wish) {
  VICINITY_RETURN_IF_ERROR(CheckName("name for a certificate", wish.name, 64, "-_."));
  if (wish.end == TlsEnd::kServer && wish.addresses.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server ", wish.name, " needs a name or address that clients dial"));
  }
  for (const std::string& address : wish.addresses) {
    VICINITY_RETURN_IF_ERROR(
        CheckName("host name or IP address", address, 253, IsIpAddress(address) ? "-_.:" : "-_."));
  }
  return absl::OkStatus();
}

std::string HexOf(const ASN1_INTEGER* serial) {
  const Number number(ASN1_INTEGER_to_BN(serial, nullptr));
  char* const hex = number == nullptr ? nullptr : BN_bn2hex(number.get());
  std::string text = hex == nullptr ? "" : hex;
  OPENSSL_free(hex);
  return text;
}

Serial SerialOf(const std::string& hex) {
  BIGNUM* parsed = nullptr;
  const int used = BN_hex2bn(&parsed, hex.c_str());
  const Number number(parsed);
  if (hex.empty() || used != static_cast<int>(hex.size())) return nullptr;
  return Serial(BN_to_ASN1_INTEGER(number.get(), nullptr));
}

absl::Status AddRevoked(const Authority::Revoked& revoked, X509_CRL* list) {
  const Serial serial = SerialOf(revoked.serial);
  if (serial == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("\"", revoked.serial, "\" is no serial number"));
  }
  const Moment when(ASN1_TIME_set(nullptr, absl::ToTimeT(revoked.when)));
  X509_REVOKED* const entry = X509_REVOKED_new();
  const bool added = entry != nullptr && when != nullptr &&
                     X509_REVOKED_set_serialNumber(entry, serial.get()) == 1 &&
                     X509_REVOKED_set_revocationDate(entry, when.get()) == 1 &&
                     X509_CRL_add0_revoked(list, entry) == 1;  // the list's from then on
  if (added) return absl::OkStatus();
  X509_REVOKED_free(entry);
  return Failed("add to the list of the revoked");
}

}  // namespace

absl::StatusOr<Authority> Authority::Make(const std::string& name, absl::Duration life) {
  VICINITY_RETURN_IF_ERROR(CheckName("name for an authority", name, 64, "-_. "));
  VICINITY_ASSIGN_OR_RETURN(openssl::Key key, MakeKey());
  VICINITY_ASSIGN_OR_RETURN(openssl::Certificate certificate,
                            Begin(name, key.get(), absl::Now() + life));
  X509* const own = certificate.get();
  const bool signed_by_itself =
      X509_set_issuer_name(own, X509_get_subject_name(own)) == 1 &&
      AddExtension(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", own, own) &&
      AddExtension(NID_key_usage, "critical,keyCertSign,cRLSign", own, own) &&
      AddExtension(NID_subject_key_identifier, "hash", own, own) &&
      X509_sign(own, key.get(), EVP_sha256()) > 0;
  if (!signed_by_itself) return Failed("sign the authority's certificate");
  return Authority(std::move(certificate), std::move(key));
}

absl::StatusOr<Authority> Authority::FromPem(const std::string& certificate,
                                             const std::string& key) {
  std::vector<openssl::Certificate> certificates;
  openssl::ParseAll(certificate, &certificates);
  openssl::Key parsed = openssl::ParseKey(key);
  if (certificates.empty() || parsed == nullptr) {
    return absl::InvalidArgumentError("is no authority's certificate and key in PEM");
  }
  if (X509_check_private_key(certificates.front().get(), parsed.get()) != 1) {
    openssl::LastError();
    return absl::InvalidArgumentError("the authority's key is not that of its certificate");
  }
  return Authority(std::move(certificates.front()), std::move(parsed));
}

absl::Time Authority::expires() const {
  return openssl::ToTime(X509_get0_notAfter(certificate_.get()));
}

absl::StatusOr<Authority::Issued> Authority::Issue(const Wish& wish) const {
  VICINITY_RETURN_IF_ERROR(CheckWish(wish));
  Issued issued;
  issued.expires = std::min(absl::Now() + wish.life, expires());
  VICINITY_ASSIGN_OR_RETURN(const openssl::Key key, MakeKey());
  VICINITY_ASSIGN_OR_RETURN(const openssl::Certificate certificate,
                            Begin(wish.name, key.get(), issued.expires));
  X509* const made = certificate.get();
  X509* const issuer = certificate_.get();
  const bool done =
      X509_set_issuer_name(made, X509_get_subject_name(issuer)) == 1 &&
      AddExtension(NID_basic_constraints, "critical,CA:FALSE", issuer, made) &&
      AddExtension(NID_key_usage, "critical,digitalSignature", issuer, made) &&
      AddExtension(NID_ext_key_usage,
                   wish.end == TlsEnd::kServer ? "serverAuth,clientAuth" : "clientAuth", issuer,
                   made) &&
      AddExtension(NID_subject_alt_name, AlternativeNames(wish), issuer, made) &&
      AddExtension(NID_subject_key_identifier, "hash", issuer, made) &&
      AddExtension(NID_authority_key_identifier, "keyid", issuer, made) &&
      X509_sign(made, key_.get(), EVP_sha256()) > 0;
  if (!done) return Failed(absl::StrCat("issue a certificate for ", wish.name));
  issued.certificate = openssl::ToPem(*made);
  issued.key = openssl::ToPem(*key);
  issued.serial = HexOf(X509_get0_serialNumber(made));
  return issued;
}

absl::StatusOr<std::string> Authority::List(absl::Span<const Revoked> revoked) const {
  const openssl::RevocationList list(X509_CRL_new());
  const Moment now(ASN1_TIME_set(nullptr, absl::ToUnixSeconds(absl::Now())));
  const Serial number(ASN1_INTEGER_new());
  bool done =
      list != nullptr && now != nullptr && number != nullptr &&
      X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) == 1 &&
      X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate_.get())) == 1 &&
      X509_CRL_set1_lastUpdate(list.get(), now.get()) == 1 &&
      // Others that read it, such as HAProxy, would let nobody in once it is over.
      X509_CRL_set1_nextUpdate(list.get(), X509_get0_notAfter(certificate_.get())) == 1 &&
      ASN1_INTEGER_set_int64(number.get(), absl::ToUnixSeconds(absl::Now())) == 1 &&
      X509_CRL_add1_ext_i2d(list.get(), NID_crl_number, number.get(), 0, 0) == 1;
  if (!done) return Failed("make the list of the revoked");
  for (const Revoked& entry : revoked) VICINITY_RETURN_IF_ERROR(AddRevoked(entry, list.get()));
  done = X509_CRL_sort(list.get()) == 1 && X509_CRL_sign(list.get(), key_.get(), EVP_sha256()) > 0;
  if (!done) return Failed("sign the list of the revoked");
  return openssl::ToPem(*list);
}

}  // namespace vicinity
