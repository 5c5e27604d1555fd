#include "client/cli/commands/operate/metrics_source.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/metrics/metrics_port.h"
#include "proto/cluster/host_port.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(20);

TEST_CASE("a file and a port give what they show", "[why]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("a.prom"), "rows{x=\"1\"} 7\n"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const MetricSamples filed,
                                ReadMetrics(folder.File("a.prom"), kLimit));
  CHECK(SumOf(filed, "rows") == 7);
  const auto port = MetricsPort::Start({"127.0.0.1", 0}, [] { return std::string("rows 8\n"); });
  VICINITY_REQUIRE_OK(port);
  const std::string address = absl::StrCat("http://", (*port)->address().ToString());
  for (const std::string& way : {address, address + "/", address + "/metrics"}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const MetricSamples asked, ReadMetrics(way, kLimit));
    CHECK(SumOf(asked, "rows") == 8);
  }
  VICINITY_CHECK_CODE(ReadMetrics(address + "/other", kLimit).status(),
                      absl::StatusCode::kUnavailable);
}

TEST_CASE("what cannot be read says where it was looked for", "[why]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("page"), "<html>"));
  const absl::Status wrong = ReadMetrics(folder.File("page"), kLimit).status();
  VICINITY_CHECK_CODE(wrong, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(wrong.message()), Catch::Contains("page"));
  VICINITY_CHECK_CODE(ReadMetrics(folder.File("none"), kLimit).status(),
                      absl::StatusCode::kNotFound);
  std::string gone;
  {
    const auto port = MetricsPort::Start({"127.0.0.1", 0}, [] { return std::string(); });
    VICINITY_REQUIRE_OK(port);
    gone = absl::StrCat("http://", (*port)->address().ToString());
  }
  const absl::Status status = ReadMetrics(gone, kLimit).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kUnavailable);
  CHECK_THAT(std::string(status.message()), Catch::Contains(gone));
}

TEST_CASE("addresses are told from files", "[why]") {
  CHECK(IsAddress("http://127.0.0.1:9700"));
  CHECK(IsAddress("https://trainer.example/metrics"));
  CHECK_FALSE(IsAddress("trainer.prom"));
  CHECK_FALSE(IsAddress("/http://x"));
}

}  // namespace
}  // namespace vicinity::cli
