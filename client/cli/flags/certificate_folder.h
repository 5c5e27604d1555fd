// The folder of a certificate authority, as `vicinity certificate` keeps it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/common/folder_lock.h"
#include "proto/issued.pb.h"
#include "proto/security/authority.h"

namespace vicinity::cli {

//   ca.pem             whom servers and clients believe: goes to all of them
//   ca.key             signs certificates: stays here, and is to be kept
//   revoked.pem        what was taken back: goes to the servers
//   issued.textproto   what was issued (proto/issued.proto)
//   NAME.pem           key and certificate of one server or client: goes to that one alone
//
// Every change of a file is atomic, and one process at a time works in the folder.
//
// Threads: one.
class CertificateFolder {
 public:
  // Makes the folder if there is none. AlreadyExists if it has an authority.
  static absl::StatusOr<std::unique_ptr<CertificateFolder>> Create(const std::string& path,
                                                                   const std::string& authority,
                                                                   absl::Duration life);
  // NotFound if there is no authority; InvalidArgument or FailedPrecondition, naming the file, for
  // files that are not as they should be; what FolderLock::Take says.
  static absl::StatusOr<std::unique_ptr<CertificateFolder>> Open(const std::string& path,
                                                                 const LockWait& wait = {});
  CertificateFolder(const CertificateFolder&) = delete;
  CertificateFolder& operator=(const CertificateFolder&) = delete;

  struct Wish {
    std::string name;
    proto::CertificateKind kind = proto::CLIENT;
    std::vector<std::string> addresses;  // a server's
    absl::Duration life;
  };
  // A new name, or one whose certificates are all revoked. AlreadyExists for another.
  absl::Status Issue(const Wish& wish);
  // A new key and certificate for the same kind and addresses, in the same file. The one before is
  // good until it ends. NotFound for an unknown name; FailedPrecondition for a revoked one.
  absl::Status Renew(const std::string& name, absl::Duration life);
  // All certificates of that name that have not expired. NotFound for an unknown name.
  absl::Status Revoke(const std::string& name);

  const proto::IssuedCertificates& issued() const { return issued_; }
  // The names whose certificate is neither revoked nor replaced by a younger one, in order.
  std::vector<std::string> CurrentNames() const;
  // The youngest of a name. Null: unknown.
  const proto::IssuedCertificate* Youngest(const std::string& name) const;
  absl::Time authority_expires() const { return authority_.expires(); }
  std::string File(const std::string& name) const;  // of that name, in the folder

 private:
  CertificateFolder(std::string path, FolderLock lock, Authority authority)
      : path_(std::move(path)), lock_(std::move(lock)), authority_(std::move(authority)) {}
  absl::Status Hand(const Wish& wish, bool replace);
  absl::Status WriteIssued() const;
  absl::Status WriteRevoked() const;

  const std::string path_;
  const FolderLock lock_;
  const Authority authority_;
  proto::IssuedCertificates issued_;
};

// The time of a field of IssuedCertificate.
absl::StatusOr<absl::Time> ParseMoment(const std::string& text);

}  // namespace vicinity::cli
