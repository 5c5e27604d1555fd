// One connection to the HTTP port, as a test wants it: any bytes, no manners.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "proto/cluster/host_port.h"
#include "proto/security/openssl.h"

namespace vicinity::testing {

// Threads: one at a time. Every wait ends after 20 s.
class RawClient {
 public:
  explicit RawClient(const HostPort& address);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // Agrees on keys, showing a certificate in PEM where there is one. False: it was refused, which a
  // client of TLS 1.3 may learn only when it reads.
  bool StartTls(const std::string& certificate = "", const std::string& key = "");

  bool Send(const std::string& bytes);  // false: the connection is gone
  // All until the other end closes, or until `text` has come.
  std::string Read(const std::string& text = "");
  // Whether the other end has closed it, or does so within this time.
  bool IsClosedWithin(int milliseconds);

 private:
  int fd_ = -1;
  openssl::Context context_;
  std::unique_ptr<SSL, openssl::Deleter<&SSL_free>> session_;
};

// A whole request without body, and its reply by a connection of its own.
std::string Get(const HostPort& address, const std::string& path, const std::string& headers = "");

// What follows the head of a reply.
std::string BodyOf(const std::string& reply);

}  // namespace vicinity::testing
