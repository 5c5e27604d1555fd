// Certificates that their authorities have taken back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "proto/common/mutex.h"
#include "proto/security/openssl.h"

namespace vicinity {

// Lists of revoked certificates (X.509 CRLs), each of one authority. When a list says that its
// successor should be out makes no difference: a server whose list is old goes on by it.
//
// Threads: any number may ask.
class Revocations {
 public:
  // Nothing is revoked.
  Revocations() : lists_() {}
  // The lists in a PEM text. InvalidArgument, beginning with `path`, for a text without a whole
  // list, and for a list that none of the authorities in `ca_pem` signed.
  static absl::StatusOr<std::shared_ptr<const Revocations>> Parse(const std::string& path,
                                                                  const std::string& pem,
                                                                  const std::string& ca_pem);

  int64_t size() const;
  // Whether a certificate in PEM is on one of them. What is no certificate counts as revoked. The
  // answer for a certificate is remembered, so asking about it with every call is cheap.
  bool Contain(const std::string& certificate_pem) const;

 private:
  explicit Revocations(std::vector<openssl::RevocationList> lists) : lists_(std::move(lists)) {}
  bool Find(const std::string& certificate_pem) const;

  const std::vector<openssl::RevocationList> lists_;
  mutable Mutex mu_;
  mutable absl::flat_hash_map<std::string, bool> known_ ABSL_GUARDED_BY(mu_);  // by certificate
};

}  // namespace vicinity
