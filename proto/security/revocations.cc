#include "proto/security/revocations.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

// More certificates than that at once are not remembered one by one.
constexpr size_t kMostKnown = 4096;

bool IsSignedByOneOf(X509_CRL* list, const std::vector<openssl::Certificate>& authorities) {
  return std::any_of(
      authorities.begin(), authorities.end(), [list](const openssl::Certificate& authority) {
        return X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_subject_name(authority.get())) ==
                   0 &&
               X509_CRL_verify(list, X509_get0_pubkey(authority.get())) == 1;
      });
}

int64_t SizeOf(X509_CRL* list) {
  return std::max(0, sk_X509_REVOKED_num(X509_CRL_get_REVOKED(list)));  // -1: there is no stack
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Revocations>> Revocations::Parse(const std::string& path,
                                                                      const std::string& pem,
                                                                      const std::string& ca_pem) {
  std::vector<openssl::RevocationList> lists;
  if (!openssl::ParseAll(pem, &lists) || lists.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": holds no whole list of revoked certificates (CRL) in PEM"));
  }
  std::vector<openssl::Certificate> authorities;
  openssl::ParseAll(ca_pem, &authorities);
  for (const openssl::RevocationList& list : lists) {
    if (IsSignedByOneOf(list.get(), authorities)) continue;
    openssl::LastError();
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the list is not signed by an authority of the `ca` file"));
  }
  return std::shared_ptr<const Revocations>(new Revocations(std::move(lists)));
}

int64_t Revocations::size() const {
  int64_t size = 0;
  for (const openssl::RevocationList& list : lists_) size += SizeOf(list.get());
  return size;
}

bool Revocations::Contain(const std::string& certificate_pem) const {
  if (size() == 0) return false;
  {
    MutexLock lock(&mu_);
    const auto found = known_.find(certificate_pem);
    if (found != known_.end()) return found->second;
  }
  const bool revoked = Find(certificate_pem);
  MutexLock lock(&mu_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(certificate_pem, revoked);
  return revoked;
}

bool Revocations::Find(const std::string& certificate_pem) const {
  std::vector<openssl::Certificate> certificates;
  openssl::ParseAll(certificate_pem, &certificates);
  if (certificates.empty()) return true;
  X509* const certificate = certificates.front().get();
  return std::any_of(lists_.begin(), lists_.end(), [&](const openssl::RevocationList& list) {
    X509_REVOKED* entry = nullptr;
    return X509_NAME_cmp(X509_CRL_get_issuer(list.get()), X509_get_issuer_name(certificate)) == 0 &&
           X509_CRL_get0_by_cert(list.get(), &entry, certificate) == 1;
  });
}

}  // namespace vicinity
