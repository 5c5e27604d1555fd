#include "proto/security/token_source.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "proto/security/guarded_file.h"
#include "proto/security/token.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLookEvery(10);

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadSecretFile(path));
  std::string token(absl::StripAsciiWhitespace(text));
  if (LooksLikeToken(token)) return token;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is not a token as `vicinity token` makes them"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenSource>> TokenSource::FromText(const std::string& token) {
  if (!LooksLikeToken(token)) {
    return absl::InvalidArgumentError("is not a token as `vicinity token` makes them");
  }
  return std::unique_ptr<TokenSource>(new TokenSource("", token));
}

absl::StatusOr<std::unique_ptr<TokenSource>> TokenSource::FromFile(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(std::string token, ReadToken(path));
  return std::unique_ptr<TokenSource>(new TokenSource(path, std::move(token)));
}

TokenSource::TokenSource(std::string path, std::string token)
    : path_(std::move(path)),
      token_(std::move(token)),
      next_look_(std::chrono::steady_clock::now() + kLookEvery) {}

std::string TokenSource::Get() {
  const auto now = std::chrono::steady_clock::now();
  {
    MutexLock lock(&mu_);
    if (path_.empty() || now < next_look_) return token_;
    next_look_ = now + kLookEvery;  // one caller looks, the others go on with the old one
  }
  absl::StatusOr<std::string> fresh = ReadToken(path_);
  MutexLock lock(&mu_);
  if (fresh.ok()) token_ = *std::move(fresh);
  return token_;
}

}  // namespace vicinity
