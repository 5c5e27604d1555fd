// TLS of the HTTP port: the certificate that the server's other ports show, and who callers are.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "proto/security/certificates.h"
#include "proto/security/openssl.h"
#include "server/security/access_control.h"

namespace vicinity {

// Threads: one at a time.
class HttpTls {
 public:
  using Session = std::unique_ptr<SSL, openssl::Deleter<&SSL_free>>;

  // `material` tells what is in force, and is asked with a new connection, once a second at most.
  // `wants_certificates`: clients have to show one that its CA vouches for.
  HttpTls(std::function<TlsMaterial()> material, bool wants_certificates);

  // The server's end of a connection that has just been accepted, which must not block. Null if
  // OpenSSL does not take the material or has no memory.
  Session Accept(int fd);

  // What the other end has shown by the end of its handshake, without tokens; and its certificate
  // in PEM, empty if it has none.
  static Caller CallerOf(const SSL& session);
  static std::string CertificateOf(const SSL& session);

 private:
  openssl::Context MakeContext() const;

  const std::function<TlsMaterial()> material_;
  const bool wants_certificates_;
  TlsMaterial in_use_;
  openssl::Context context_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace vicinity
