#include "tests/testing/attacks/hostile_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>

namespace vicinity::testing {
namespace {

constexpr size_t kReadBytes = 64 << 10;

void Require(bool ok, const char* what) {
  if (ok) return;
  std::cerr << "cannot attack by TLS: " << what << "\n";
  std::abort();
}

std::unique_ptr<BIO, decltype(&BIO_free)> Memory(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

int OpenSocket(const HostPort& to) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(to.port));
  inet_pton(AF_INET, to.host.c_str(), &address.sin_addr);
  // A failure shows when the socket is used.
  connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return fd;
}

}  // namespace

std::shared_ptr<SSL_CTX> MakeHostileContext(const HostileTls& tls) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  const unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof(kHttp2));
  if (tls.certificate.empty()) return context;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(Memory(tls.certificate).get(), nullptr, nullptr, nullptr), &X509_free);
  Require(SSL_CTX_use_certificate(context.get(), certificate.get()) == 1, "the certificate");
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(Memory(tls.key).get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  Require(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1, "the key");
  return context;
}

HostileConnection::HostileConnection(const HostPort& to, const std::shared_ptr<SSL_CTX>& context)
    : fd_(OpenSocket(to)), ssl_(context == nullptr ? nullptr : SSL_new(context.get()), &SSL_free) {
  if (ssl_ != nullptr) SSL_set_fd(ssl_.get(), fd_);
}

HostileConnection::~HostileConnection() {
  const linger at_once{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd_);
}

bool HostileConnection::wants_to_write() const {
  switch (state_) {
    case State::kConnecting:
      return true;
    case State::kHandshaking:
      return handshake_writes_;
    case State::kOpen:
      return begun_ < out_.size();
    case State::kEnded:
      return false;
  }
  return false;
}

void HostileConnection::Advance() {
  if (state_ == State::kConnecting) Connected();
  if (state_ == State::kHandshaking) Handshake();
  if (state_ == State::kOpen) Send();
}

void HostileConnection::Connected() {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    state_ = State::kEnded;
    return;
  }
  sockaddr_in peer{};
  length = sizeof(peer);
  if (getpeername(fd_, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return;  // not yet
  state_ = ssl_ == nullptr ? State::kOpen : State::kHandshaking;
}

void HostileConnection::Handshake() {
  ERR_clear_error();
  const int result = SSL_connect(ssl_.get());
  if (result == 1) {
    state_ = State::kOpen;
    return;
  }
  handshake_writes_ = SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_WRITE;
  if (Judge(result) < 0) state_ = State::kEnded;
}

int64_t HostileConnection::Judge(int result) {
  if (result > 0) return result;
  const int error = SSL_get_error(ssl_.get(), result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

int64_t HostileConnection::SendSome() {
  const char* const data = out_.data() + begun_;
  const size_t size = out_.size() - begun_;
  if (ssl_ != nullptr) {
    ERR_clear_error();
    return Judge(SSL_write(ssl_.get(), data, static_cast<int>(size)));
  }
  const ssize_t sent = send(fd_, data, size, MSG_NOSIGNAL);
  if (sent >= 0) return sent;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

void HostileConnection::Send() {
  while (begun_ < out_.size()) {
    const int64_t sent = SendSome();
    if (sent < 0) state_ = State::kEnded;
    if (sent <= 0) return;
    begun_ += static_cast<size_t>(sent);
    sent_ += sent;
  }
  out_.clear();
  begun_ = 0;
}

std::string HostileConnection::Read() {
  std::string in(kReadBytes, '\0');
  int64_t got = 0;
  if (ssl_ != nullptr) {
    ERR_clear_error();
    got = Judge(SSL_read(ssl_.get(), in.data(), static_cast<int>(in.size())));
  } else {
    got = recv(fd_, in.data(), in.size(), 0);
    if (got == 0) got = -1;  // the end
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) got = 0;
  }
  if (got < 0) state_ = State::kEnded;
  in.resize(static_cast<size_t>(std::max<int64_t>(got, 0)));
  return in;
}

}  // namespace vicinity::testing
