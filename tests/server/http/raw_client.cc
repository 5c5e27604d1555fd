#include "tests/server/http/raw_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"

namespace vicinity::testing {

RawClient::RawClient(const HostPort& address) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
  const timeval limit{20, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(address.port));
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) {
    close(fd_);
    fd_ = -1;
  }
}

RawClient::~RawClient() {
  if (fd_ >= 0) close(fd_);
}

bool RawClient::StartTls(const std::string& certificate, const std::string& key) {
  context_.reset(SSL_CTX_new(TLS_client_method()));
  std::vector<openssl::Certificate> chain;
  if (!certificate.empty() && openssl::ParseAll(certificate, &chain)) {
    SSL_CTX_use_certificate(context_.get(), chain.front().get());
    SSL_CTX_use_PrivateKey(context_.get(), openssl::ParseKey(key).get());
  }
  session_.reset(SSL_new(context_.get()));
  SSL_set_fd(session_.get(), fd_);
  return SSL_connect(session_.get()) == 1;
}

bool RawClient::Send(const std::string& bytes) {
  if (session_ != nullptr) {
    return SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::string RawClient::Read(const std::string& text) {
  std::string read;
  char piece[16 << 10];
  while (text.empty() || read.find(text) == std::string::npos) {
    const ssize_t bytes = session_ != nullptr ? SSL_read(session_.get(), piece, sizeof(piece))
                                              : recv(fd_, piece, sizeof(piece), 0);
    if (bytes <= 0) return read;
    read.append(piece, static_cast<size_t>(bytes));
  }
  return read;
}

bool RawClient::IsClosedWithin(int milliseconds) {
  pollfd polled{fd_, POLLIN, 0};
  if (poll(&polled, 1, milliseconds) <= 0) return false;
  char byte = 0;
  return recv(fd_, &byte, 1, MSG_PEEK) <= 0;
}

std::string Get(const HostPort& address, const std::string& path, const std::string& headers) {
  RawClient client(address);
  client.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n",
                           headers, "\r\n"));
  return client.Read();
}

std::string BodyOf(const std::string& reply) {
  const size_t end = reply.find("\r\n\r\n");
  return end == std::string::npos ? "" : reply.substr(end + 4);
}

}  // namespace vicinity::testing
