// What a server is told about its security. Everything off: plaintext, on loopback, for anybody
// who is there.
#pragma once

#include <string>

#include "proto/security/certificates.h"

namespace vicinity {

struct ServerSecurity {
  TlsFiles tls;                             // no certificate: plaintext
  bool require_client_certificate = false;  // one that `tls.ca` vouches for
  std::string access_file;                  // proto/access.proto; empty: no roles
  bool allow_plaintext = false;             // beyond loopback
  int reload_seconds = 10;                  // between looks at the certificates' files

  bool encrypted() const { return !tls.certificate.empty(); }
};

}  // namespace vicinity
