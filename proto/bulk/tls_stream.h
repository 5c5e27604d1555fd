// Frames over TLS.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/uio.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/bulk/byte_stream.h"
#include "proto/common/mutex.h"
#include "proto/security/tls_sessions.h"

namespace vicinity::bulk {

// A connected socket, whose owner outlives this, with TLS. Records go to the socket and come from
// it many at a time.
//
// Threads: as ByteStream says; OpenSSL's own part, which is one at a time, is for a record at most.
// Memory:  while bytes come and go some 64 KiB each way, and a record; else what OpenSSL keeps.
class TlsStream final : public ByteStream {
 public:
  // Looks at the session once it has shaken hands: not OK, nothing comes or goes.
  using Check = std::function<absl::Status(const SSL&)>;

  TlsStream(int fd, TlsSessions::Session session, Check check = nullptr);
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  absl::StatusOr<bool> Begin() override;
  absl::StatusOr<size_t> Read(absl::Span<const iovec> pieces) override;
  absl::StatusOr<size_t> Write(absl::Span<const iovec> pieces) override;

 private:
  friend struct RecordsBelow;  // OpenSSL's way to the two below

  // What OpenSSL asks for and says, as BIO_read and BIO_write; called by it, under mu_.
  int ReadRecords(char* to, int count) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  int WriteRecords(const char* from, int count) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Bytes read; 0: there are none now.
  absl::StatusOr<size_t> ReadOne(char* to, size_t size);
  // Makes records of the bytes, all of them.
  absl::Status Encrypt(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<size_t> EncryptSome(absl::Span<const iovec> pieces)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sends records; false: some are left.
  absl::StatusOr<bool> Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Failed(const char* what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  SocketStream socket_;
  const Check check_;
  bool begun_ = false;  // of who reads
  // Records that have come and OpenSSL has not asked for: in_[first_in_, end_in_); null: none.
  std::unique_ptr<char[]> in_;  // of who reads, as the next two
  size_t first_in_ = 0;
  size_t end_in_ = 0;
  Mutex mu_;
  TlsSessions::Session session_ ABSL_GUARDED_BY(mu_);
  absl::Status lost_ ABSL_GUARDED_BY(mu_);  // what the socket said when it failed
  std::string out_ ABSL_GUARDED_BY(mu_);    // records; those before `sent_` have gone
  size_t sent_ ABSL_GUARDED_BY(mu_) = 0;
  // The first byte of the next Write is in a record already: it was not said to be taken, so that
  // there is a next one, which sends what is left.
  bool holds_one_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vicinity::bulk
