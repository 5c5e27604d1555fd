// A certificate authority of one's own: issues certificates, and takes them back.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/security/certificates.h"
#include "proto/security/openssl.h"

namespace vicinity {

// Keys are of the curve P-256, serial numbers 127 random bits; certificates begin an hour ago, for
// clocks that are late.
//
// Threads: any.
class Authority {
 public:
  // A new key and a certificate signed by it. InvalidArgument for a name that no certificate takes
  // (1 to 64 characters); Internal, here and below, with what OpenSSL says if it cannot.
  static absl::StatusOr<Authority> Make(const std::string& name, absl::Duration life);
  // One that was made before. InvalidArgument if these are not PEM, or not of one pair.
  static absl::StatusOr<Authority> FromPem(const std::string& certificate, const std::string& key);

  std::string certificate() const { return openssl::ToPem(*certificate_); }
  std::string key() const { return openssl::ToPem(*key_); }
  absl::Time expires() const;

  struct Wish {
    std::string name;  // the subject's common name; a client's subjectAltName, too
    TlsEnd end = TlsEnd::kClient;
    std::vector<std::string> addresses;  // a server's subjectAltName: names and IP addresses
    absl::Duration life;                 // ends no later than the authority's own certificate
  };
  struct Issued {
    std::string certificate;  // PEM
    std::string key;          // PEM
    std::string serial;       // hexadecimal
    absl::Time expires;
  };
  // With a key of its own. InvalidArgument for a name or address that is none.
  absl::StatusOr<Issued> Issue(const Wish& wish) const;

  struct Revoked {
    std::string serial;  // hexadecimal
    absl::Time when;
  };
  // The list of them in PEM, signed. InvalidArgument for what is no serial.
  absl::StatusOr<std::string> List(absl::Span<const Revoked> revoked) const;

 private:
  Authority(openssl::Certificate certificate, openssl::Key key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}

  openssl::Certificate certificate_;
  openssl::Key key_;
};

}  // namespace vicinity
