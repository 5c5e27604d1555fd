#include "client/rpc/tls_diagnosis.h"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;

// A connected socket that does not block, closed at the end.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// OpenSSL writes to sockets in a way that raises SIGPIPE when the other end is gone: not here.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    constexpr timespec kAtOnce{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &kAtOnce);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// False: not within the time.
bool WaitFor(int fd, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{fd, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool Connects(const addrinfo& to, int fd, Clock::time_point end) {
  if (connect(fd, to.ai_addr, to.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS || !WaitFor(fd, POLLOUT, end)) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

absl::StatusOr<Socket> Dial(const HostPort& address, Clock::time_point end) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &first) !=
      0) {
    return absl::UnavailableError(absl::StrCat(address.host, " is no known name"));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(first, &freeaddrinfo);
  for (const addrinfo* at = first; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.fd() >= 0 && Connects(*at, socket.fd(), end)) return socket;
  }
  return absl::UnavailableError(absl::StrCat("no connection to ", address.ToString()));
}

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;

absl::StatusOr<Context> MakeContext(const TlsFiles& files) {
  Context context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof(kHttp2));
  if (files.ca.empty()) return context;  // to see whether TLS is spoken, nothing is verified
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  bool loaded = SSL_CTX_load_verify_locations(context.get(), files.ca.c_str(), nullptr) == 1;
  if (loaded && !files.certificate.empty()) {
    const std::string& key = files.key.empty() ? files.certificate : files.key;
    loaded = SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) == 1 &&
             SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) == 1;
  }
  if (!loaded) return absl::UnavailableError("the files of TLS cannot be read any more");
  return context;
}

// Notes that the server asks for a client certificate.
void NoteRequest(int is_ours, int, int content_type, const void* bytes, size_t size, SSL*,
                 void* asked) {
  if (is_ours == 0 && content_type == SSL3_RT_HANDSHAKE && size > 0 &&
      *static_cast<const unsigned char*>(bytes) == SSL3_MT_CERTIFICATE_REQUEST) {
    *static_cast<bool*>(asked) = true;
  }
}

// `asked` outlives it.
Session MakeSession(SSL_CTX* context, const std::string& host, int fd, bool* asked) {
  Session session(SSL_new(context), &SSL_free);
  SSL_set_msg_callback(session.get(), &NoteRequest);
  SSL_set_msg_callback_arg(session.get(), asked);
  SSL_set_fd(session.get(), fd);
  // An address is compared with the certificate's addresses, a name with its names.
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), host.c_str()) != 1) {
    ERR_clear_error();
    SSL_set1_host(session.get(), host.c_str());
    SSL_set_tlsext_host_name(session.get(), host.c_str());
  }
  return session;
}

// Goes on with `step` until it is done, fails or the time is over: what SSL_get_error says.
template <typename Step>
int Drive(SSL* session, int fd, Clock::time_point end, Step step) {
  for (;;) {
    ERR_clear_error();
    const int error = SSL_get_error(session, step());
    if (error == SSL_ERROR_WANT_READ && WaitFor(fd, POLLIN, end)) continue;
    if (error == SSL_ERROR_WANT_WRITE && WaitFor(fd, POLLOUT, end)) continue;
    return error;
  }
}

// What the library says about the last failure.
std::string ReasonText() {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "the connection was closed" : reason;
}

absl::Status ServersFault(const SSL& session, const HostPort& address, const TlsFiles& files) {
  const long verdict = SSL_get_verify_result(&session);
  return absl::UnauthenticatedError(
      absl::StrCat("the certificate of ", address.ToString(), " is not to be believed (",
                   X509_verify_cert_error_string(verdict), "; authorities: ", files.ca, ")"));
}

absl::Status OurFault(const HostPort& address, const TlsFiles& files) {
  const std::string what = files.certificate.empty()
                               ? "a connection without client certificate: give --certificate "
                                 "FILE (`vicinity certificate client`), or set "
                                 "VICINITY_TLS_CERTIFICATE"
                               : absl::StrCat("the certificate ", files.certificate,
                                              ": of another CA, expired or revoked?");
  return absl::UnauthenticatedError(
      absl::StrCat(address.ToString(), " refused ", what, " (", ReasonText(), ")"));
}

// What came in is not TLS, or an alert of a server that speaks it.
int LastReason() { return ERR_GET_REASON(ERR_peek_last_error()); }
bool IsAlert() { return LastReason() >= SSL_AD_REASON_OFFSET; }

// Shakes hands, and looks whether the server goes on talking. What SSL_get_error says of the last
// step: SSL_ERROR_NONE if all is well, SSL_ERROR_WANT_READ if it said nothing in time.
int ShakeHands(SSL* session, int fd, Clock::time_point end) {
  const int error = Drive(session, fd, end, [session] { return SSL_connect(session); });
  if (error != SSL_ERROR_NONE) return error;
  // In TLS 1.3 the server looks at our certificate when we are done already: its first bytes, its
  // alert or, from gRPC, its leaving without a word tell what it thought.
  char byte;
  return Drive(session, fd, end, [session, &byte] { return SSL_peek(session, &byte, 1); });
}

// `asked`: the server wanted to see our certificate.
absl::Status Judge(int error, bool asked, const SSL& session, const HostPort& address,
                   const TlsFiles& files) {
  // A server that wants our certificate leaves without a word when it gets none, after its own.
  const bool speaks_tls = SSL_is_init_finished(&session) == 1 || IsAlert() ||
                          SSL_get0_peer_certificate(&session) != nullptr;
  if (files.ca.empty() && speaks_tls) {
    return absl::UnauthenticatedError(
        absl::StrCat(address.ToString(),
                     " speaks TLS and this client was not told to: name the CA of its "
                     "certificate (`tls` in the cluster file, --ca or VICINITY_TLS_CA)"));
  }
  if (error == SSL_ERROR_NONE) return absl::OkStatus();
  const bool told = error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE;
  if (told && !files.ca.empty()) {
    if (SSL_get_verify_result(&session) != X509_V_OK) return ServersFault(session, address, files);
    if (asked) return OurFault(address, files);
    if (LastReason() == SSL_R_WRONG_VERSION_NUMBER) {
      return absl::UnauthenticatedError(
          absl::StrCat(address.ToString(), " does not speak TLS, and this client was told to"));
    }
  }
  return absl::UnavailableError(absl::StrCat("no answer from ", address.ToString()));
}

}  // namespace

bool IsUnknownHost(const std::string& host) {
  addrinfo* first = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, nullptr, &first);
  if (error == 0) freeaddrinfo(first);
  return error == EAI_NONAME || error == EAI_NODATA;
}

absl::Status DiagnoseTls(const std::string& address, const TlsFiles& files,
                         std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  VICINITY_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  VICINITY_ASSIGN_OR_RETURN(const Context context, MakeContext(files));
  VICINITY_ASSIGN_OR_RETURN(const Socket socket, Dial(parsed, end));
  const WithoutSigpipe guard;
  bool asked = false;
  const Session session = MakeSession(context.get(), parsed.host, socket.fd(), &asked);
  const int error = ShakeHands(session.get(), socket.fd(), end);
  absl::Status outcome = Judge(error, asked, *session, parsed, files);
  ERR_clear_error();
  return outcome;
}

}  // namespace vicinity
