#include "proto/security/certificates.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "proto/security/guarded_file.h"

namespace vicinity {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr int64_t kMostBytes = int64_t{1} << 20;

// Instead of a question on the terminal: we have nobody to ask.
int NoPassphrase(char*, int, int, void*) { return -1; }

Bio Over(const std::string& bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())), &BIO_free);
}

absl::Status Fault(const std::string& path, absl::string_view what) {
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::StatusOr<Certificate> ReadCertificate(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMostBytes));
  Certificate certificate(PEM_read_bio_X509(Over(bytes).get(), nullptr, &NoPassphrase, nullptr),
                          &X509_free);
  if (certificate == nullptr) return Fault(path, "holds no certificate in PEM");
  return certificate;
}

absl::StatusOr<Key> ReadKey(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::string bytes, ReadSecretFile(path));
  Key key(PEM_read_bio_PrivateKey(Over(bytes).get(), nullptr, &NoPassphrase, nullptr),
          &EVP_PKEY_free);
  if (key == nullptr) return Fault(path, "holds no private key in PEM without a passphrase");
  return key;
}

absl::Time ToTime(const ASN1_TIME* time) {
  std::tm fields{};
  ASN1_TIME_to_tm(time, &fields);
  return absl::FromTimeT(timegm(&fields));
}

absl::Status CheckDates(const std::string& path, const X509& certificate) {
  const absl::Time now = absl::Now();
  const absl::Time begin = ToTime(X509_get0_notBefore(&certificate));
  const absl::Time end = ToTime(X509_get0_notAfter(&certificate));
  const auto text = [](absl::Time time) { return absl::FormatTime(time, absl::UTCTimeZone()); };
  if (now > end) return Fault(path, absl::StrCat("the certificate expired at ", text(end)));
  if (now < begin) {
    return Fault(path, absl::StrCat("the certificate is not valid before ", text(begin)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files) {
  if (!files.ca.empty()) VICINITY_RETURN_IF_ERROR(ReadCertificate(files.ca).status());
  if (files.certificate.empty() && files.key.empty()) return absl::OkStatus();
  if (files.key.empty()) return Fault(files.certificate, "a certificate needs its key beside it");
  if (files.certificate.empty()) return Fault(files.key, "a key needs its certificate beside it");
  VICINITY_ASSIGN_OR_RETURN(const Certificate certificate, ReadCertificate(files.certificate));
  VICINITY_ASSIGN_OR_RETURN(const Key key, ReadKey(files.key));
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Fault(files.key,
                 absl::StrCat("is not the key of the certificate in ", files.certificate));
  }
  return CheckDates(files.certificate, *certificate);
}

absl::StatusOr<absl::Time> ExpiryOf(const std::string& certificate_file) {
  VICINITY_ASSIGN_OR_RETURN(const Certificate certificate, ReadCertificate(certificate_file));
  return ToTime(X509_get0_notAfter(certificate.get()));
}

}  // namespace vicinity
