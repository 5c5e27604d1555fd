// Bearer tokens: how they are made, and what is kept of them.
//
// A token is 256 random bits. So its SHA-256 tells nobody anything: there is no list of likely
// tokens to try, which is what salts and slow hashes are for. Servers keep the hash alone, and
// whoever reads their files cannot call them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// "vct_" and 43 letters, digits, '-' and '_': 256 bits of the system's random numbers in base64url.
// The prefix is for scanners that look for secrets in the wrong place. Internal if the system has
// no random numbers.
absl::StatusOr<std::string> MakeToken();

// Whether `text` has the form of a token: a slip, such as a file of something else, is told early.
bool LooksLikeToken(absl::string_view text);

// The 32 bytes of a token's SHA-256.
std::string HashToken(absl::string_view token);

// Whether two hashes are the same, in time that does not depend on where they differ.
bool SameHash(absl::string_view a, absl::string_view b);

}  // namespace vicinity
