#include "proto/security/revocations.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/security/authority.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("lists of several authorities go together, each for its own certificates",
          "[revocations]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority first, Authority::Make("one", absl::Hours(10)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority second, Authority::Make("two", absl::Hours(10)));
  const Authority::Wish wish{"trainer", TlsEnd::kClient, {}, absl::Hours(1)};
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority::Issued of_first, first.Issue(wish));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority::Issued of_second, second.Issue(wish));
  const std::string both = first.certificate() + second.certificate();
  // The second's serial on the first's list says nothing.
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::string list,
      first.List({{of_first.serial, absl::Now()}, {of_second.serial, absl::Now()}}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string empty, second.List({}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto read, Revocations::Parse("l", list + empty, both));
  CHECK(read->Contain(of_first.certificate));
  CHECK_FALSE(read->Contain(of_second.certificate));
  CHECK(read->Contain("no certificate"));
  CHECK_FALSE(Revocations().Contain(of_first.certificate));
}

TEST_CASE("what is no list, half of one, or somebody else's is refused", "[revocations]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority own, Authority::Make("one", absl::Hours(10)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority other, Authority::Make("one", absl::Hours(10)));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string list, own.List({}));
  VICINITY_CHECK_OK(Revocations::Parse("l", list, own.certificate()));
  for (const std::string& text :
       {std::string(), std::string("junk"), list.substr(0, 120), list + list.substr(0, 120)}) {
    VICINITY_CHECK_CODE(Revocations::Parse("l", text, own.certificate()),
                        absl::StatusCode::kInvalidArgument);
  }
  // Of the same name, but not the same key.
  VICINITY_CHECK_CODE(Revocations::Parse("l", list, other.certificate()),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(Revocations::Parse("l", list, ""), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
