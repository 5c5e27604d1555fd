#include "client/cli/commands/certificate_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/security/certificates.h"
#include "proto/security/revocations.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class CertificateCommandTest {
 protected:
  Answer Run(std::vector<std::string> args) const {
    args.insert(args.end(), {"--folder", folder_});
    return RunCommand(kCertificateCommand, args);
  }
  void RunWell(const std::vector<std::string>& args) const {
    const Answer answer = Run(args);
    INFO(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
  }
  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  nlohmann::json Listed() const {
    return nlohmann::json::parse(Run({"list", "--format=json"}).out);
  }

  const testing::TempDir temporary_;
  const std::string folder_ = temporary_.File("c");
};

TEST_CASE_METHOD(CertificateCommandTest, "three commands make all that mutual TLS needs", "[cli]") {
  RunWell({"ca"});
  RunWell({"server", "localhost"});
  RunWell({"client", "trainer-0", "trainer-1", "--days", "3"});
  VICINITY_CHECK_OK(ReadTlsFiles({File("ca.pem"), File("localhost.pem"), "", File("revoked.pem")},
                                 TlsEnd::kServer));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const TlsMaterial client,
      ReadTlsFiles({File("ca.pem"), File("trainer-1.pem"), "", ""}, TlsEnd::kClient));
  CHECK(client.vouched_for);
  CHECK(client.expires < absl::Now() + absl::Hours(73));
  const nlohmann::json listed = Listed();
  REQUIRE(listed["certificates"].size() == 3);
  CHECK(listed["certificates"][0]["addresses"].size() == 3);
  CHECK(listed["certificates"][1]["kind"] == "client");
  CHECK(listed["certificates"][1]["state"] == "good");
  CHECK_THAT(Run({"list"}).out, Catch::Contains("trainer-0") && Catch::Contains("The CA is good"));
}

TEST_CASE_METHOD(CertificateCommandTest, "renewed and revoked certificates are listed as such",
                 "[cli]") {
  RunWell({"ca"});
  RunWell({"client", "kept", "gone"});
  const std::string gone = ReadFile(File("gone.pem")).value();
  RunWell({"revoke", "gone"});
  RunWell({"renew", "--all"});
  const nlohmann::json listed = Listed()["certificates"];
  REQUIRE(listed.size() == 3);
  CHECK(listed[0]["state"] == "replaced");
  CHECK(listed[1]["state"] == "revoked");
  CHECK(listed[2]["state"] == "good");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto revoked,
                                Revocations::Parse("revoked", ReadFile(File("revoked.pem")).value(),
                                                   ReadFile(File("ca.pem")).value()));
  CHECK(revoked->size() == 1);
  CHECK(revoked->Contain(gone));
  CHECK_FALSE(revoked->Contain(ReadFile(File("kept.pem")).value()));
  CHECK(Run({"renew", "gone"}).code == ExitCode::kPrecondition);
}

TEST_CASE_METHOD(CertificateCommandTest, "the servers of a cluster file get theirs at once",
                 "[cli]") {
  RunWell({"ca"});
  const std::string cluster = temporary_.File("cluster.textproto");
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      cluster,
      "data: 'g' num_shards: 2 servers { name: 'a' listen: '0.0.0.0:1' advertise: 'a.example:1' "
      "shards: 0 } servers { name: 'b' listen: '10.0.0.2:1' shards: 1 }"));
  RunWell({"server", "--cluster", cluster});
  const nlohmann::json listed = Listed()["certificates"];
  REQUIRE(listed.size() == 2);
  CHECK(listed[0]["addresses"] == std::vector<std::string>{"a.example"});
  CHECK(listed[1]["name"] == "b");
  CHECK(listed[1]["addresses"] == std::vector<std::string>{"10.0.0.2"});
}

TEST_CASE_METHOD(CertificateCommandTest, "misuse is told, and nothing is written", "[cli]") {
  CHECK(Run({"client", "t"}).code == ExitCode::kNotFound);
  CHECK_THAT(Run({"client", "t"}).narration, Catch::Contains("No such"));
  RunWell({"ca"});
  CHECK(Run({"ca"}).code == ExitCode::kPrecondition);
  CHECK(Run({}).code == ExitCode::kUsage);
  CHECK(Run({"client"}).code == ExitCode::kUsage);
  CHECK(Run({"server"}).code == ExitCode::kUsage);
  CHECK(Run({"client", "a b"}).code == ExitCode::kUsage);
  CHECK(Run({"client", "t", "--days", "0"}).code == ExitCode::kUsage);
  CHECK(Run({"server", "a", "b", "--address", "h"}).code == ExitCode::kUsage);
  CHECK(Run({"renew"}).code == ExitCode::kUsage);
  CHECK(Run({"renew", "t", "--all"}).code == ExitCode::kUsage);
  CHECK(Run({"revoke", "t"}).code == ExitCode::kNotFound);
  CHECK(Listed()["certificates"].empty());
}

}  // namespace
}  // namespace vicinity::cli
