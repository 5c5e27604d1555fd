// Who may call what: the one place that decides it, for every RPC of every port.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Each role may also do what those before it may.
enum class Role : int { kNone = 0, kRead = 1, kWrite = 2, kAdmin = 3 };

// "none", "read", "write", "admin".
absl::string_view NameOf(Role role);

// What it takes to call `method`, a path as in "/vicinity.proto.Graph/FetchRows": nothing for
// health, kRead for the graph and for reflection, kWrite for Apply, Replicate and Carry, kAdmin for
// all else, so that a service that nobody has thought of here is not open.
Role RoleNeeded(absl::string_view method);

// What a caller shows.
struct Caller {
  std::vector<std::string> authorization;  // values of that header: "Bearer vct_..."
  bool certified = false;                  // a client certificate that the server's CA vouches for
  std::vector<std::string> names;          // its subjectAltName
  std::string common_name = {};            // of its subject
};

// One line of the access file (proto/access.proto), checked.
struct Grant {
  std::string name;
  Role role = Role::kNone;
  std::string token_hash;   // 32 bytes; empty: the grant is a certificate's
  std::string certificate;  // the name that it is made out to
};

// The grants of an access file's text. InvalidArgument, beginning with `path` and the place, for
// what is not text format, a grant without name or role, a name used twice, neither or both of
// token and certificate, a hash that is none.
absl::StatusOr<std::vector<Grant>> ParseGrants(const std::string& path, const std::string& text);

// A certified caller may read, and that alone without a file. The grants of a file add to it: one
// to the name in the certificate, one to a token that is shown beside it. Who has no certificate,
// where servers do not want any, has what the token is granted.
//
// Threads: all methods from any number at once; a reload is seen by calls that begin after it.
class AccessControl {
 public:
  // An empty path: no file. Errors as ParseGrants, and those of ReadTrustedFile: nobody else may
  // write to the file.
  static absl::StatusOr<std::unique_ptr<AccessControl>> Load(const std::string& access_file);

  // Reads the file again. On an error, which is as Load's, everything stays as it is.
  absl::Status Reload();
  int32_t num_grants() const;  // 0: no file

  // Who the caller is to the log: its identity, with the grant of its token ("cron, token ops");
  // "anybody" for what needs no role. Unauthenticated if the caller shows nothing, or a token that
  // is not known, whatever it shows beside it; PermissionDenied if its role is too small. Texts say
  // what to do and never repeat what was shown.
  absl::StatusOr<std::string> Check(absl::string_view method, const Caller& caller) const;

  // Whom the calls of one that Check lets in count for. If certified: the name of the grant to its
  // certificate, else what the certificate calls it, by subjectAltName before common name. If not:
  // the name of its token's grant. Empty: neither.
  std::string IdentityOf(const Caller& caller) const;

 private:
  using Grants = std::vector<Grant>;

  AccessControl(std::string access_file, std::shared_ptr<const Grants> grants)
      : access_file_(std::move(access_file)), grants_(std::move(grants)) {}
  std::shared_ptr<const Grants> grants() const;

  const std::string access_file_;  // empty: none
  mutable Mutex mu_;
  // Shared with the calls that are being checked against it.
  std::shared_ptr<const Grants> grants_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
