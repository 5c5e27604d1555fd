#include "server/security/access_control.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/security/token.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr char kRows[] = "/vicinity.proto.Graph/FetchRows";
constexpr char kApply[] = "/vicinity.proto.Graph/Apply";
constexpr char kDrain[] = "/vicinity.proto.Admin/Drain";
constexpr char kHealth[] = "/grpc.health.v1.Health/Check";

std::string TokenGrant(const std::string& name, const std::string& role, const std::string& token) {
  return absl::StrCat("grants { name: '", name, "' role: ", role, " token_sha256: '",
                      absl::BytesToHexString(HashToken(token)), "' }\n");
}

Caller WithToken(const std::string& token) { return {{"Bearer " + token}, false, {}}; }
Caller WithCertificate(std::vector<std::string> names) { return {{}, true, std::move(names)}; }

class AccessTest {
 protected:
  std::unique_ptr<AccessControl> Load(const std::string& text) const {
    Write(text);
    auto access = AccessControl::Load(path_);
    VICINITY_REQUIRE_OK(access);
    return *std::move(access);
  }
  void Write(const std::string& text) const {
    VICINITY_REQUIRE_OK(WriteFileAtomically(path_, text));
  }

  const testing::TempDir folder_;
  const std::string path_ = folder_.File("access.textproto");
  const std::string reader_ = MakeToken().value();
  const std::string admin_ = MakeToken().value();
  const std::string both_ = TokenGrant("trainer", "READ", reader_) +
                            TokenGrant("ops", "ADMIN", admin_) +
                            "grants { name: 'cron' role: ADMIN certificate: 'cron.example' }\n";
};

TEST_CASE("only health needs no role, and unknown services need the highest", "[access]") {
  CHECK(RoleNeeded(kHealth) == Role::kNone);
  CHECK(RoleNeeded("/grpc.health.v1.Health/Watch") == Role::kNone);
  CHECK(RoleNeeded(kRows) == Role::kRead);
  CHECK(RoleNeeded(kApply) == Role::kWrite);
  CHECK(RoleNeeded("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") ==
        Role::kRead);
  CHECK(RoleNeeded(kDrain) == Role::kAdmin);
  for (const char* odd :
       {"", "/", "grpc.health.v1.Health", "/grpc.health.v1.Health", "/grpc.health.v1.HealthX/Check",
        "//grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Check/", "/x/Health/Check",
        "/vicinity.proto.graph/FetchRows", "/vicinity.proto.Graph/FetchRows/.."}) {
    CAPTURE(odd);
    CHECK(RoleNeeded(odd) == Role::kAdmin);
  }
}

TEST_CASE_METHOD(AccessTest, "a token may do what its role allows", "[access]") {
  const auto access = Load(both_);
  CHECK(access->num_grants() == 3);
  CHECK(access->Check(kRows, WithToken(reader_)).value() == "trainer");
  VICINITY_CHECK_CODE(access->Check(kDrain, WithToken(reader_)),
                      absl::StatusCode::kPermissionDenied);
  VICINITY_CHECK_CODE(access->Check(kApply, WithToken(reader_)),
                      absl::StatusCode::kPermissionDenied);
  CHECK(access->Check(kRows, WithToken(admin_)).value() == "ops");
  CHECK(access->Check(kApply, WithToken(admin_)).value() == "ops");
  CHECK(access->Check(kDrain, WithToken(admin_)).value() == "ops");
}

TEST_CASE_METHOD(AccessTest, "a certificate may do what the grant of one of its names allows",
                 "[access]") {
  const auto access = Load(both_);
  CHECK(access->Check(kDrain, WithCertificate({"x.example", "cron.example"})).value() == "cron");
  // Without a grant it reads.
  CHECK(access->Check(kRows, WithCertificate({"x.example"})).value() == "x.example");
  for (const char* const more : {kApply, kDrain}) {
    VICINITY_CHECK_CODE(access->Check(more, WithCertificate({"x.example"})),
                        absl::StatusCode::kPermissionDenied);
  }
  Caller claimed = WithCertificate({"cron.example"});
  claimed.certified = false;
  VICINITY_CHECK_CODE(access->Check(kRows, claimed), absl::StatusCode::kUnauthenticated);
}

TEST_CASE_METHOD(AccessTest, "a token adds its role to the identity of a certificate", "[access]") {
  const auto access = Load(both_);
  Caller caller = WithCertificate({"x.example"});
  caller.authorization = {"Bearer " + admin_};
  CHECK(access->Check(kDrain, caller).value() == "x.example, token ops");
  CHECK(access->IdentityOf(caller) == "x.example");
  // The stronger of the two counts.
  caller = WithCertificate({"cron.example"});
  caller.authorization = {"Bearer " + reader_};
  CHECK(access->Check(kDrain, caller).value() == "cron, token trainer");
  // A token that is not known is a mistake, or somebody's try: no certificate makes up for it.
  caller.authorization = {"Bearer " + MakeToken().value()};
  VICINITY_CHECK_CODE(access->Check(kRows, caller), absl::StatusCode::kUnauthenticated);
}

TEST_CASE_METHOD(AccessTest, "a call counts for its grant, else for what its certificate says",
                 "[access]") {
  const auto access = Load(both_);
  CHECK(access->IdentityOf(WithToken(reader_)) == "trainer");
  CHECK(access->IdentityOf(WithToken(admin_)) == "ops");
  CHECK(access->IdentityOf(WithToken(MakeToken().value())).empty());
  CHECK(access->IdentityOf({}).empty());
  CHECK(access->IdentityOf(WithCertificate({"x.example", "cron.example"})) == "cron");
  CHECK(access->IdentityOf(WithCertificate({"x.example", "y.example"})) == "x.example");
  Caller nameless = WithCertificate({});
  nameless.common_name = "trainer 7";
  CHECK(access->IdentityOf(nameless) == "trainer 7");
  CHECK(access->IdentityOf(WithCertificate({})) == "a certificate without a name");
  nameless.certified = false;  // only claimed
  CHECK(access->IdentityOf(nameless).empty());
}

TEST_CASE_METHOD(AccessTest, "whoever shows nothing that is known is refused", "[access]") {
  const auto access = Load(both_);
  const std::string stranger = MakeToken().value();
  const std::vector<Caller> callers = {{},
                                       WithToken(stranger),
                                       WithToken(""),
                                       {{reader_}, false, {}},
                                       {{"bearer " + reader_}, false, {}},
                                       {{"Bearer  " + reader_}, false, {}},
                                       {{"Bearer " + reader_, "Bearer " + admin_}, false, {}}};
  for (const Caller& caller : callers) {
    for (const char* method : {kRows, kDrain, "/no.such.Service/Method"}) {
      const absl::Status status = access->Check(method, caller).status();
      VICINITY_CHECK_CODE(status, absl::StatusCode::kUnauthenticated);
      CHECK_THAT(std::string(status.message()),
                 !Catch::Contains(stranger) && !Catch::Contains(reader_));
    }
    VICINITY_CHECK_OK(access->Check(kHealth, caller));
  }
}

TEST_CASE("without a file certified callers read, and nobody does more", "[access]") {
  auto loaded = AccessControl::Load("");
  VICINITY_REQUIRE_OK(loaded);
  const AccessControl& access = **loaded;
  CHECK(access.num_grants() == 0);
  VICINITY_CHECK_OK(access.Check(kRows, WithCertificate({"any"})));
  VICINITY_CHECK_CODE(access.Check(kDrain, WithCertificate({"any"})),
                      absl::StatusCode::kPermissionDenied);
  VICINITY_CHECK_CODE(access.Check(kRows, {}), absl::StatusCode::kUnauthenticated);
  VICINITY_CHECK_CODE(access.Check(kRows, WithToken(MakeToken().value())),
                      absl::StatusCode::kUnauthenticated);
}

TEST_CASE_METHOD(AccessTest, "a reload revokes, and a faulty file changes nothing", "[access]") {
  const auto access = Load(both_);
  Write(both_ + "nonsense");
  VICINITY_CHECK_CODE(access->Reload(), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_OK(access->Check(kRows, WithToken(reader_)));
  Write(TokenGrant("ops", "ADMIN", admin_));
  VICINITY_REQUIRE_OK(access->Reload());
  VICINITY_CHECK_CODE(access->Check(kRows, WithToken(reader_)), absl::StatusCode::kUnauthenticated);
  VICINITY_CHECK_OK(access->Check(kRows, WithToken(admin_)));
  // An empty list locks everybody out who has no certificate.
  Write("");
  VICINITY_REQUIRE_OK(access->Reload());
  VICINITY_CHECK_CODE(access->Check(kRows, WithToken(admin_)), absl::StatusCode::kUnauthenticated);
  VICINITY_CHECK_OK(access->Check(kRows, WithCertificate({"any"})));
}

TEST_CASE_METHOD(AccessTest, "a file that others may write is refused", "[access]") {
  Write(both_);
  REQUIRE(chmod(path_.c_str(), 0666) == 0);
  VICINITY_CHECK_CODE(AccessControl::Load(path_), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(AccessControl::Load(folder_.File("none")), absl::StatusCode::kNotFound);
}

TEST_CASE("faults of the file are told with file and grant", "[access]") {
  struct Bad {
    std::string text;
    std::string told;
  };
  const std::string hash(64, 'a');
  const auto bad = GENERATE_COPY(values<Bad>({
      {"grants { nam: 'x' }", "f:1:"},
      {"grants { role: READ token_sha256: '" + hash + "' }", "grant 1 has no name"},
      {"grants { name: 'x' token_sha256: '" + hash + "' }", "grant \"x\" has no role"},
      {"grants { name: 'x' role: READ }", "needs one of"},
      {"grants { name: 'x' role: READ certificate: 'c' token_sha256: '" + hash + "' }",
       "needs one of"},
      {"grants { name: 'x' role: READ token_sha256: '" + hash.substr(1) + "' }", "not 64"},
      {"grants { name: 'x' role: READ token_sha256: '" + hash.substr(1) + "g' }", "not 64"},
      {"grants { name: 'x' role: READ certificate: 'c' }\n"
       "grants { name: 'x' role: ADMIN certificate: 'd' }",
       "grant \"x\" is there twice"},
  }));
  CAPTURE(bad.text);
  const absl::Status status = ParseGrants("f", bad.text).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::StartsWith("f:") && Catch::Contains(bad.told));
}

}  // namespace
}  // namespace vicinity
