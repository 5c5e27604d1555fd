// The token that a client shows with each call.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any.
// Cost:    a copy of the text, and a look at the file every ten seconds.
class TokenSource {
 public:
  // InvalidArgument if `token` does not look like one; the text is not repeated.
  static absl::StatusOr<std::unique_ptr<TokenSource>> FromText(const std::string& token);
  // Its only line. Also the errors of ReadSecretFile; all name the file.
  static absl::StatusOr<std::unique_ptr<TokenSource>> FromFile(const std::string& path);

  // The token as it is now. A file that cannot be read, or holds no token, changes nothing: it may
  // be half written.
  std::string Get();

 private:
  TokenSource(std::string path, std::string token);

  const std::string path_;  // empty: the token stays
  Mutex mu_;
  std::string token_ ABSL_GUARDED_BY(mu_);
  std::chrono::steady_clock::time_point next_look_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
