// Certificates as a test wants them: made in the test, good for nothing else.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "absl/time/time.h"

namespace vicinity::testing {

// What a certificate is to say.
struct CertificateWish {
  std::string names = "DNS:localhost,IP:127.0.0.1";  // its subjectAltName, as OpenSSL writes it
  absl::Duration begins = -absl::Hours(1);           // from now
  absl::Duration ends = absl::Hours(24);
};

struct IssuedCertificate {
  std::string certificate;  // PEM
  std::string key;          // PEM
};

// Signs certificates. Ends the process with a message if OpenSSL cannot.
class CertificateAuthority {
 public:
  explicit CertificateAuthority(const std::string& name);

  std::string certificate() const;  // its own, PEM: what `ca` files hold
  IssuedCertificate Issue(const CertificateWish& wish) const;

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};

// Writes both as `folder`/NAME.pem and NAME.key, the key for its owner alone. The folder is made.
void WriteIssued(const IssuedCertificate& issued, const std::string& folder,
                 const std::string& name);

// Writes a file that only its owner may read.
void WriteSecret(const std::string& path, const std::string& text);

}  // namespace vicinity::testing
