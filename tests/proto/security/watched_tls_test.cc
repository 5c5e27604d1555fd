#include "proto/security/watched_tls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/common/mutex.h"
#include "proto/security/authority.h"
#include "proto/security/certificates.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class WatchedTlsTest {
 protected:
  WatchedTlsTest() {
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("ca.pem"), authority_.certificate()));
    Write(authority_.Issue({}));
  }
  void Write(const testing::IssuedCertificate& issued) const {
    WriteIssued(issued, folder_.path(), "own");
  }
  void Overwrite(const std::string& name, const std::string& text) const {
    testing::WriteSecret(folder_.File(name), text);
  }
  TlsFiles Files() const {
    return {folder_.File("ca.pem"), folder_.File("own.pem"), folder_.File("own.key"), ""};
  }
  // Looks at the files when it is told to; in these tests never by itself.
  std::shared_ptr<WatchedTls> Start(absl::Duration look_every = absl::Hours(1)) {
    WatchedTls::Options options;
    options.files = Files();
    options.look_every = look_every;
    options.report = [this](WatchedTls::Severity severity, const std::string& text) {
      MutexLock lock(&mu_);
      reports_.emplace_back(severity, text);
    };
    auto started = WatchedTls::Start(std::move(options));
    VICINITY_REQUIRE_OK(started);
    return *std::move(started);
  }
  std::vector<std::pair<WatchedTls::Severity, std::string>> TakeReports() {
    MutexLock lock(&mu_);
    return std::exchange(reports_, {});
  }

  const testing::TempDir folder_;
  const testing::CertificateAuthority authority_{"authority"};
  Mutex mu_;
  std::vector<std::pair<WatchedTls::Severity, std::string>> reports_ ABSL_GUARDED_BY(mu_);
};

TEST_CASE_METHOD(WatchedTlsTest,
                 "whatever is wrong with new files, those before stay, and it is told once",
                 "[watched_tls]") {
  const testing::IssuedCertificate good =
      authority_.Issue({"DNS:x", -absl::Hours(1), absl::Hours(500)});
  Write(good);
  const auto tls = Start();
  const absl::Time expires = tls->state().expires;
  const testing::IssuedCertificate next =
      authority_.Issue({"DNS:x", -absl::Hours(1), absl::Hours(600)});
  const testing::CertificateAuthority other("other");
  const testing::IssuedCertificate strange = other.Issue({});
  const testing::IssuedCertificate over =
      authority_.Issue({"DNS:x", -absl::Hours(2), -absl::Hours(1)});
  struct Bad {
    std::string certificate;
    std::string key;
  };
  const auto bad =
      GENERATE_REF(values<Bad>({{"", ""},
                                {"", good.key},
                                {good.certificate, ""},
                                {next.certificate, good.key},
                                {good.certificate, next.key},
                                {next.certificate.substr(0, 400), next.key},
                                {next.certificate, next.key.substr(0, 100)},
                                {"garbage", "garbage"},
                                {authority_.certificate() + next.certificate, next.key},
                                {strange.certificate, strange.key},
                                {over.certificate, over.key}}));
  Overwrite("own.pem", bad.certificate);
  Overwrite("own.key", bad.key);
  CHECK(TakeReports().empty());
  for (int look = 0; look < 2; ++look) CHECK_FALSE(tls->Look().ok());
  CHECK(tls->state().expires == expires);
  CHECK_THAT(tls->state().fault, Catch::Contains("own."));
  const auto told = TakeReports();
  REQUIRE(told.size() == 1);
  CHECK(told[0].first == WatchedTls::Severity::kError);
  CHECK_THAT(told[0].second, Catch::Contains("own.") && Catch::Contains("those before stay"));
  // And when they are good at last, they are taken.
  Write(next);
  VICINITY_CHECK_OK(tls->Look());
  CHECK(tls->state().expires > expires);
  CHECK(tls->state().fault.empty());
}

TEST_CASE_METHOD(WatchedTlsTest, "files that are gone for a while change nothing",
                 "[watched_tls]") {
  const auto tls = Start();
  const std::string kept = ReadFile(folder_.File("ca.pem")).value();
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("ca.pem"), ""));
  VICINITY_CHECK_CODE(tls->Look(), absl::StatusCode::kInvalidArgument);
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("ca.pem"), kept));
  VICINITY_CHECK_OK(tls->Look());
  CHECK(tls->state().fault.empty());
}

TEST_CASE_METHOD(WatchedTlsTest, "an end that is near is told at once, and not with every look",
                 "[watched_tls]") {
  Write(authority_.Issue({"DNS:x", -absl::Hours(1), absl::Hours(13 * 24)}));
  const auto tls = Start();
  auto told = TakeReports();
  REQUIRE(told.size() == 1);
  CHECK(told[0].first == WatchedTls::Severity::kWarning);
  CHECK_THAT(told[0].second, Catch::Contains("own.pem") && Catch::Contains("expires at"));
  VICINITY_CHECK_OK(tls->Look());
  CHECK(TakeReports().empty());
}

TEST_CASE_METHOD(WatchedTlsTest, "it looks by itself", "[watched_tls]") {
  const auto tls = Start(absl::Milliseconds(20));
  const absl::Time before = tls->state().expires;
  Write(authority_.Issue({"DNS:x", -absl::Hours(1), absl::Hours(400)}));
  const absl::Time end = absl::Now() + absl::Seconds(60);
  while (tls->state().expires == before && absl::Now() < end) std::this_thread::yield();
  CHECK(tls->state().expires > before);
}

TEST_CASE_METHOD(WatchedTlsTest, "what is in force is told while files are read that do not come",
                 "[watched_tls]") {
  const auto tls = Start();
  const TlsMaterial before = tls->material();
  const std::string authority = ReadFile(folder_.File("ca.pem")).value();
  Write(authority_.Issue({"DNS:x", -absl::Hours(1), absl::Hours(400)}));
  // A disk that does not answer: who reads waits for who writes.
  const std::string path = folder_.File("ca.pem");
  REQUIRE(std::remove(path.c_str()) == 0);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::future<absl::Status> looks = std::async(std::launch::async, [&] { return tls->Look(); });
  int fd = -1;
  const absl::Time end = absl::Now() + absl::Seconds(60);
  while (fd < 0 && absl::Now() < end) {
    fd = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);  // once it is being read
  }
  REQUIRE(fd >= 0);
  std::future<std::pair<TlsMaterial, TlsState>> told =
      std::async(std::launch::async, [&] { return std::pair(tls->material(), tls->state()); });
  const bool is_told = told.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  const bool is_read = looks.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  CHECK(write(fd, authority.data(), authority.size()) == static_cast<ssize_t>(authority.size()));
  close(fd);
  VICINITY_CHECK_OK(looks.get());
  CHECK(is_told);
  CHECK_FALSE(is_read);
  const auto [material, state] = told.get();
  CHECK((material == before));
  CHECK(state.expires == before.expires);
  CHECK(tls->material().expires > before.expires);
}

TEST_CASE("a list of the revoked is taken while it runs, and no bad one is", "[watched_tls]") {
  const testing::TempDir folder;
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority own, Authority::Make("own", absl::Hours(1000)));
  const Authority::Wish server{"localhost", TlsEnd::kServer, {"localhost"}, absl::Hours(900)};
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority::Issued pair, own.Issue(server));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Authority::Issued trainer,
                                own.Issue({"trainer", TlsEnd::kClient, {}, absl::Hours(1)}));
  testing::WriteSecret(folder.File("own.pem"), pair.key + pair.certificate);
  testing::WriteSecret(folder.File("ca.pem"), own.certificate());
  testing::WriteSecret(folder.File("revoked.pem"), own.List({}).value());
  WatchedTls::Options options;
  options.files = {folder.File("ca.pem"), folder.File("own.pem"), "", folder.File("revoked.pem")};
  options.look_every = absl::Hours(1);
  options.report = [](WatchedTls::Severity, const std::string&) {};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tls, WatchedTls::Start(options));
  CHECK_FALSE(tls->IsRevoked(trainer.certificate));
  testing::WriteSecret(folder.File("revoked.pem"),
                       own.List({{trainer.serial, absl::Now()}}).value());
  VICINITY_CHECK_OK(tls->Look());
  CHECK(tls->IsRevoked(trainer.certificate));
  CHECK_FALSE(tls->IsRevoked(pair.certificate));
  CHECK(tls->state().num_revoked == 1);
  testing::WriteSecret(folder.File("revoked.pem"), "");
  CHECK_FALSE(tls->Look().ok());
  CHECK(tls->IsRevoked(trainer.certificate));
}

}  // namespace
}  // namespace vicinity
