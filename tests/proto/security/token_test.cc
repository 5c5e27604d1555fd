#include "proto/security/token.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("tokens look like tokens and differ", "[token]") {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string token, MakeToken());
    CHECK(LooksLikeToken(token));
    CHECK(seen.insert(token).second);
  }
}

TEST_CASE("other text does not look like a token", "[token]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string token, MakeToken());
  CHECK_FALSE(LooksLikeToken(""));
  CHECK_FALSE(LooksLikeToken(token + "a"));
  CHECK_FALSE(LooksLikeToken(token.substr(1)));
  CHECK_FALSE(LooksLikeToken("xyz_" + token.substr(4)));
  CHECK_FALSE(LooksLikeToken(token.substr(0, token.size() - 1) + "\n"));
}

TEST_CASE("the hash of a token is its SHA-256", "[token]") {
  // FIPS 180-2, appendix B.1.
  CHECK(absl::BytesToHexString(HashToken("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("two hashes are the same only if every byte is", "[token]") {
  const std::string hash = HashToken("abc");
  CHECK(SameHash(hash, HashToken("abc")));
  CHECK_FALSE(SameHash(hash, HashToken("abd")));
  CHECK_FALSE(SameHash(hash, ""));
  for (size_t i = 0; i < hash.size(); ++i) {
    std::string other = hash;
    other[i] = static_cast<char>(other[i] ^ 1);
    CHECK_FALSE(SameHash(hash, other));
  }
}

}  // namespace
}  // namespace vicinity
