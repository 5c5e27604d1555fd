// Files whose permissions matter: secrets that nobody else may read, and lists that nobody else
// may change.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// The whole of a small file (up to 1 MiB) that holds a secret. FailedPrecondition naming the
// file, its permissions and the command that mends them if others could read it: it must be
// closed to them, and to its group unless root owns it, as files mounted into containers are.
// NotFound, PermissionDenied or Unavailable as ReadFile.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);

// The same for a list that others may read but not write: it belongs to root or to who runs this,
// or FailedPrecondition names its owner.
absl::StatusOr<std::string> ReadTrustedFile(const std::string& path);

enum class IfThere { kFail, kReplace };

// Writes a secret, for its owner alone: beside `path`, synced, then put there whole, so that
// nobody ever sees half of it. AlreadyExists if there is such a file and it is not to be replaced;
// else what ErrnoStatus says. Nothing is left behind on failure.
absl::Status WriteSecretFile(const std::string& path, absl::string_view bytes, IfThere if_there);

}  // namespace vicinity
