#include "proto/bulk/tls_stream.h"

#include <openssl/err.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity::bulk {
namespace {

// What goes to the socket or comes from it at once. Below the allocator's limit from which on each
// piece of memory is the system's, and new.
constexpr size_t kAtOnce = 64 << 10;
constexpr size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

}  // namespace

// What a session reads from and writes to.
struct RecordsBelow {
  static TlsStream* StreamOf(BIO* bio) { return static_cast<TlsStream*>(BIO_get_data(bio)); }

  static int Read(BIO* bio, char* to, int count) {
    BIO_clear_retry_flags(bio);
    const int got = StreamOf(bio)->ReadRecords(to, count);
    if (got < 0) BIO_set_retry_read(bio);
    return got;
  }

  static int Write(BIO* bio, const char* from, int count) {
    BIO_clear_retry_flags(bio);
    return StreamOf(bio)->WriteRecords(from, count);
  }

  static long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* Method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* const made =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bulk records");
      BIO_meth_set_read(made, &Read);
      BIO_meth_set_write(made, &Write);
      BIO_meth_set_ctrl(made, &Control);
      return made;
    }();
    return method;
  }
};

TlsStream::TlsStream(int fd, TlsSessions::Session session, Check check)
    : socket_(fd), check_(std::move(check)), session_(std::move(session)) {
  BIO* const below = BIO_new(RecordsBelow::Method());
  BIO_set_data(below, this);
  BIO_set_init(below, 1);
  SSL_set_bio(session_.get(), below, below);  // which takes it
}

TlsStream::~TlsStream() = default;

int TlsStream::ReadRecords(char* to, int count) {
  if (in_ == nullptr) in_.reset(new char[kAtOnce]);
  if (first_in_ == end_in_) {
    const iovec all = {in_.get(), kAtOnce};
    const absl::StatusOr<size_t> got = socket_.Read({&all, 1});
    if (!got.ok()) {
      lost_ = got.status();
      return 0;
    }
    if (*got == 0) return -1;
    first_in_ = 0;
    end_in_ = *got;
  }
  const size_t taken = std::min<size_t>(count, end_in_ - first_in_);
  std::memcpy(to, in_.get() + first_in_, taken);
  first_in_ += taken;
  return static_cast<int>(taken);
}

int TlsStream::WriteRecords(const char* from, int count) {
  out_.append(from, static_cast<size_t>(count));
  return count;
}

absl::Status TlsStream::Failed(const char* what) {
  if (!lost_.ok()) return lost_;
  return absl::UnavailableError(
      absl::StrCat("the bulk connection ", what, ": TLS: ", TlsSessions::WhyFailed(*session_)));
}

absl::StatusOr<bool> TlsStream::Begin() {
  if (begun_) return true;
  MutexLock lock(&mu_);
  ERR_clear_error();
  const int done = SSL_do_handshake(session_.get());
  const int error = SSL_get_error(session_.get(), done);
  // Also an alert, which tells the other end what was wrong. It is less than any socket holds.
  const absl::StatusOr<bool> sent = Flush();
  if (error == SSL_ERROR_WANT_READ) {
    VICINITY_RETURN_IF_ERROR(sent.status());
    return false;
  }
  if (error != SSL_ERROR_NONE) return Failed("cannot begin");
  VICINITY_RETURN_IF_ERROR(sent.status());
  if (check_ != nullptr) VICINITY_RETURN_IF_ERROR(check_(*session_));
  begun_ = true;
  return true;
}

absl::StatusOr<size_t> TlsStream::ReadOne(char* to, size_t size) {
  MutexLock lock(&mu_);
  ERR_clear_error();
  size_t got = 0;
  const int done = SSL_read_ex(session_.get(), to, size, &got);
  if (done == 1) return got;
  switch (SSL_get_error(session_.get(), done)) {
    case SSL_ERROR_WANT_READ:
      return size_t{0};
    case SSL_ERROR_ZERO_RETURN:
      return absl::UnavailableError("the bulk connection was ended by the other side");
    default:
      return Failed("cannot be read");
  }
}

absl::StatusOr<size_t> TlsStream::Read(absl::Span<const iovec> pieces) {
  size_t total = 0;
  for (const iovec& piece : pieces) {
    for (size_t filled = 0; filled < piece.iov_len;) {
      const absl::StatusOr<size_t> got =
          ReadOne(static_cast<char*>(piece.iov_base) + filled, piece.iov_len - filled);
      // What has come before the end is read first; the end is met again.
      if (!got.ok() && total == 0) return got;
      if (!got.ok() || *got == 0) {
        if (first_in_ == end_in_) in_.reset();
        return total;
      }
      filled += *got;
      total += *got;
    }
  }
  return total;
}

absl::StatusOr<size_t> TlsStream::Write(absl::Span<const iovec> pieces) {
  MutexLock lock(&mu_);
  VICINITY_ASSIGN_OR_RETURN(bool all_sent, Flush());
  if (!all_sent) return size_t{0};
  VICINITY_ASSIGN_OR_RETURN(const size_t taken, EncryptSome(pieces));
  VICINITY_ASSIGN_OR_RETURN(all_sent, Flush());
  holds_one_ = !all_sent && taken > 0;
  return taken - (holds_one_ ? 1 : 0);
}

absl::StatusOr<size_t> TlsStream::EncryptSome(absl::Span<const iovec> pieces) {
  char small[kRecordBytes];
  size_t num_small = 0;
  size_t taken = 0;
  size_t skipped = holds_one_ ? 1 : 0;
  for (const iovec& piece : pieces) {
    std::string_view rest(static_cast<const char*>(piece.iov_base), piece.iov_len);
    const size_t known = std::min(skipped, rest.size());
    rest.remove_prefix(known);
    skipped -= known;
    taken += known;
    while (!rest.empty() && taken < kAtOnce) {
      // Whole records from where the bytes lie; what is less is gathered to one.
      if (num_small == 0 && rest.size() >= kRecordBytes) {
        VICINITY_RETURN_IF_ERROR(Encrypt(rest.substr(0, kRecordBytes)));
        rest.remove_prefix(kRecordBytes);
        taken += kRecordBytes;
        continue;
      }
      const size_t part = std::min(rest.size(), kRecordBytes - num_small);
      std::memcpy(small + num_small, rest.data(), part);
      num_small += part;
      rest.remove_prefix(part);
      taken += part;
      if (num_small < kRecordBytes) continue;
      VICINITY_RETURN_IF_ERROR(Encrypt({small, std::exchange(num_small, 0)}));
    }
  }
  if (num_small > 0) VICINITY_RETURN_IF_ERROR(Encrypt({small, num_small}));
  return taken;
}

absl::Status TlsStream::Encrypt(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    size_t taken = 0;
    if (SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &taken) != 1) {
      return Failed("cannot be written");
    }
    bytes.remove_prefix(taken);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TlsStream::Flush() {
  while (sent_ < out_.size()) {
    const iovec rest = {out_.data() + sent_, out_.size() - sent_};
    VICINITY_ASSIGN_OR_RETURN(const size_t count, socket_.Write({&rest, 1}));
    if (count == 0) return false;
    sent_ += count;
  }
  out_ = std::string();
  sent_ = 0;
  return true;
}

}  // namespace vicinity::bulk
