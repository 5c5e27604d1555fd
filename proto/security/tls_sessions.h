// TLS over sockets that are not gRPC's: sessions with what is in force when they begin.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/common/mutex.h"
#include "proto/security/certificates.h"
#include "proto/security/openssl.h"

namespace vicinity {

// Threads:  any.
// Lifetime: sessions may outlive it.
class TlsSessions {
 public:
  using Session = std::unique_ptr<SSL, openssl::Deleter<&SSL_free>>;

  struct Options {
    TlsEnd end = TlsEnd::kServer;
    // What is in force, as WatchedTls tells it; asked with a new session, once a second at most.
    std::function<TlsMaterial()> material;
    // Of a server: clients have to show one that its CA vouches for. A client always wants one.
    bool wants_certificates = true;
    // Whether a certificate in PEM has been taken back; null: none ever is.
    std::function<bool(const std::string&)> is_revoked{};
    // TLS 1.3 alone, with its cheapest cipher first: where both ends are ours.
    bool only_newest = false;
  };
  explicit TlsSessions(Options options);

  // This end of a new connection, without a socket. A client verifies that the certificate is made
  // out to `host`, a name or an address; a server passes it over. Null if OpenSSL does not take the
  // material or has no memory. No session is resumed.
  Session New(const std::string& host = "");

  // Unauthenticated: what the other end has shown has been taken back.
  absl::Status Check(const SSL& session) const;

  // The other end's certificate in PEM; empty: it has shown none.
  static std::string CertificateOf(const SSL& session);
  // Why the last step of a handshake has failed, for people.
  static std::string WhyFailed(const SSL& session);

 private:
  openssl::Context MakeContext(const TlsMaterial& material) const;
  bool Refresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  Mutex mu_;
  TlsMaterial in_use_ ABSL_GUARDED_BY(mu_);
  openssl::Context context_ ABSL_GUARDED_BY(mu_);
  std::chrono::steady_clock::time_point next_look_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
