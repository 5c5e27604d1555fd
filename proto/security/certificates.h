// The PEM files of TLS, checked whole before anything relies on them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace vicinity {

// Paths; empty: none.
struct TlsFiles {
  std::string ca;           // certificates of the authorities whose word is taken for the other end
  std::string certificate;  // our own, its chain behind it
  std::string key;          // its private key, a secret file; empty: the key is in `certificate`,
                            // which is a secret file then
  std::string revoked = {};  // what the authorities have taken back: their lists (CRLs)
};

// Whose certificate it is: each says what it is good for.
enum class TlsEnd { kServer, kClient };

// What the files hold, in PEM written anew: nothing but what was checked.
struct TlsMaterial {
  std::string ca;
  std::string certificate;  // with its chain
  std::string key;
  std::string revoked;
  absl::Time expires = absl::InfiniteFuture();  // the first of the certificate and its chain
  bool vouched_for = false;                     // an authority of `ca` vouches for the certificate

  bool operator==(const TlsMaterial& other) const {
    return ca == other.ca && certificate == other.certificate && key == other.key &&
           revoked == other.revoked;
  }
};

// Reads every file once. InvalidArgument naming file and reason, if a handshake could not work
// with them: a file that holds no certificate, key or list, or half of one; a key without
// certificate, with a passphrase, or of another certificate; a chain in the wrong order; a
// certificate that has expired, is not valid yet, or is not for this end; authorities that have all
// expired; a list that none of them signed. What ReadFile and ReadSecretFile say of files that
// cannot be read.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files, TlsEnd end);

// What is in force where TLS is used.
struct TlsState {
  absl::Time expires = absl::InfiniteFuture();  // the certificate of this end, if there is one
  std::string fault;        // why what the files hold now is not in force; empty: it is
  int64_t num_revoked = 0;  // certificates on the lists in force
};

// Certificates that end within this time are warned about.
inline constexpr absl::Duration kExpiryWarning = absl::Hours(14 * 24);

// When a certificate in PEM expires: InvalidArgument if it is none.
absl::StatusOr<absl::Time> ExpiryOf(absl::string_view certificate_pem);

// "2027-02-20 13:00 UTC".
std::string DateText(absl::Time time);

}  // namespace vicinity
