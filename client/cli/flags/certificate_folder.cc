#include "client/cli/flags/certificate_folder.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/file.h"
#include "proto/common/folder_lock.h"
#include "proto/common/status.h"
#include "proto/security/certificates.h"
#include "proto/security/guarded_file.h"

namespace vicinity::cli {
namespace {

constexpr char kCertificate[] = "ca.pem";
constexpr char kKey[] = "ca.key";
constexpr char kRevoked[] = "revoked.pem";
constexpr char kIssued[] = "issued.textproto";
constexpr char kHeader[] =
    "# What this CA has issued. `vicinity certificate` writes it; it is needed to revoke.\n";

std::string Join(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

std::string MomentText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<Authority> ReadAuthority(const std::string& path) {
  const absl::StatusOr<std::string> certificate = ReadFile(Join(path, kCertificate));
  if (absl::IsNotFound(certificate.status())) {
    return absl::NotFoundError(absl::StrCat(Join(path, kCertificate),
                                            ": there is no CA; `vicinity certificate ca --folder ",
                                            path, "` makes one"));
  }
  if (!certificate.ok()) return certificate.status();
  VICINITY_ASSIGN_OR_RETURN(const std::string key, ReadSecretFile(Join(path, kKey)));
  absl::StatusOr<Authority> authority = Authority::FromPem(*certificate, key);
  if (!authority.ok()) return At(Join(path, kKey), authority.status());
  return authority;
}

bool IsOver(const proto::IssuedCertificate& certificate) {
  const absl::StatusOr<absl::Time> expires = ParseMoment(certificate.expires());
  return expires.ok() && *expires < absl::Now();
}

}  // namespace

absl::StatusOr<absl::Time> ParseMoment(const std::string& text) {
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return time;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is no time: ", error));
}

absl::StatusOr<std::unique_ptr<CertificateFolder>> CertificateFolder::Create(
    const std::string& path, const std::string& authority, absl::Duration life) {
  VICINITY_ASSIGN_OR_RETURN(Authority made, Authority::Make(authority, life));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return ErrnoStatus(error.value(), path, "create");
  VICINITY_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(path));
  std::unique_ptr<CertificateFolder> folder(
      new CertificateFolder(path, std::move(lock), std::move(made)));
  for (const char* name : {kKey, kCertificate, kIssued}) {
    if (!std::filesystem::exists(Join(path, name))) continue;
    return absl::AlreadyExistsError(
        absl::StrCat(Join(path, name), ": there is a CA already; choose another --folder"));
  }
  VICINITY_RETURN_IF_ERROR(
      WriteSecretFile(Join(path, kKey), folder->authority_.key(), IfThere::kFail));
  VICINITY_RETURN_IF_ERROR(folder->WriteIssued());
  VICINITY_RETURN_IF_ERROR(folder->WriteRevoked());
  // Last: what it is there for says that the rest is.
  VICINITY_RETURN_IF_ERROR(
      WriteFileAtomically(Join(path, kCertificate), folder->authority_.certificate()));
  return folder;
}

absl::StatusOr<std::unique_ptr<CertificateFolder>> CertificateFolder::Open(const std::string& path,
                                                                           const LockWait& wait) {
  VICINITY_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(path, wait));
  VICINITY_ASSIGN_OR_RETURN(Authority authority, ReadAuthority(path));
  std::unique_ptr<CertificateFolder> folder(
      new CertificateFolder(path, std::move(lock), std::move(authority)));
  const std::string issued = Join(path, kIssued);
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(issued));
  VICINITY_RETURN_IF_ERROR(ParseTextProto(issued, text, &folder->issued_));
  return folder;
}

std::string CertificateFolder::File(const std::string& name) const {
  return Join(path_, name + ".pem");
}

const proto::IssuedCertificate* CertificateFolder::Youngest(const std::string& name) const {
  const proto::IssuedCertificate* found = nullptr;
  for (const proto::IssuedCertificate& certificate : issued_.certificates()) {
    if (certificate.name() == name) found = &certificate;
  }
  return found;
}

std::vector<std::string> CertificateFolder::CurrentNames() const {
  std::vector<std::string> names;
  for (const proto::IssuedCertificate& certificate : issued_.certificates()) {
    const bool youngest = Youngest(certificate.name()) == &certificate;
    if (youngest && certificate.revoked().empty()) names.push_back(certificate.name());
  }
  return names;
}

absl::Status CertificateFolder::Issue(const Wish& wish) {
  if (wish.name == "ca" || wish.name == "revoked") {
    return absl::InvalidArgumentError(
        absl::StrCat("a certificate cannot be named ", wish.name, ": a file of the CA is"));
  }
  const proto::IssuedCertificate* const before = Youngest(wish.name);
  if (before != nullptr && before->revoked().empty()) {
    return absl::AlreadyExistsError(absl::StrCat(
        File(wish.name), ": ", wish.name, " has a certificate until ", before->expires(),
        "; `vicinity certificate renew ", wish.name, "` makes the next"));
  }
  return Hand(wish, /*replace=*/before != nullptr);
}

absl::Status CertificateFolder::Renew(const std::string& name, absl::Duration life) {
  const proto::IssuedCertificate* const before = Youngest(name);
  if (before == nullptr) {
    return absl::NotFoundError(absl::StrCat(path_, ": no certificate of the name ", name));
  }
  if (!before->revoked().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " was revoked at ", before->revoked(), ": issue it anew instead"));
  }
  return Hand(
      {name, before->kind(), {before->addresses().begin(), before->addresses().end()}, life},
      /*replace=*/true);
}

absl::Status CertificateFolder::Hand(const Wish& wish, bool replace) {
  Authority::Wish asked;
  asked.name = wish.name;
  asked.end = wish.kind == proto::SERVER ? TlsEnd::kServer : TlsEnd::kClient;
  asked.addresses = wish.addresses;
  asked.life = wish.life;
  if (authority_.expires() <= absl::Now()) {
    return absl::FailedPreconditionError(absl::StrCat(
        Join(path_, kCertificate), ": the CA expired at ", DateText(authority_.expires())));
  }
  VICINITY_ASSIGN_OR_RETURN(const Authority::Issued made, authority_.Issue(asked));
  if (!replace && std::filesystem::exists(File(wish.name))) {
    return absl::AlreadyExistsError(
        absl::StrCat(File(wish.name), ": is there and was not made here; it stays"));
  }
  proto::IssuedCertificate* const noted = issued_.add_certificates();
  noted->set_name(wish.name);
  noted->set_kind(wish.kind);
  for (const std::string& address : wish.addresses) noted->add_addresses(address);
  noted->set_serial(made.serial);
  noted->set_issued(MomentText(absl::Now()));
  noted->set_expires(MomentText(made.expires));
  VICINITY_RETURN_IF_ERROR(WriteIssued());
  return WriteSecretFile(File(wish.name), absl::StrCat(made.key, made.certificate),
                         replace ? IfThere::kReplace : IfThere::kFail);
}

absl::Status CertificateFolder::Revoke(const std::string& name) {
  if (Youngest(name) == nullptr) {
    return absl::NotFoundError(absl::StrCat(path_, ": no certificate of the name ", name));
  }
  for (proto::IssuedCertificate& certificate : *issued_.mutable_certificates()) {
    if (certificate.name() != name || !certificate.revoked().empty()) continue;
    certificate.set_revoked(MomentText(absl::Now()));
  }
  VICINITY_RETURN_IF_ERROR(WriteIssued());
  return WriteRevoked();
}

absl::Status CertificateFolder::WriteIssued() const {
  std::string text;
  google::protobuf::TextFormat::PrintToString(issued_, &text);
  return WriteFileAtomically(Join(path_, kIssued), absl::StrCat(kHeader, text));
}

absl::Status CertificateFolder::WriteRevoked() const {
  std::vector<Authority::Revoked> revoked;
  for (const proto::IssuedCertificate& certificate : issued_.certificates()) {
    // What has expired is refused for that.
    if (certificate.revoked().empty() || IsOver(certificate)) continue;
    absl::StatusOr<absl::Time> when = ParseMoment(certificate.revoked());
    if (!when.ok()) return At(Join(path_, kIssued), when.status());
    revoked.push_back({certificate.serial(), *when});
  }
  VICINITY_ASSIGN_OR_RETURN(const std::string list, authority_.List(revoked));
  return WriteFileAtomically(Join(path_, kRevoked), list);
}

}  // namespace vicinity::cli
