// What a server is told about its security (docs/security.md). Nothing: plaintext, on loopback, for
// anybody who is there.
#pragma once

#include <string>

#include "proto/security/certificates.h"

namespace vicinity {

struct ServerSecurity {
  TlsFiles tls;             // no certificate: plaintext
  std::string access_file;  // proto/access.proto; empty: no roles
  // Also clients without certificates, and beyond loopback also plaintext: every host that can
  // reach the server is trusted not to harm it.
  bool open = false;
  int reload_seconds = 10;  // between looks at the files of TLS

  bool encrypted() const { return !tls.certificate.empty(); }
  // Clients need certificates that `tls.ca` vouches for.
  bool certifies() const { return encrypted() && !open; }
};

}  // namespace vicinity
