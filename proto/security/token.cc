#include "proto/security/token.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

constexpr char kPrefix[] = "vct_";
constexpr size_t kTokenLength = 4 + 43;

}  // namespace

absl::StatusOr<std::string> MakeToken() {
  std::array<unsigned char, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return absl::InternalError("the system gives no random numbers");
  }
  const absl::string_view bytes(reinterpret_cast<const char*>(random.data()), random.size());
  return absl::StrCat(kPrefix, absl::WebSafeBase64Escape(bytes));
}

bool LooksLikeToken(absl::string_view text) {
  return text.size() == kTokenLength && absl::StartsWith(text, kPrefix) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_';
         });
}

std::string HashToken(absl::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  return std::string(reinterpret_cast<const char*>(hash.data()), hash.size());
}

bool SameHash(absl::string_view a, absl::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace vicinity
