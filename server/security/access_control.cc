#include "server/security/access_control.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/access.pb.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/status.h"
#include "proto/security/guarded_file.h"
#include "proto/security/token.h"

namespace vicinity {
namespace {

// "/package.Service/Method" -> "package.Service"; empty for what has no such form.
absl::string_view ServiceOf(absl::string_view method) {
  const size_t end = method.rfind('/');
  if (!absl::ConsumePrefix(&method, "/") || end == absl::string_view::npos || end == 0) return "";
  return method.substr(0, end - 1);
}

absl::StatusOr<Grant> CheckGrant(const proto::Grant& stored) {
  Grant grant;
  grant.name = stored.name();
  grant.certificate = stored.certificate();
  if (stored.role() == proto::ROLE_UNSPECIFIED) {
    return absl::InvalidArgumentError("has no role: READ, WRITE or ADMIN");
  }
  grant.role = static_cast<Role>(stored.role());
  const std::string& hex = stored.token_sha256();
  if (hex.empty() == grant.certificate.empty()) {
    return absl::InvalidArgumentError("needs one of token_sha256 and certificate");
  }
  if (hex.empty()) return grant;
  if (hex.size() != 64 || !std::all_of(hex.begin(), hex.end(), absl::ascii_isxdigit)) {
    return absl::InvalidArgumentError("token_sha256 is not 64 hexadecimal digits");
  }
  grant.token_hash = absl::HexStringToBytes(hex);
  return grant;
}

absl::StatusOr<std::vector<Grant>> ReadGrants(const std::string& path) {
  if (path.empty()) return std::vector<Grant>();
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadTrustedFile(path));
  return ParseGrants(path, text);
}

// Of the one token that a caller shows; empty if it shows none, or what is none.
std::string HashOfToken(const Caller& caller) {
  if (caller.authorization.size() != 1) return "";
  absl::string_view value = caller.authorization.front();
  return absl::ConsumePrefix(&value, "Bearer ") ? HashToken(value) : "";
}

// Null: none. Looks at all grants and compares hashes in constant time, so that its own time tells
// nothing.
const Grant* GrantOfToken(const std::vector<Grant>& grants, const std::string& token_hash) {
  const Grant* found = nullptr;
  for (const Grant& grant : grants) {
    if (!grant.token_hash.empty() && SameHash(grant.token_hash, token_hash)) found = &grant;
  }
  return found;
}

// The strongest of those to a name of the caller's certificate. Null: none.
const Grant* GrantOfCertificate(const std::vector<Grant>& grants, const Caller& caller) {
  const Grant* best = nullptr;
  for (const Grant& grant : grants) {
    if (!caller.certified || grant.certificate.empty()) continue;
    const bool matches = std::find(caller.names.begin(), caller.names.end(), grant.certificate) !=
                         caller.names.end();
    if (matches && (best == nullptr || grant.role > best->role)) best = &grant;
  }
  return best;
}

// What its certificate, or the grant to it, calls a certified caller.
std::string CertifiedName(const std::vector<Grant>& grants, const Caller& caller) {
  if (const Grant* grant = GrantOfCertificate(grants, caller); grant != nullptr) return grant->name;
  if (!caller.names.empty()) return caller.names.front();
  // Not what it calls itself: it could be as many clients as it likes.
  return caller.common_name.empty() ? "a certificate without a name" : caller.common_name;
}

std::string NameToLog(const std::vector<Grant>& grants, const Caller& caller,
                      const Grant* by_token) {
  if (!caller.certified) return by_token->name;
  const std::string name = CertifiedName(grants, caller);
  return by_token == nullptr ? name : absl::StrCat(name, ", token ", by_token->name);
}

Role RoleOf(const Grant* grant) { return grant == nullptr ? Role::kNone : grant->role; }

}  // namespace

absl::string_view NameOf(Role role) {
  switch (role) {
    case Role::kNone:
      return "none";
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    case Role::kAdmin:
      return "admin";
  }
  return "unknown";
}

Role RoleNeeded(absl::string_view method) {
  const absl::string_view service = ServiceOf(method);
  if (service == "grpc.health.v1.Health") return Role::kNone;
  if (method == "/vicinity.proto.Graph/Apply" || method == "/vicinity.proto.Graph/Replicate" ||
      method == "/vicinity.proto.Graph/Carry") {
    return Role::kWrite;
  }
  if (service == "vicinity.proto.Graph" || service == "vicinity.proto.Bulk" ||
      service == "grpc.reflection.v1alpha.ServerReflection") {
    return Role::kRead;
  }
  return Role::kAdmin;
}

absl::StatusOr<std::vector<Grant>> ParseGrants(const std::string& path, const std::string& text) {
  proto::Access stored;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(path, text, &stored));
  std::vector<Grant> grants;
  std::set<std::string> names;
  for (int i = 0; i < stored.grants_size(); ++i) {
    const std::string& name = stored.grants(i).name();
    if (name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": grant ", i + 1, " has no name"));
    }
    const std::string where = absl::StrCat(path, ": grant \"", name, "\"");
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, " is there twice"));
    }
    absl::StatusOr<Grant> grant = CheckGrant(stored.grants(i));
    if (!grant.ok())
      return absl::InvalidArgumentError(absl::StrCat(where, " ", grant.status().message()));
    grants.push_back(*std::move(grant));
  }
  return grants;
}

absl::StatusOr<std::unique_ptr<AccessControl>> AccessControl::Load(const std::string& access_file) {
  VICINITY_ASSIGN_OR_RETURN(Grants grants, ReadGrants(access_file));
  return std::unique_ptr<AccessControl>(
      new AccessControl(access_file, std::make_shared<const Grants>(std::move(grants))));
}

absl::Status AccessControl::Reload() {
  VICINITY_ASSIGN_OR_RETURN(Grants grants, ReadGrants(access_file_));
  auto fresh = std::make_shared<const Grants>(std::move(grants));
  MutexLock lock(&mu_);
  grants_ = std::move(fresh);
  return absl::OkStatus();
}

int32_t AccessControl::num_grants() const { return static_cast<int32_t>(grants()->size()); }

std::shared_ptr<const AccessControl::Grants> AccessControl::grants() const {
  MutexLock lock(&mu_);
  return grants_;
}

absl::StatusOr<std::string> AccessControl::Check(absl::string_view method,
                                                 const Caller& caller) const {
  const Role needed = RoleNeeded(method);
  if (needed == Role::kNone) return std::string("anybody");
  if (caller.authorization.size() > 1) {
    return absl::UnauthenticatedError("the call shows several tokens, one is needed");
  }
  const std::string token_hash = HashOfToken(caller);
  if (token_hash.empty() && !caller.authorization.empty()) {
    return absl::UnauthenticatedError("the call's authorization is not \"Bearer TOKEN\"");
  }
  const std::shared_ptr<const Grants> grants = this->grants();
  const Grant* const by_token = GrantOfToken(*grants, token_hash);
  if (!token_hash.empty() && by_token == nullptr) {
    return absl::UnauthenticatedError(
        "the token is not one that this server knows: revoked, mistyped, or of another cluster");
  }
  if (!caller.certified && by_token == nullptr) {
    return absl::UnauthenticatedError(
        "this server answers only callers with a token: give its file as --token-file or in "
        "VICINITY_TOKEN_FILE");
  }
  const Role role = std::max({caller.certified ? Role::kRead : Role::kNone, RoleOf(by_token),
                              RoleOf(GrantOfCertificate(*grants, caller))});
  if (role >= needed) return NameToLog(*grants, caller, by_token);
  return absl::PermissionDeniedError(absl::StrCat("the call needs the role ", NameOf(needed),
                                                  " and the caller has the role ", NameOf(role)));
}

std::string AccessControl::IdentityOf(const Caller& caller) const {
  const std::shared_ptr<const Grants> grants = this->grants();
  if (caller.certified) return CertifiedName(*grants, caller);
  const Grant* const grant = GrantOfToken(*grants, HashOfToken(caller));
  return grant == nullptr ? "" : grant->name;
}

}  // namespace vicinity
