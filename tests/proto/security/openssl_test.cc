#include "proto/security/openssl.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/testing/hosts/certificate_authority.h"

namespace vicinity::openssl {
namespace {

TEST_CASE("all certificates of a text are read, and what is cut off is told", "[openssl]") {
  const testing::CertificateAuthority authority("authority");
  const testing::IssuedCertificate issued = authority.Issue({});
  const std::string both = issued.certificate + authority.certificate();
  std::vector<Certificate> found;
  CHECK(ParseAll(issued.key + both, &found));
  REQUIRE(found.size() == 2);
  CHECK(ToPem(*found[0]) + ToPem(*found[1]) == both);
  for (const size_t cut : {size_t{1}, size_t{40}, both.size() / 2, both.size() - 40}) {
    CAPTURE(cut);
    std::vector<Certificate> some;
    // A text that ends before the second begins is whole.
    const bool whole = ParseAll(both.substr(0, cut), &some);
    CHECK(whole == (cut < 20));
    CHECK(some.size() < 2);
  }
}

TEST_CASE("a key is read from among other things", "[openssl]") {
  const testing::CertificateAuthority authority("authority");
  const testing::IssuedCertificate issued = authority.Issue({});
  const Key key = ParseKey(issued.certificate + issued.key);
  REQUIRE(key != nullptr);
  CHECK(ToPem(*key) == issued.key);
  CHECK(ParseKey(issued.certificate) == nullptr);
  CHECK(ParseKey(issued.key.substr(0, 80)) == nullptr);
  CHECK(ParseKey("") == nullptr);
}

}  // namespace
}  // namespace vicinity::openssl
