// The PEM files of TLS, checked before anything relies on them.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vicinity {

// Paths; empty: none.
struct TlsFiles {
  std::string ca;           // certificates of the authorities whose word is taken for the other end
  std::string certificate;  // our own, its chain behind it
  std::string key;          // the certificate's private key, a secret file
};

// InvalidArgument naming file and reason: a certificate without key or the reverse, a file that
// holds no certificate or no key, a key that needs a passphrase, a key of another certificate, a
// certificate that has expired or is not valid yet. What ReadFile and ReadSecretFile say of files
// that cannot be read.
absl::Status CheckTlsFiles(const TlsFiles& files);

// When the first certificate of a file expires. Errors as above.
absl::StatusOr<absl::Time> ExpiryOf(const std::string& certificate_file);

}  // namespace vicinity
