#include "proto/security/watched_tls.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

namespace tls = grpc::experimental;

constexpr unsigned kGrpcLooksEverySeconds = 1;

// gRPC asks it when a handshake is done, before anything that the other end sent is looked at.
class Verifier final : public tls::ExternalCertificateVerifier {
 public:
  Verifier(std::shared_ptr<const WatchedTls> owner, TlsEnd end)
      : owner_(std::move(owner)), end_(end) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> callback, grpc::Status* outcome) override {
    const grpc::string_ref shown = request->peer_cert();
    if (!shown.empty() && owner_->IsRevoked(std::string(shown.data(), shown.size()))) {
      *outcome = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "the certificate is revoked");
      return true;
    }
    if (end_ == TlsEnd::kServer) return true;
    return name_check_.Verify(request, std::move(callback), outcome);
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* request) override {
    if (end_ == TlsEnd::kClient) name_check_.Cancel(request);
  }

 private:
  const std::shared_ptr<const WatchedTls> owner_;
  const TlsEnd end_;
  tls::HostNameCertificateVerifier name_check_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<WatchedTls>> WatchedTls::Start(Options options) {
  std::shared_ptr<WatchedTls> watched(new WatchedTls(std::move(options)));
  const Options& kept = watched->options_;
  VICINITY_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsFiles(kept.files, kept.end));
  {
    MutexLock looking(&watched->look_mu_);
    VICINITY_RETURN_IF_ERROR(watched->Take(std::move(material)));
    watched->WarnOfExpiry();
  }
  const std::string identity = watched->identity_.path();
  watched->provider_ = std::make_shared<tls::FileWatcherCertificateProvider>(
      identity, identity, watched->authorities_.path(), kGrpcLooksEverySeconds);
  VICINITY_ASSIGN_OR_RETURN(watched->watcher_,
                            StartThread([self = watched.get()] { self->Watch(); }));
  return watched;
}

WatchedTls::WatchedTls(Options options)
    : options_(std::move(options)), revocations_(std::make_shared<const Revocations>()) {}

WatchedTls::~WatchedTls() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
  }
  stopping_.NotifyAll();
  if (watcher_.joinable()) watcher_.join();
}

std::shared_ptr<tls::CertificateVerifier> WatchedTls::MakeVerifier() {
  return tls::ExternalCertificateVerifier::Create<Verifier>(shared_from_this(), options_.end);
}

absl::Status WatchedTls::Look() {
  MutexLock looking(&look_mu_);
  absl::Status status = TakeIfNew();
  Note(status);
  WarnOfExpiry();
  return status;
}

absl::Status WatchedTls::TakeIfNew() {
  VICINITY_ASSIGN_OR_RETURN(TlsMaterial fresh, ReadTlsFiles(options_.files, options_.end));
  if (fresh == material_) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(CheckSuccession(fresh));
  VICINITY_RETURN_IF_ERROR(Take(std::move(fresh)));
  next_warning_ = absl::InfinitePast();
  const TlsState now = state();
  const std::string until = now.expires == absl::InfiniteFuture()
                                ? ""
                                : absl::StrCat(", certificate until ", DateText(now.expires));
  options_.report(Severity::kInfo, absl::StrCat("new TLS files are in use", until, ", ",
                                                now.num_revoked, " revoked"));
  return absl::OkStatus();
}

absl::Status WatchedTls::CheckSuccession(const TlsMaterial& fresh) const {
  // The ca file has whom the other ends believe. A pair of somebody else would lock them all out.
  if (!material_.vouched_for || fresh.vouched_for) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(options_.files.certificate, ": no authority of ", options_.files.ca,
                   " vouches for the certificate, as one does for that before"));
}

absl::Status WatchedTls::Take(TlsMaterial fresh) {
  std::shared_ptr<const Revocations> revocations = std::make_shared<const Revocations>();
  if (!fresh.revoked.empty()) {
    VICINITY_ASSIGN_OR_RETURN(revocations,
                              Revocations::Parse(options_.files.revoked, fresh.revoked, fresh.ca));
  }
  if (fresh.ca != material_.ca) VICINITY_RETURN_IF_ERROR(authorities_.Set(fresh.ca));
  if (fresh.certificate != material_.certificate || fresh.key != material_.key) {
    VICINITY_RETURN_IF_ERROR(identity_.Set(absl::StrCat(fresh.key, fresh.certificate)));
  }
  MutexLock lock(&mu_);
  state_.expires = fresh.expires;
  state_.num_revoked = revocations->size();
  revocations_ = std::move(revocations);
  has_revoked_.store(state_.num_revoked > 0, std::memory_order_release);
  in_force_ = std::make_shared<const TlsMaterial>(fresh);
  material_ = std::move(fresh);
  return absl::OkStatus();
}

void WatchedTls::Note(const absl::Status& looked) {
  const std::string fault(looked.message());
  {
    MutexLock lock(&mu_);
    if (fault == state_.fault) return;
    state_.fault = fault;
  }
  if (fault.empty()) return;
  options_.report(Severity::kError,
                  absl::StrCat("TLS files are not taken, those before stay in use (certificate "
                               "until ",
                               DateText(material_.expires), "): ", fault));
}

void WatchedTls::WarnOfExpiry() {
  const absl::Time now = absl::Now();
  if (options_.files.certificate.empty() || now < next_warning_) return;
  if (material_.expires - now > kExpiryWarning) return;
  next_warning_ = now + absl::Hours(24);
  const bool over = material_.expires < now;
  options_.report(over ? Severity::kError : Severity::kWarning,
                  absl::StrCat(options_.files.certificate, ": the certificate ",
                               over ? "expired at " : "expires at ", DateText(material_.expires),
                               ": `vicinity certificate renew`, then put the new one here"));
}

void WatchedTls::Watch() {
  for (;;) {
    {
      MutexLock lock(&mu_);
      using Clock = std::chrono::steady_clock;
      const auto next = Clock::now() + absl::ToChronoNanoseconds(options_.look_every);
      for (auto now = Clock::now(); !stop_ && now < next; now = Clock::now()) {
        stopping_.WaitFor(&mu_, next - now);
      }
      if (stop_) return;
    }
    Look().IgnoreError();  // it was noted
  }
}

TlsState WatchedTls::state() const {
  MutexLock lock(&mu_);
  return state_;
}

TlsMaterial WatchedTls::material() const {
  std::shared_ptr<const TlsMaterial> in_force;
  {
    MutexLock lock(&mu_);
    in_force = in_force_;
  }
  return *in_force;
}

bool WatchedTls::IsRevoked(const std::string& certificate_pem) const {
  if (!HasRevoked()) return false;
  std::shared_ptr<const Revocations> revocations;
  {
    MutexLock lock(&mu_);
    revocations = revocations_;
  }
  return revocations->Contain(certificate_pem);
}

}  // namespace vicinity
