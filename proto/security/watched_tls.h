// What TLS works with, from files that may change while connections are made with them.
//
// gRPC 1.51 has a watcher of its own, which takes whatever the files hold: an empty one ends the
// process, a key that does not fit locks every newcomer out. So gRPC never sees these files:
//
//   files --looked at, checked whole--> memory (memfd) --looked at every second--> gRPC
//
// What fails the check changes nothing: the material in force stays, and whoever reads the log or
// asks for the status is told.
#pragma once

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/common/mutex.h"
#include "proto/security/certificates.h"
#include "proto/security/memory_file.h"
#include "proto/security/revocations.h"

namespace vicinity {

// Threads:  any. One of its own looks at the files.
// Lifetime: shared by whoever made it and the verifiers that it gave, which gRPC keeps for as long
//           as it uses the provider.
class WatchedTls : public std::enable_shared_from_this<WatchedTls> {
 public:
  enum class Severity { kInfo, kWarning, kError };
  using Report = std::function<void(Severity severity, const std::string& text)>;
  struct Options {
    TlsFiles files;
    TlsEnd end = TlsEnd::kServer;
    absl::Duration look_every = absl::Seconds(10);
    // Gets a line, from any thread but one at a time: for material that is taken or refused, once
    // each, and for a certificate near its end at the start and then daily.
    Report report;
  };
  // Reads the files and begins to watch. What ReadTlsFiles says; Unavailable or ResourceExhausted
  // if the system gives no memory file or no thread.
  static absl::StatusOr<std::shared_ptr<WatchedTls>> Start(Options options);
  ~WatchedTls();
  WatchedTls(const WatchedTls&) = delete;
  WatchedTls& operator=(const WatchedTls&) = delete;

  // For gRPC's credentials, always both: the verifier keeps this alive. It refuses revoked
  // certificates; a client's also those that are not made out to the name that was dialled.
  std::shared_ptr<grpc::experimental::CertificateProviderInterface> provider() const {
    return provider_;
  }
  std::shared_ptr<grpc::experimental::CertificateVerifier> MakeVerifier();

  // Looks at the files now. Not OK: why what they hold is not taken.
  absl::Status Look();

  TlsState state() const;
  // What is in force, with the key. Does not wait while files are read.
  TlsMaterial material() const;
  // Whether the lists in force have any certificate: cheap enough to ask with every call.
  bool HasRevoked() const { return has_revoked_.load(std::memory_order_acquire); }
  // Whether they have this one, in PEM.
  bool IsRevoked(const std::string& certificate_pem) const;

 private:
  explicit WatchedTls(Options options);

  // Of `fresh`, which are good by themselves: whether they may follow what is in force.
  absl::Status CheckSuccession(const TlsMaterial& fresh) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mu_);
  absl::Status TakeIfNew() ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mu_);
  absl::Status Take(TlsMaterial fresh) ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mu_);
  void Note(const absl::Status& looked) ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mu_);
  void WarnOfExpiry() ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mu_);
  void Watch();

  const Options options_;
  Mutex look_mu_;  // held while files are read, by nobody whom calls wait for
  TlsMaterial material_ ABSL_GUARDED_BY(look_mu_);  // in force, as `in_force_`
  absl::Time next_warning_ ABSL_GUARDED_BY(look_mu_) = absl::InfinitePast();

  mutable Mutex mu_;
  CondVar stopping_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  TlsState state_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const TlsMaterial> in_force_ ABSL_GUARDED_BY(mu_);     // with those who ask
  std::atomic<bool> has_revoked_{false};                                 // set after `revocations_`
  std::shared_ptr<const Revocations> revocations_ ABSL_GUARDED_BY(mu_);  // with those who look

  // gRPC reads them by their paths, until the provider ends, which is declared after them so that
  // it ends first.
  MemoryFile authorities_;
  MemoryFile identity_;  // the key, and the certificate with its chain
  std::shared_ptr<grpc::experimental::CertificateProviderInterface> provider_;
  std::thread watcher_;
};

}  // namespace vicinity
